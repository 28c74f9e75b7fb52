/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/clock_lead.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <stdlib.h>

/* True if no process leaves the call's collective before all have entered it. */
static bool synchronises(const struct graph *graph, const struct call *call)
{
    const struct instance *instance = graph_instance(graph, call);
    struct collective collective = graph_collective(graph, call);
    return instance->complete && collective.stage == STAGE_BLOCKING && collective.shape == SHAPE_ALL_TO_ALL &&
           !graph->streams[instance->stream].two_groups &&
           (collective.wait == WAIT_AT_BARRIER || collective.wait == WAIT_AT_NXN);
}

/* Collectives that the location enters -> its call. */
static struct map enters_of(const struct graph *graph, uint32_t location)
{
    struct map enters = {0};
    for (uint32_t i = 0; i < graph->locations[location].count; i++) {
        struct call call = graph_call(graph, location, i);
        if (call.instance && !call.gives_nothing && synchronises(graph, &call))
            map_put(&enters, call.instance, i);
    }
    return enters;
}

/* What collectives and messages in one half of the run show. */
struct half {
    int64_t most_ns;   /* from the enter of one to the leave of the other, or to the arrival, the least of all */
    int64_t *apart_ns; /* by how much the other leaves later; owned */
    size_t count, capacity;
};

static int by_number(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    return order_by(*left, *right);
}

static int64_t half_lead_ns(struct half *half)
{
    int64_t lead_ns = half->most_ns;
    if (half->count > 0) {
        qsort(half->apart_ns, half->count, sizeof *half->apart_ns, by_number);
        lead_ns = smaller(lead_ns, half->apart_ns[half->count / 2]);
    }
    free(half->apart_ns);
    return lead_ns;
}

static void take_messages(const struct graph *graph, uint32_t from, uint32_t to, int64_t middle_ns, struct half *halves)
{
    bool *on_way = memory_new(graph->channel_count * sizeof *on_way);
    for (size_t i = 0; i < graph->channel_count; i++)
        on_way[i] = graph->channels[i].send_location == from && graph->channels[i].receive_location == to;
    for (size_t i = 0; i < graph->message_count; i++) {
        if (!on_way[graph->messages[i].channel])
            continue;
        struct message message = graph_message(graph, (uint32_t)i);
        if (message.send_location == GRAPH_NONE || message.receive_location == GRAPH_NONE)
            continue;
        int64_t sent_ns = graph_call(graph, from, message.send_call).enter_ns,
                arrived_ns = graph_call(graph, to, message.receive_call).leave_ns;
        struct half *half = &halves[arrived_ns > middle_ns];
        half->most_ns = smaller(half->most_ns, time_since(sent_ns, arrived_ns));
    }
    free(on_way);
}

int64_t clock_lead_ns(const struct graph *graph, uint32_t from, uint32_t to)
{
    struct map enters = enters_of(graph, from);
    struct half halves[2] = {{.most_ns = INT64_MAX}, {.most_ns = INT64_MAX}};
    int64_t middle_ns = graph_begin_ns(graph) + graph_duration_ns(graph) / 2;
    for (uint32_t i = 0; i < graph->locations[to].count && enters.count > 0; i++) {
        struct call call = graph_call(graph, to, i);
        const uint64_t *entered = call.instance && !call.gets_nothing ? map_find(&enters, call.instance) : NULL;
        if (!entered)
            continue;
        struct call other = graph_call(graph, from, (uint32_t)*entered);
        struct half *half = &halves[call.leave_ns > middle_ns];
        half->most_ns = smaller(half->most_ns, time_since(other.enter_ns, call.leave_ns));
        ARRAY_PUSH(half->apart_ns, half->count, half->capacity, time_since(other.leave_ns, call.leave_ns));
    }
    map_clear(&enters);
    take_messages(graph, from, to, middle_ns, halves);
    int64_t early_ns = half_lead_ns(&halves[0]), late_ns = half_lead_ns(&halves[1]);
    return larger(early_ns, late_ns);
}
