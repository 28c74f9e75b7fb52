/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/held_sends.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/window_edges.h"

/* A held send takes at least this long, and this many times as long as the fastest of its size. 50 us is far above the
   time of an eager send. */
enum { HELD_LEAST_NS = 50000, HELD_TIMES = 10 };

/* The receiver is outside MPI for at least 1 / HELD_OUTSIDE of the time, and the send returns within 1 / HELD_TAIL
   after the receiver enters MPI; or within 1 / HELD_AT_ONCE, if no earlier message fills the receiver's buffers. */
enum { HELD_OUTSIDE = 2, HELD_TAIL = 4, HELD_AT_ONCE = 32 };

/* Sends of up to 2^n bytes: an MPI's protocol changes with the size, so that only sends of about the same compare. */
enum { SIZES = 64 };

static unsigned size_class(int64_t bytes)
{
    if (bytes <= 0)
        return 0;
    return 64 - (unsigned)__builtin_clzll((unsigned long long)bytes);
}

/* The message if the call waits only for the completion of sends: 1 + index; 0: none. Of several messages the first of
   the list, which was sent last. */
static uint32_t sent_in(const struct graph *graph, const struct call *call)
{
    /* A call that also receives (MPI_Sendrecv) or is collective may wait for that. */
    if (call->instance || call->received)
        return 0;
    if (call->completed)
        return call->completed;
    bool sends = call->sent && graph_state(graph, call)->class == CLASS_P2P;
    if (!sends || graph_completes_later(graph, call->sent - 1))
        return 0;
    return call->sent;
}

/* Without decoding the call: half of all calls send nothing. */
static bool has_sends(const struct graph *graph, uint32_t location, uint32_t index)
{
    return location_packed(&graph->locations[location], index)->word & CALL_OUT;
}

/* By state and size: the fastest send; INT64_MAX: none. */
static int64_t *quickest_sends(const struct graph *graph)
{
    size_t count = graph->defs->state_count * SIZES;
    int64_t *quickest_ns = memory_new(count * sizeof *quickest_ns);
    for (size_t i = 0; i < count; i++)
        quickest_ns[i] = INT64_MAX;
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            if (!has_sends(graph, location, i))
                continue;
            struct call call = graph_call(graph, location, i);
            uint32_t message = sent_in(graph, &call);
            if (!message)
                continue;
            int64_t *ns = &quickest_ns[call.state * SIZES + size_class(graph_message(graph, message - 1).bytes)];
            *ns = smaller(*ns, time_since(call.enter_ns, call.leave_ns));
        }
    return quickest_ns;
}

/* The location's last call entered by that time; GRAPH_NONE: none. */
static uint32_t last_entered(const struct graph *graph, uint32_t location, int64_t until_ns)
{
    uint32_t low = 0, high = (uint32_t)graph->locations[location].count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (graph_call(graph, location, middle).enter_ns <= until_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : GRAPH_NONE;
}

/* True if from its call `from` on the receiver receives another message before this one. */
static bool has_backlog(const struct graph *graph, const struct message *message, uint32_t from)
{
    for (uint32_t i = from; i < message->receive_call; i++) {
        struct call call = graph_call(graph, message->receive_location, i);
        /* A probe is linked to the message it found, which completes in a later call. */
        if (!call.instance && call.received && graph_message(graph, call.received - 1).receive_call == i)
            return true;
    }
    return false;
}

/* How long the location is outside MPI from that time until it enters its call `index`; counts up to `enough_ns`.
 */
static int64_t outside_until(const struct graph *graph, uint32_t location, uint32_t index, int64_t from_ns,
                             int64_t enough_ns)
{
    int64_t outside_ns = 0, enter_ns = graph_call(graph, location, index).enter_ns;
    for (; outside_ns < enough_ns && enter_ns > from_ns; index--) {
        int64_t left_ns = graph_left_before_ns(graph, location, index);
        outside_ns += time_since(larger(left_ns, from_ns), enter_ns);
        if (index == 0)
            break;
        enter_ns = graph_call(graph, location, index - 1).enter_ns;
    }
    return outside_ns;
}

static void hold(struct graph *graph, uint32_t location, uint32_t index, const struct call *call,
                 const struct message *message)
{
    int64_t duration_ns = time_since(call->enter_ns, call->leave_ns), least_ns = duration_ns / HELD_OUTSIDE;
    uint32_t receiver = message->receive_location, release = last_entered(graph, receiver, call->leave_ns);
    /* The release is the last call that the receiver entered while the send was held: it let the send return. */
    if (release == GRAPH_NONE || release >= message->receive_call)
        return;
    int64_t tail_ns = time_since(graph_call(graph, receiver, release).enter_ns, call->leave_ns);
    if (tail_ns > duration_ns / HELD_TAIL ||
        /* The walk back stops when enough time is found, so that long sends cost no more than short ones. */
        outside_until(graph, receiver, release, call->enter_ns, least_ns) < least_ns ||
        (tail_ns > duration_ns / HELD_AT_ONCE && !has_backlog(graph, message, release)))
        return;
    /* From the begin of the send: the trace does not show when the room ran out. */
    window_edge_add(graph, (struct window_edge){.location = location,
                                                .call = index,
                                                .cause_location = receiver,
                                                .cause_call = release,
                                                .from_ns = INT64_MIN,
                                                .kind = WAIT_LATE_RECEIVER});
}

void held_sends_find(struct graph *graph)
{
    int64_t *quickest_ns = quickest_sends(graph);
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            if (!has_sends(graph, location, i))
                continue;
            struct call call = graph_call(graph, location, i);
            int64_t duration_ns = time_since(call.enter_ns, call.leave_ns);
            uint32_t index = duration_ns >= HELD_LEAST_NS ? sent_in(graph, &call) : 0;
            if (!index)
                continue;
            struct message message = graph_message(graph, index - 1);
            if (message.receive_location != GRAPH_NONE && message.receive_location != location &&
                /* By division: ten times the fastest could overflow. */
                duration_ns / HELD_TIMES > quickest_ns[call.state * SIZES + size_class(message.bytes)])
                hold(graph, location, i, &call, &message);
        }
    free(quickest_ns);
}
