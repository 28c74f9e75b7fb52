/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/wait_windows.h"

#include "core/numbers.h"
#include "graph/window_edges.h"

static struct wait wait_for_edge(const struct graph *graph, const struct call *call, const struct window_edge *edge)
{
    int64_t until_ns = window_edge_until_ns(graph, edge);
    /* A lock may be held only from some time after the call was entered: before that, the call did not wait for it. */
    int64_t from_ns = larger(edge->from_ns, call->enter_ns);
    int64_t ns = time_since(from_ns, smaller(until_ns, call->leave_ns));
    if (ns <= 0)
        return (struct wait){0};
    return (struct wait){.kind = (enum wait_kind)edge->kind,
                         .ns = ns,
                         .until_ns = until_ns,
                         .cause_location = edge->cause_location,
                         .cause_call = edge->cause_call,
                         .comm = call->comm,
                         .after = edge->after};
}

/* The longest of the waits in the call, except those of one kind. */
static struct wait longest_wait(const struct graph *graph, uint32_t location, uint32_t index, const struct call *call,
                                enum wait_kind but)
{
    struct wait longest = {0};
    /* Edges are sorted by the waiting call: those of this one are in a row. */
    for (size_t i = window_edges_of(graph, location, index); i < graph->edge_count; i++) {
        const struct window_edge *edge = &graph->edges[i];
        if (edge->location != location || edge->call != index)
            break;
        struct wait wait = wait_for_edge(graph, call, edge);
        if (wait.ns > longest.ns && wait.kind != but)
            longest = wait;
    }
    return longest;
}

/* MPI_Win_wait waits for MPI_Win_complete of each origin; if it also waited for the origins' last accesses, it came too
   early: Scalasca's early wait, of which the part after those accesses is its late complete (wait_parts). */
struct wait wait_in_window(const struct graph *graph, uint32_t location, uint32_t index, const struct call *call)
{
    struct wait wait = longest_wait(graph, location, index, call, WAIT_EARLY_WAIT);
    if (wait.kind == WAIT_LATE_COMPLETE && longest_wait(graph, location, index, call, WAIT_LATE_COMPLETE).ns > 0)
        wait.kind = WAIT_EARLY_WAIT;
    return wait;
}

struct wait_parts wait_parts(const struct graph *graph, uint32_t location, uint32_t index, const struct wait *wait)
{
    struct wait_parts parts = {.part = {*wait}, .count = 1};
    if (wait->kind != WAIT_EARLY_WAIT)
        return parts;
    struct call call = graph_call(graph, location, index);
    struct wait early = longest_wait(graph, location, index, &call, WAIT_LATE_COMPLETE);
    /* All of it was too early: one part. */
    if (early.ns >= wait->ns)
        return parts;
    parts.part[0] = early;
    parts.part[1] = *wait;
    /* The rest, after the origins' last accesses: they completed later than they could. */
    parts.part[1].kind = WAIT_LATE_COMPLETE;
    parts.part[1].ns -= early.ns;
    parts.count = 2;
    return parts;
}
