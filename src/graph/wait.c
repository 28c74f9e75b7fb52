/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/wait.h"

#include "core/numbers.h"
#include "graph/wait_partners.h"
#include "graph/wait_table.h"
#include "graph/wait_windows.h"

/* Several waits of one call overlap: the longest contains the others, so that it counts once (Scalasca charges the
   maximum of the messages of a Waitall, too). */
static struct wait longer(struct wait one, struct wait other)
{
    return other.ns > one.ns ? other : one;
}

static struct wait wait_for_prefix(const struct graph *graph, uint32_t location, uint32_t index,
                                   const struct call *call, enum wait_kind kind)
{
    const uint64_t *place = map_find(&graph->prefix_places, map_pair(location, index));
    const struct prefix *prefix = place ? &graph->prefixes[*place] : NULL;
    /* The latest up to this rank may be the call itself: then wait_until finds nothing to wait for. */
    if (!prefix || prefix->latest_location == GRAPH_NONE)
        return (struct wait){0};
    return wait_until(call, graph_call(graph, prefix->latest_location, prefix->latest_call).enter_ns, kind,
                      prefix->latest_location, prefix->latest_call);
}

/* Waiting of `call` for a collective in which the location takes part with its call `index`: that one, or one before
   that posted it. Only the time of the first of the others is known: the latest one represents the cause. */
static struct wait wait_for_instance(const struct graph *graph, const struct instance *instance, uint32_t location,
                                     uint32_t index, const struct call *call)
{
    struct collective collective = graph_collective_of(graph, instance);
    enum wait_kind kind = (enum wait_kind)collective.wait;
    /* A missing member may be the one waited for, so that any number would be a guess. */
    if (!instance->complete || instance->latest_location == GRAPH_NONE)
        return (struct wait){0};
    if (graph->streams[instance->stream].sided)
        return wait_for_other_group(graph, instance, location, call);
    switch ((enum collective_shape)collective.shape) {
    case SHAPE_ALL_TO_ALL:
        return wait_until(call, instance->latest_enter_ns, kind, instance->latest_location, instance->latest_call);
    case SHAPE_ONE_TO_ALL:
        if (instance->root_location == GRAPH_NONE || instance->root_location == location)
            return (struct wait){0};
        return wait_until(call, graph_call(graph, instance->root_location, instance->root_call).enter_ns, kind,
                          instance->root_location, instance->root_call);
    case SHAPE_ALL_TO_ONE:
        if (instance->root_location != location || instance->earliest_other_ns == INT64_MAX)
            return (struct wait){0};
        /* The root waits for the first of the others (Scalasca's early reduce): what it waits beyond that, it may
           spend reducing. The last one is named as the cause, since it is the one that delays the result. */
        return wait_until(call, instance->earliest_other_ns, kind, instance->latest_location, instance->latest_call);
    case SHAPE_PREFIX:
        return wait_for_prefix(graph, location, index, call, kind);
    case SHAPE_NEIGHBOURS:
        return wait_for_neighbours(graph, instance, location, call);
    default:
        return (struct wait){0};
    }
}

static struct wait wait_in_instance(const struct graph *graph, uint32_t location, uint32_t index,
                                    const struct call *call)
{
    /* What waits later, in another call, must not be counted here as well. */
    if (!graph_waits_at_once(graph, graph_instance(graph, call)) || call->gets_nothing)
        return (struct wait){0};
    return wait_for_instance(graph, graph_instance(graph, call), location, index, call);
}

/* The longest of the waits for collectives that the call completes. */
static struct wait wait_for_operations(const struct graph *graph, uint32_t location, uint32_t index,
                                       const struct call *call)
{
    struct wait longest = {0};
    for (size_t i = graph_operations(graph, location, index); i < graph->operation_count; i++) {
        const struct operation *operation = &graph->operations[i];
        if (!graph_completes(operation, location, index))
            break;
        const struct instance *instance = &graph->instances[operation->instance];
        if (operation->gets_nothing || graph_waits_at_once(graph, instance))
            continue;
        struct wait wait = wait_for_instance(graph, instance, operation->location, operation->call, call);
        wait.comm = graph->streams[instance->stream].comm;
        longest = longer(longest, wait);
    }
    return longest;
}

/* Of the first collective that the call completes; EVENT_UNKNOWN: there is none. */
static int32_t comm_of_operations(const struct graph *graph, uint32_t location, uint32_t index)
{
    size_t i = graph_operations(graph, location, index);
    if (i >= graph->operation_count)
        return EVENT_UNKNOWN;
    return graph->streams[graph->instances[graph->operations[i].instance].stream].comm;
}

enum wait_kind wait_for_message_kind(const struct call *call)
{
    if (call->pending_same)
        return WAIT_WRONG_ORDER_SAME;
    if (call->pending_other)
        return WAIT_WRONG_ORDER_OTHER;
    return WAIT_LATE_SENDER;
}

/* The longest of the waits for messages that arrive in the call. Scalasca's late sender: min(enter of the send, leave
   of the receive) - enter of the receive, if the send is entered later. */
