/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_LATE_PROGRESS_H
#define SIGHT_GRAPH_LATE_PROGRESS_H

#include "graph/graph.h"

/* Non-blocking collectives whose members do their part only while they are in MPI. Many MPIs make no progress outside
   their calls: others then wait for the last member to enter the call that completes the collective, though all have
   started it long before. Those with a root have trees of processes that pass data on, any of which may be late: the
   root of MPI_Ibcast has often sent its data before, and those wait that are below a late one. Who is waited for
   depends on the MPI's algorithm. No trace records that. A wait ends with the last member if that computes meanwhile,
   and what is left of the wait after it has come is a quarter of that at most. It is concluded that these waits are for
   it if, among those of one function on one communicator,

   - PROGRESS_LEAST collectives have some,
   - they are a quarter of the waiting or more,
   - and as short a time before the last member comes hardly any waits end: by chance as many would.

   Adds an edge to the graph for each: until the completing call of the last member is entered. The edges must still be
   sorted (window_edges_end). Time: linear in the operations. */
enum { PROGRESS_LEAST = 3 };

void late_progress_find(struct graph *graph);

#endif
