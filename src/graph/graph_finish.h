/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_FINISH_H
#define SIGHT_GRAPH_GRAPH_FINISH_H

#include "graph/graph.h"

/* Completes a graph after its last call and message: which member of each collective arrived last and left first, which
   collectives are complete, and which late messages are received in the wrong order. */
void graph_finish(struct graph *graph);

#endif