static struct wait wait_for_senders(const struct graph *graph, uint32_t location, const struct call *call)
{
    struct wait longest = {0};
    struct message m;
    for (uint32_t at = call->received; at; at = graph_next_received(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        /* From itself: the send was before, whatever the clock of another thread says. */
        if (m.send_location == GRAPH_NONE || m.send_location == location)
            continue;
        struct wait wait = wait_until(call, graph_call(graph, m.send_location, m.send_call).enter_ns,
                                      wait_for_message_kind(call), m.send_location, m.send_call);
        wait.comm = graph->channels[m.channel].comm;
        longest = longer(longest, wait);
    }
    return longest;
}

/* A send that completes only after its receive was posted has waited for that. Scalasca's late receiver: enter of the
   receive - enter of the send, if the send is left later than that. */
static struct wait wait_for_receiver(const struct graph *graph, uint32_t location, const struct call *call,
                                     uint32_t index, const struct message *message)
{
    if (message->receive_location == GRAPH_NONE || message->receive_location == location)
        return (struct wait){0};
    struct post post = graph_post(graph, index, message);
    if (post.location == GRAPH_NONE)
        return (struct wait){0};
    int64_t posted_ns = graph_call(graph, post.location, post.call).enter_ns;
    /* Left before the receive was posted: the message was buffered, and the send did not wait for it. */
    if (call->leave_ns <= posted_ns)
        return (struct wait){0};
    struct wait wait = wait_until(call, posted_ns, WAIT_LATE_RECEIVER, post.location, post.call);
    wait.comm = graph->channels[message->channel].comm;
    return wait;
}

/* The longest of the waits for receives of messages that the call sends itself, and whose sends it completes. */
static struct wait wait_for_receivers(const struct graph *graph, uint32_t location, const struct call *call)
{
    struct wait longest = {0};
    struct message m;
    for (uint32_t at = call->sent; at; at = graph_next_sent(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        /* MPI_Isend returns at once: the call that completes it waits. */
        if (graph_completes_later(graph, at - 1))
            continue;
        struct wait wait = wait_for_receiver(graph, location, call, at - 1, &m);
        longest = longer(longest, wait);
    }
    for (uint32_t at = call->completed; at; at = graph_next_completed(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        longest = longer(longest, wait_for_receiver(graph, location, call, at - 1, &m));
    }
    return longest;
}

static struct wait wait_in_call(const struct graph *graph, uint32_t location, uint32_t index)
{
    struct call call = graph_call(graph, location, index);
    if (call.instance)
        return wait_in_instance(graph, location, index, &call);
    struct wait longest = {0};
    if (call.received)
        longest = wait_for_senders(graph, location, &call);
    if (call.sent || call.completed)
        longest = longer(longest, wait_for_receivers(graph, location, &call));
    if (!call.operates)
        return longest;
    /* Edges belong to calls on windows, to sends that are held back (held_sends.h), and to calls that complete
       collectives (late_progress.h). */
    longest = longer(longest, wait_in_window(graph, location, index, &call));
    if (longest.comm == EVENT_UNKNOWN && (longest.kind == WAIT_AT_NXN || longest.kind == WAIT_AT_BARRIER))
        longest.comm = comm_of_operations(graph, location, index);
    if (graph_state(graph, &call)->class != CLASS_RMA)
        longest = longer(longest, wait_for_operations(graph, location, index, &call));
    return longest;
}

struct wait wait_compute(const struct graph *graph, uint32_t location, uint32_t index)
{
    /* Nearly all collectives, apart from the rest: so only what this needs of the call is decoded. */
    struct call call = graph_call(graph, location, index);
    const struct instance *instance = graph_instance(graph, &call);
    if (instance && instance->last_wait != WAIT_NONE && !call.gets_nothing)
        return wait_until(&call, instance->latest_enter_ns, (enum wait_kind)instance->last_wait,
                          instance->latest_location, instance->latest_call);
    return wait_in_call(graph, location, index);
}

struct wait wait_of(const struct graph *graph, uint32_t location, uint32_t index)
{
    /* Most calls do not wait: the table's bit answers without decoding the call and its partners. */
    if (graph->waits && !wait_table_marks(graph, location, index))
        return (struct wait){0};
    return wait_compute(graph, location, index);
}

/* Once the first member has all data, all could have them. Not before the last arrived: an earlier leave is a clock
   error, or a member that did not need the last one. */
static int64_t could_be_done_ns(const struct instance *instance)
{
    return larger(instance->earliest_done_ns, instance->latest_enter_ns);
}

static inline struct wait completion(const struct call *call, uint32_t location, uint32_t index, enum wait_kind kind,
                                     int64_t from_ns, int64_t until_ns)
{
    int64_t ns = time_since(larger(from_ns, call->enter_ns), until_ns);
    if (kind == WAIT_NONE || ns <= 0)
        return (struct wait){0};
    return (struct wait){kind, ns, until_ns, location, index, call->comm, false};
}

static struct wait completion_in_call(const struct graph *graph, uint32_t location, uint32_t index)
{
    struct call call = graph_call(graph, location, index);
    const struct instance *instance = graph_instance(graph, &call);
    int64_t waited_ns = wait_of(graph, location, index).ns;
    if (graph_state(graph, &call)->class == CLASS_IO)
        /* After the wait for the last process the rest is the file system's. */
        return completion(&call, location, index, WAIT_IO, call.enter_ns + waited_ns, call.leave_ns);
    if (instance && graph_collective(graph, &call).stage == STAGE_BLOCKING &&
        graph_stays_for_last(graph, instance, &call))
        return completion(&call, location, index, (enum wait_kind)graph_collective(graph, &call).completion,
                          call.enter_ns + waited_ns, instance->latest_enter_ns);
    return (struct wait){0};
}

struct wait wait_completion_of(const struct graph *graph, uint32_t location, uint32_t index)
{
    struct call call = graph_call(graph, location, index);
    const struct instance *instance = graph_instance(graph, &call);
    if (!instance && graph_state(graph, &call)->class != CLASS_IO)
        return (struct wait){0};
    if (!instance || instance->last_completion == WAIT_NONE)
        return completion_in_call(graph, location, index);
    if (call.gives_nothing || call.gets_nothing)
        return (struct wait){0};
    return completion(&call, location, index, (enum wait_kind)instance->last_completion, could_be_done_ns(instance),
                      call.leave_ns);
}
