/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/small_messages.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "graph/wait_table.h"

/* What is computed between two pieces of the same data (packing, a step of a loop) takes at most so many times as long
   as the call. Longer computing is what the next message is the result of. */
enum { SOON = 10 };

/* The sender's calls since it last computed for long, or was in a collective. */
struct burst {
    uint64_t number;
    struct map latest; /* (receiver, communicator) -> number of the burst of the last message */
};

static void send_in(struct combined *combined, const struct graph *graph, struct burst *burst, uint32_t message)
{
    struct message m = graph_message(graph, message);
    if (m.receive_location == GRAPH_NONE || m.bytes < 0 || m.bytes >= SMALL_BYTES)
        return;
    uint64_t key = map_pair(m.receive_location, (uint32_t)graph->channels[m.channel].comm),
             *latest = map_put(&burst->latest, key, 0);
    if (*latest == burst->number) {
        combined->messages[message] = true;
        combined->count++;
    }
    *latest = burst->number;
}

static void visit(struct combined *combined, const struct graph *graph, uint32_t location)
{
    struct burst burst = {.number = 1};
    int64_t before_ns = graph->locations[location].begin_ns;
    for (uint32_t i = 0; i < graph->locations[location].count; i++) {
        struct call call = graph_call(graph, location, i);
        int64_t own_ns = time_since(call.enter_ns, call.leave_ns) - wait_ns_in(graph, location, i),
                computed_ns = time_since(before_ns, call.enter_ns);
        burst.number += call.instance || computed_ns / SOON > own_ns;
        before_ns = call.leave_ns;
        for (uint32_t at = call.sent; at; at = graph_next_sent(graph, at - 1))
            send_in(combined, graph, &burst, at - 1);
    }
    map_clear(&burst.latest);
}

struct combined combined_of(const struct graph *graph)
{
    struct combined combined = {.messages = memory_new(graph->message_count)};
    for (uint32_t location = 0; location < graph->location_count; location++)
        visit(&combined, graph, location);
    if (combined.count == 0)
        combined_clear(&combined);
    return combined;
}

void combined_clear(struct combined *combined)
{
    free(combined->messages);
    *combined = (struct combined){0};
}

bool combined_call(const struct graph *graph, const struct call *call, const bool *messages)
{
    for (uint32_t at = call->sent; at; at = graph_next_sent(graph, at - 1))
        if (!messages[at - 1])
            return false;
    for (uint32_t at = call->received; at; at = graph_next_received(graph, at - 1))
        if (!messages[at - 1])
            return false;
    for (uint32_t at = call->completed; at; at = graph_next_completed(graph, at - 1))
        if (!messages[at - 1])
            return false;
    for (uint32_t at = call->posted; at; at = graph_next_posted(graph, at - 1))
        if (!messages[at - 1])
            return false;
    return call->sent || call->received || call->completed || call->posted;
}
