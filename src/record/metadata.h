/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_METADATA_H
#define SIGHT_RECORD_METADATA_H

#include "record/location.h"
#include "record/mpi_api.h"

/* Records facts about the run: some hundred bytes, written once, after MPI_Init. Each process records its command line;
   process 0 also when it began, in which directory, with which MPI and settings. Nothing of the environment is recorded
   but the recorder's own settings. SIGHT_RECORD_METADATA=0 switches it off. */
void metadata_put(struct location *location);

/* Records that the program switched recording off: the trace is not all that it did. */
void metadata_put_pause(struct location *location);

/* Records that this process receives or probes with MPI_ANY_SOURCE or MPI_ANY_TAG: once each. */
enum { METADATA_ANY_SOURCE = 1, METADATA_ANY_TAG = 2 };
extern int metadata_any_noted;
void metadata_put_any(struct location *location, int any);
static inline void metadata_note_any(struct location *location, int source, int tag)
{
    int any = (source == MPI_ANY_SOURCE ? METADATA_ANY_SOURCE : 0) | (tag == MPI_ANY_TAG ? METADATA_ANY_TAG : 0);
    if (__builtin_expect(any & ~__atomic_load_n(&metadata_any_noted, __ATOMIC_RELAXED), 0))
        metadata_put_any(location, any);
}

#endif
