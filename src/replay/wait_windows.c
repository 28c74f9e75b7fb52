/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/wait_windows.h"

#include "replay/graph_windows.h"

static struct wait wait_for_edge(const struct graph *graph, const struct call *call, const struct window_edge *edge)
{
    int64_t until_ns = window_edge_until_ns(graph, edge);
    int64_t from_ns = edge->from_ns > call->enter_ns ? edge->from_ns : call->enter_ns;
    int64_t ns = time_since(from_ns, until_ns < call->leave_ns ? until_ns : call->leave_ns);
    if (ns <= 0)
        return (struct wait){0};
    return (struct wait){.kind = (enum wait_kind)edge->kind,
                         .ns = ns,
                         .until_ns = until_ns,
                         .cause_lane = edge->cause_lane,
                         .cause_call = edge->cause_call,
                         .comm = call->comm,
                         .after = edge->after};
}

struct wait wait_in_window(const struct graph *graph, uint32_t lane, uint32_t index, const struct call *call)
{
    struct wait longest = {0};
    for (size_t i = window_edges_of(graph, lane, index); i < graph->edge_count; i++) {
        const struct window_edge *edge = &graph->edges[i];
        if (edge->lane != lane || edge->call != index)
            break;
        struct wait wait = wait_for_edge(graph, call, edge);
        if (wait.ns > longest.ns)
            longest = wait;
    }
    return longest;
}
