/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_LATE_PROGRESS_H
#define SIGHT_GRAPH_LATE_PROGRESS_H

#include "graph/graph.h"

/* Non-blocking collectives whose members do their part only while they are in MPI. Many MPIs make no progress outside
   their calls: others then wait for the last member to enter the call that completes the collective, though all have
   started it long before. A collective with a root passes data along a tree of processes, any of which can be late:
   MPI_Ibcast's root may have sent its data long ago, and the processes below a late one still wait. Which processes
   these are depends on the MPI's algorithm, and no trace records it. A wait ends with the last member if that process
   computes meanwhile, and at most a quarter of the wait is left once it has come. The waits count as waiting for it if,
   among the collectives of one function on one communicator,

   - PROGRESS_LEAST collectives have some,
   - they are a quarter of the waiting or more,
   - and as short a time before the last member comes hardly any waits end: by chance as many would.

   Adds an edge to the graph for each: until the completing call of the last member is entered. The edges must still be
   sorted (window_edges_end). Time: linear in the operations. */
enum { PROGRESS_LEAST = 3 };

void late_progress_find(struct graph *graph);

#endif
