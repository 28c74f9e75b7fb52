/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_FINISH_H
#define SIGHT_GRAPH_GRAPH_FINISH_H

#include "graph/graph.h"

/* Completes a graph after its last call and message: which member of each collective arrived last and left first, which
   collectives are complete, which late messages are received in the wrong order, and the waits of all calls; the last
   two by locations, in up to so many threads. */
void graph_finish(struct graph *graph, unsigned threads);

#endif
