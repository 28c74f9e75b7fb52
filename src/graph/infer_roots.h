/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_INFER_ROOTS_H
#define SIGHT_GRAPH_INFER_ROOTS_H

#include "graph/graph.h"

/* Roots of collectives that the trace does not name (MPE's never does), from the times of the calls. A function on a
   communicator is taken to have the same root each time. In a broadcast nobody is done before the root has come; in a
   reduction the root is not done before all have come. Whichever process contradicts that is not the root, and the only
   one who never does is it. Of a broadcast, if several are left, it is the process that always comes last, where nobody
   is done before that. Otherwise the root stays unknown.

   Sets the roots of the graph's instances, which are finished but for that. Time: that of the calls, where roots are
   missing. */
void infer_roots(struct graph *graph);

#endif
