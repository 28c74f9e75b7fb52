/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_WINDOW_EDGES_H
#define SIGHT_GRAPH_WINDOW_EDGES_H

#include "graph/graph.h"

/* Edges between calls: one waits for an event in the other. Sorted once, when the graph is finished, and found by
   either call. */

/* Adds an edge; none within a process. */
void window_edge_add(struct graph *graph, struct window_edge edge);

/* No more edges come: sorts them. */
void window_edges_end(struct graph *graph);

/* Index of the first edge of the waiting call, followed by the others; the count if there is none. */
size_t window_edges_of(const struct graph *graph, uint32_t location, uint32_t call);

/* The same for the call waited for: a place in graph->edges_by_cause. */
size_t window_edges_by(const struct graph *graph, uint32_t location, uint32_t call);

/* When the event happened that the edge waits for. */
static inline int64_t window_edge_until_ns(const struct graph *graph, const struct window_edge *edge)
{
    struct call cause = graph_call(graph, edge->cause_location, edge->cause_call);
    return edge->after ? cause.leave_ns : cause.enter_ns;
}

#endif
