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

uint32_t graph_first_left(const struct graph *graph, uint32_t location, int64_t time_ns)
{
    uint32_t low = 0, high = (uint32_t)graph->locations[location].count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (graph_call(graph, location, middle).leave_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct post graph_post(const struct graph *graph, uint32_t index, const struct message *message)
{
    uint32_t post = 0;
    if (index < graph->link_count)
        post = graph->links[index].post;
    if (post == LINK_FAR) {
        const uint64_t *place = map_find(&graph->far_posts, index);
        return (struct post){(uint32_t)(*place >> 32), (uint32_t)*place};
    }
    if (post)
        return (struct post){message->receive_location, post - 1};
    /* A blocking receive posts and completes; a wait without a known post was posted somewhere before. */
    struct call receive = graph_call(graph, message->receive_location, message->receive_call);
    if (graph_state(graph, &receive)->class == CLASS_P2P)
        return (struct post){message->receive_location, message->receive_call};
    return (struct post){GRAPH_NONE, GRAPH_NONE};
}
