/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_OPENMP_ROWS_H
#define SIGHT_METRICS_OPENMP_ROWS_H

#include "metrics/accumulator_state.h"

/* What the threads of a process do in OpenMP's parallel regions, from their sums by state. */

/* A region is short if a thread is in it for less, on average: starting and joining a team takes a runtime several
   microseconds, a fifth of that or more. */
enum { OPENMP_SHORT_NS = 20000 };

/* Fills in the OpenMP part of the rows of a process's threads. */
void openmp_rows_fill(const struct defs *defs, const struct process_state *process, const struct process_row *span,
                      struct process_row *row);

#endif
