/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_STUCK_H
#define SIGHT_STUCK_STUCK_H

#include "core/past.h"
#include "core/sink.h"
#include "metrics/hang.h"

/* Why an unfinished run does not continue: what every process waits for at the end of its trace, and what can never
   happen. Waiting is AND-OR: a call may wait for all of several processes (a collective, MPI_Waitall) or for any of
   them (MPI_ANY_SOURCE, MPI_Waitany). A process is stuck if no running process can lead to what it waits for. Anything
   that the trace does not record may still happen: nothing is claimed about it. */

/* Collects the data from the events. Costs next to nothing in runs that finished. */
struct stuck_builder;
struct stuck_builder *stuck_builder_new(void);
struct sink *stuck_builder_sink(struct stuck_builder *builder); /* owned by the builder */

/* Takes the past of a run when the sink gets only the last events: after the sink's begin, before its first
   event. Owned by the builder. */
const struct past_sink *stuck_builder_past(struct stuck_builder *builder);

/* After the sink's end: the verdict. Frees the builder. */
struct stuck *stuck_builder_end(struct stuck_builder *builder);

/* Below this time without progress nothing hangs: messages may be in transit, or buffers about to be emptied. */
#define STUCK_QUIET_NS INT64_C(100000000)

/* The verdict on a run that was read from its begin, taken over where nothing has happened since then: `now` was
   read without the past that the verdict needs. False: it has to be judged again. */
bool stuck_still(struct stuck *now, const struct stuck *before);

#endif
