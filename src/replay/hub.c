/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/hub.h"

struct hub {
    uint64_t messages, turns;
};

static struct hub hub_of(const struct graph *graph, uint32_t location)
{
    struct hub hub = {0};
    bool received = false;
    for (uint32_t i = 0; i < graph->locations[location].count; i++) {
        struct call call = graph_call(graph, location, i);
        /* Calls that do both (MPI_Sendrecv) say nothing about whose turn it is. */
        bool receives = call.received && !call.sent, sends = call.sent && !call.received;
        if (!receives && !sends)
            continue;
        hub.turns += hub.messages > 0 && receives != received;
        received = receives;
        for (uint32_t at = call.received; at; at = graph_next_received(graph, at - 1))
            hub.messages++;
        for (uint32_t at = call.sent; at; at = graph_next_sent(graph, at - 1))
            hub.messages++;
    }
    return hub;
}

void hub_take(struct analysis *analysis, const struct graph *graph)
{
    for (uint32_t location = 0; location < graph->location_count; location++) {
        struct hub hub = hub_of(graph, location);
        if (hub.messages <= analysis->hub_messages)
            continue;
        analysis->hub_messages = hub.messages;
        analysis->hub_turns = hub.turns;
    }
}
