/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_FACTS_H
#define SIGHT_RENDER_FACTS_H

#include "metrics/metrics.h"

/* The begin of every report of a run. */

/* "8 processes, 180 ms, 1,490 events, complete", or "incomplete", "ended by MPI_Abort", "2 without MPI_Finalize" */
enum { FACTS_SIZE = 160 };
char *facts_text(char line[FACTS_SIZE], const struct metrics *metrics);

/* Of what all numbers are, if the trace is a sample of its run; else "". */
enum { SAMPLE_SENTENCE_SIZE = 1000 };
char *sample_sentence(char buffer[SAMPLE_SENTENCE_SIZE], const struct defs *defs);

#endif
