/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/faster_calls.h"

#include "core/memory.h"
#include "core/numbers.h"

struct repair {
    const struct transfer_meter *meter;
    const struct slow_link *slow;
    struct map calls;
};

/* When a message leaves, as far as its receiver can tell, arrives, and would arrive. */
struct arrival {
    int64_t begin_ns, end_ns, repaired_ns;
};

static bool arrival_of(const struct repair *repair, uint32_t index, struct arrival *arrival)
{
    const struct graph *graph = repair->meter->graph;
    struct transfer transfer;
    if (!transfer_measure(repair->meter, index, &transfer))
        return false;
    if (repair->slow->without_clocks)
        transfer_without_clocks(&transfer);
    struct message message = graph_message(graph, index);
    int64_t usual = usual_ns(&repair->slow->usual, transfer.kind);
    arrival->end_ns = graph_call(graph, message.receive_location, message.receive_call).leave_ns;
    arrival->begin_ns = arrival->end_ns - larger(transfer.least_ns, INT64_C(0));
    arrival->repaired_ns = arrival->end_ns;
    if (usual > 0)
        arrival->repaired_ns -= time_since(usual, transfer.least_ns);
    return true;
}

/* When the call could be left for all that the message needs. */
static void need_message(const struct repair *repair, const struct call *call, uint32_t index, int64_t *leave_ns)
{
    struct arrival arrival;
    /* It keeps the call as long as recorded if nothing is known of it; not at all if the call does not wait for it. */
    int64_t ns = call->leave_ns;
    if (arrival_of(repair, index, &arrival)) {
        /* Of these two calls only the lengths count: both are held as long by the message. */
        bool without_clocks = repair->slow->without_clocks;
        if (arrival.begin_ns >= call->leave_ns && !without_clocks)
            return;
        if (arrival.end_ns < call->leave_ns || without_clocks)
            ns -= arrival.end_ns - arrival.repaired_ns;
        else
            ns = smaller(ns, arrival.repaired_ns);
    }
    *leave_ns = larger(*leave_ns, ns);
}

static void repair_call(struct repair *repair, uint32_t location, uint32_t index)
{
    const struct graph *graph = repair->meter->graph;
    struct call call = graph_call(graph, location, index);
    int64_t leave_ns = call.enter_ns;
    uint64_t key = map_pair(location, index);
    if (call.instance || map_find(&repair->calls, key))
        return;
    for (uint32_t m = call.received; m; m = graph_next_received(graph, m - 1))
        need_message(repair, &call, m - 1, &leave_ns);
    for (uint32_t m = call.sent; m; m = graph_next_sent(graph, m - 1))
        if (!graph_completes_later(graph, m - 1))
            need_message(repair, &call, m - 1, &leave_ns);
    for (uint32_t m = call.completed; m; m = graph_next_completed(graph, m - 1))
        need_message(repair, &call, m - 1, &leave_ns);
    if (leave_ns < call.leave_ns)
        map_put(&repair->calls, key, (uint64_t)time_since(leave_ns, call.leave_ns));
}

/* The call in which a started send of a slow message completes, among those that the sender enters until then. */
static void repair_completion(struct repair *repair, const struct message *message, uint32_t index)
{
    const struct graph *graph = repair->meter->graph;
    uint32_t calls = (uint32_t)graph->locations[message->send_location].count;
    int64_t end_ns = graph_call(graph, message->receive_location, message->receive_call).leave_ns;
    for (uint32_t i = message->send_call + 1; i < calls; i++) {
        struct call call = graph_call(graph, message->send_location, i);
        if (call.enter_ns >= end_ns)
            return;
        for (uint32_t m = call.completed; m; m = graph_next_completed(graph, m - 1))
            if (m - 1 == index) {
                repair_call(repair, message->send_location, i);
                return;
            }
    }
}

struct map faster_calls(const struct transfer_meter *meter, const struct slow_link *slow)
{
    const struct graph *graph = meter->graph;
    struct repair repair = {.meter = meter, .slow = slow};
    bool *slow_channels = slow_link_channels(slow, meter);
    for (size_t i = 0; i < graph->message_count; i++) {
        struct message message = {.send_location = GRAPH_NONE};
        if (slow_channels[graph->messages[i].channel])
            message = graph_message(graph, (uint32_t)i);
        if (message.send_location == GRAPH_NONE || message.receive_location == GRAPH_NONE ||
            (uint64_t)larger(message.bytes, INT64_C(0)) < slow->from_bytes)
            continue;
        repair_call(&repair, message.receive_location, message.receive_call);
        if (graph_completes_later(graph, (uint32_t)i))
            repair_completion(&repair, &message, (uint32_t)i);
        else
            repair_call(&repair, message.send_location, message.send_call);
    }
    free(slow_channels);
    return repair.calls;
}
