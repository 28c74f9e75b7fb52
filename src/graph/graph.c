/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph.h"

#include "core/numbers.h"

int64_t graph_begin_ns(const struct graph *graph)
{
    int64_t begin_ns = INT64_MAX;
    if (graph->location_count == 0)
        return 0;
    for (size_t i = 0; i < graph->location_count; i++)
        begin_ns = smaller(begin_ns, graph->locations[i].begin_ns);
    return begin_ns;
}

int64_t graph_duration_ns(const struct graph *graph)
{
    int64_t end_ns = INT64_MIN;
    if (graph->location_count == 0)
        return 0;
    for (size_t i = 0; i < graph->location_count; i++)
        end_ns = larger(end_ns, graph->locations[i].end_ns);
    /* Not end - begin: the times of a damaged trace can be so far apart that this overflows. */
    return time_since(graph_begin_ns(graph), end_ns);
}
