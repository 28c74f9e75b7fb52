/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_INFER_ROOTS_H
#define SIGHT_GRAPH_INFER_ROOTS_H

#include "graph/graph.h"

/* Roots of collectives that the trace does not name (MPE's never does), from the times of the calls. A function on a
   communicator is taken to have the same root each time. In a broadcast no process finishes before the root has
   arrived; in a reduction the root does not finish before all have arrived. A process that contradicts this is not the
   root, and the only one that never does is the root. If several are left in a broadcast, the root is the process that
   always arrives last, if no other finishes before it. Otherwise the root stays unknown.

   Sets the roots of the graph's instances, which are otherwise finished. Time: linear in the calls if roots are
   missing. */
void infer_roots(struct graph *graph);

/* Whether roots that the trace does name, without a communicator, are taken to be ranks in the world: the trace has no
   communicators, nor calls that could make one with the processes in another order. Only collectives of all processes
   count then (graph_finish.c). infer_roots() forgets such roots again if the times of any call contradict. */
bool infer_ranks_of_world(const struct defs *defs);

#endif
