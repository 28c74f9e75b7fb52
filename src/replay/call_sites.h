/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_CALL_SITES_H
#define SIGHT_REPLAY_CALL_SITES_H

#include "graph/graph.h"
#include "metrics/analysis.h"

/* Fills call_sites: calls of MPI functions by the place in the source that they come from, over all processes, those
   with most time first. Calls whose place is not recorded are a row of their function. Time: one pass over all calls.
   Waits are those of graph/wait.h, for other processes. */
void call_sites_take(struct analysis *analysis, const struct graph *graph);

/* What a call sends, and what its collective moves. */
uint64_t call_site_bytes(const struct graph *graph, const struct call *call);

#endif
