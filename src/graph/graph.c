/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph.h"

int64_t graph_begin_ns(const struct graph *graph)
{
    int64_t begin_ns = INT64_MAX;
    for (size_t i = 0; i < graph->location_count; i++)
        begin_ns = graph->locations[i].begin_ns < begin_ns ? graph->locations[i].begin_ns : begin_ns;
    return graph->location_count ? begin_ns : 0;
}

int64_t graph_duration_ns(const struct graph *graph)
{
    int64_t end_ns = INT64_MIN;
    for (size_t i = 0; i < graph->location_count; i++)
        end_ns = graph->locations[i].end_ns > end_ns ? graph->locations[i].end_ns : end_ns;
    return graph->location_count ? time_since(graph_begin_ns(graph), end_ns) : 0;
}
