/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_METADATA_H
#define SIGHT_RECORD_METADATA_H

#include "record/location.h"

/* Records facts about the run: some hundred bytes, written once, after MPI_Init. Each process records its command line;
   process 0 also when it began, in which directory, with which MPI and settings. Nothing of the environment is recorded
   but the recorder's own settings. SIGHT_RECORD_METADATA=0 switches it off. */
void metadata_put(struct location *location);

/* Records that the program switched recording off: the trace is not all that it did. */
void metadata_put_pause(struct location *location);

#endif
