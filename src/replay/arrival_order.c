/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/arrival_order.h"

#include "core/memory.h"
#include "graph/wait_table.h"

/* Receives of a location that could be in another order. */
struct group {
    struct arrival {
        int64_t sent_ns;
        uint32_t message;
    } * arrivals;
    size_t count, capacity;
    bool wrong; /* one of them waited in the wrong order: those before it are not in the group */
};

static int by_arrival(const void *a, const void *b)
{
    const struct arrival *left = a, *right = b;
    int order = (left->sent_ns > right->sent_ns) - (left->sent_ns < right->sent_ns);
    return order ? order : (left->message > right->message) - (left->message < right->message);
}

/* The k-th receive gets the k-th that was sent. */
static void end_group(struct group *group, uint32_t *instead)
{
    uint32_t *receives = memory_new(group->count * sizeof *receives);
    for (size_t i = 0; i < group->count; i++)
        receives[i] = group->arrivals[i].message;
    if (group->count > 1)
        qsort(group->arrivals, group->count, sizeof *group->arrivals, by_arrival);
    for (size_t i = 0; i < group->count; i++)
        instead[receives[i]] = group->arrivals[i].message;
    free(receives);
    group->count = 0;
    group->wrong = false;
}

/* The only message of a call that does nothing but receive it; GRAPH_NONE: it does something else. */
static uint32_t only_message(const struct graph *graph, const struct call *call)
{
    bool single = call->received && !call->sent && !call->completed && !call->operates && !call->instance &&
                  !graph_next_received(graph, call->received - 1);
    if (!single)
        return GRAPH_NONE;
    struct message message = graph_message(graph, call->received - 1);
    return message.send_location == GRAPH_NONE ? GRAPH_NONE : call->received - 1;
}

/* Work between receives, and looks that find nothing, leave the receives exchangeable. */
static bool ends_group(const struct call *call)
{
    return call->received || call->sent || call->completed || call->operates || call->instance;
}

static void order_location(const struct graph *graph, uint32_t location, struct group *group, uint32_t *instead)
{
    for (uint32_t i = 0; i < graph->locations[location].count; i++) {
        struct call call = graph_call(graph, location, i);
        uint32_t message = only_message(graph, &call);
        if (message == GRAPH_NONE) {
            if (ends_group(&call))
                end_group(group, instead);
            continue;
        }
        int kind = wait_kind_in(graph, location, i);
        group->wrong |= kind == WAIT_WRONG_ORDER_SAME || kind == WAIT_WRONG_ORDER_OTHER;
        if (!group->wrong)
            continue;
        struct message m = graph_message(graph, message);
        int64_t sent_ns = graph_call(graph, m.send_location, m.send_call).enter_ns;
        ARRAY_PUSH(group->arrivals, group->count, group->capacity, (struct arrival){sent_ns, message});
    }
    end_group(group, instead);
}

uint32_t *arrival_order_of(const struct graph *graph)
{
    uint32_t *instead = memory_new((size_t)graph->message_count * sizeof *instead);
    struct group group = {0};
    for (uint32_t i = 0; i < graph->message_count; i++)
        instead[i] = i;
    for (uint32_t location = 0; location < graph->location_count; location++)
        order_location(graph, location, &group, instead);
    free(group.arrivals);
    return instead;
}
