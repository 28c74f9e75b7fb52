/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLOCKS_CAUSAL_CALLS_H
#define SIGHT_CLOCKS_CAUSAL_CALLS_H

#include "clocks/causality.h"

/* Which calls of collectives and of one-sided communication wait for which, as points and gates of a causality. Only
   what MPI guarantees regardless of the clocks:

   - all to all (MPI_Barrier, MPI_Allreduce, ...): every leave waits for every enter; one to all: for the root's; all to
     one: the root's for all. No process waits for one that sends nothing, and one that receives nothing does not wait.
   - prefix reductions: for those of lower ranks. Neighbourhoods: for the sources in the topology.
   - inter-communicators: the same for the other group.
   - functions with counts of their own for each process (MPI_Allgatherv, MPI_Scatterv, ...) if the trace shows what
   each sends and receives. For MPI_Alltoallv and MPI_Alltoallw these are totals, not amounts per pair: one process
   waits for another only if it receives more than all the others send, or the other sends more than all the others
   receive.
   - non-blocking and persistent collectives: the call that completes it waits for those that post or start it.
   - MPI_Win_wait for MPI_Win_complete of each origin.

   Not used: MPI_Init, MPI_Finalize, calls on files and those that create windows, which may return before others
   arrive; MPI_Win_start and MPI_Win_complete, which need not wait for the post; MPI_Win_fence, which need not wait at
   the begin of an epoch, which no trace shows; and locks, as only the clocks show which process had one first. */

struct causal_calls *causal_calls_new(void);
enum status causal_calls_begin(struct causal_calls *calls, const struct defs *defs, struct error *err);

/* Takes an event of the program, the timeline of its process, and the number of that process's events before it; at the
   end of each batch, the events of interest are processed. */
void causal_calls_take(struct causal_calls *calls, const struct event *event, uint32_t timeline, uint32_t ordinal);
void causal_calls_note(struct causal_calls *calls, const struct event *event);
enum status causal_calls_flush(struct causal_calls *calls, const struct batch *batch, struct error *err);

/* Adds points and gates to the causality, and their events to its timelines. Frees the calls. */
void causal_calls_end(struct causal_calls *calls, struct causality *causality);

#endif
