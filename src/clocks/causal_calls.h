/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLOCKS_CAUSAL_CALLS_H
#define SIGHT_CLOCKS_CAUSAL_CALLS_H

#include "clocks/causality.h"

/* Which calls of collectives and of one-sided communication wait for which, as points and gates of a causality. Only
   what MPI promises whatever the clocks say:

   - all to all (MPI_Barrier, MPI_Allreduce, ...): every leave waits for every enter; one to all: for the root's; all to
     one: the root's for all. Who is told to give nothing is not waited for, who gets nothing does not wait.
   - prefix reductions: for those of lower ranks. Neighbourhoods: for the sources in the topology.
   - inter-communicators: the same for the other group.
   - functions with counts of their own for each process (MPI_Allgatherv, MPI_Scatterv, ...) where the trace shows what
     each gives and gets. Of MPI_Alltoallv and MPI_Alltoallw that are totals, not which process gives to which: one
   waits for another only where it gets more than all the others give, or the other gives more than all the others get.
   - non-blocking and persistent collectives: the call that completes it waits for those that post or start it.
   - MPI_Win_wait for MPI_Win_complete of each origin.

   Not taken: MPI_Init, MPI_Finalize, calls on files and those that make windows, which may return before others come;
   MPI_Win_start and MPI_Win_complete, which need not wait for the post; MPI_Win_fence, which need not wait at the begin
   of an epoch, and no trace shows where that is; and locks, as only the clocks tell who had one first. */

struct causal_calls *causal_calls_new(void);
enum status causal_calls_begin(struct causal_calls *calls, const struct defs *defs, struct error *err);

/* An event of the program, the timeline of its process, and how many events of that stand before it; then, at the end
   of each batch, those that were of interest are read. Events that do not count are noted. */
void causal_calls_take(struct causal_calls *calls, const struct event *event, uint32_t timeline, uint32_t ordinal);
void causal_calls_note(struct causal_calls *calls, const struct event *event);
enum status causal_calls_flush(struct causal_calls *calls, const struct batch *batch, struct error *err);

/* Adds points and gates to the causality, and their events to its timelines. Frees the calls. */
void causal_calls_end(struct causal_calls *calls, struct causality *causality);

#endif
