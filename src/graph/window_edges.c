/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/window_edges.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <stdlib.h>

void window_edge_add(struct graph *graph, struct window_edge edge)
{
    /* Inside a process there is no other clock and no other process to wait for. */
    if (graph->locations[edge.location].process == graph->locations[edge.cause_location].process)
        return;
    /* The mark makes wait_compute() look for edges only in calls that have some. */
    location_packed(&graph->locations[edge.location], edge.call)->word |= CALL_OPERATES;
    location_packed(&graph->locations[edge.cause_location], edge.cause_call)->word |= CALL_OPERATES;
    ARRAY_PUSH(graph->edges, graph->edge_count, graph->edge_capacity, edge);
}

static int compare_calls(uint32_t left_location, uint32_t left_call, uint32_t right_location, uint32_t right_call)
{
    int order = order_by(left_location, right_location);
    return order ? order : order_by(left_call, right_call);
}

static int by_call(const void *a, const void *b)
{
    const struct window_edge *left = a, *right = b;
    int order = compare_calls(left->location, left->call, right->location, right->call);
    if (order == 0)
        order = compare_calls(left->cause_location, left->cause_call, right->cause_location, right->cause_call);
    return order;
}

static int by_cause(const void *a, const void *b, void *context)
{
    const struct window_edge *edges = context;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct window_edge *left = &edges[i], *right = &edges[k];
    int order = compare_calls(left->cause_location, left->cause_call, right->cause_location, right->cause_call);
    return order ? order : order_by(i, k);
}

void window_edges_end(struct graph *graph)
{
    if (graph->edge_count == 0)
        return;
    qsort(graph->edges, graph->edge_count, sizeof *graph->edges, by_call);
    graph->edges_by_cause = memory_new(graph->edge_count * sizeof *graph->edges_by_cause);
    for (uint32_t i = 0; i < graph->edge_count; i++)
        graph->edges_by_cause[i] = i;
    qsort_r(graph->edges_by_cause, graph->edge_count, sizeof *graph->edges_by_cause, by_cause, graph->edges);
}

size_t window_edges_of(const struct graph *graph, uint32_t location, uint32_t call)
{
    size_t low = 0, high = graph->edge_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_calls(graph->edges[middle].location, graph->edges[middle].call, location, call) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t window_edges_by(const struct graph *graph, uint32_t location, uint32_t call)
{
    size_t low = 0, high = graph->edge_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct window_edge *edge = &graph->edges[graph->edges_by_cause[middle]];
        if (compare_calls(edge->cause_location, edge->cause_call, location, call) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
