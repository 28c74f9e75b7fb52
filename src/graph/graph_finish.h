/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_FINISH_H
#define SIGHT_GRAPH_GRAPH_FINISH_H

#include "graph/graph.h"

/* What is known of a graph when all of its calls and messages are: who of a collective came last and left first, which
   collectives are complete, and which late messages are waited for out of turn. */
void graph_finish(struct graph *graph);

#endif
