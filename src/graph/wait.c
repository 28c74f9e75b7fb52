/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/wait.h"

#include "graph/wait_partners.h"
#include "graph/wait_table.h"
#include "graph/wait_windows.h"

struct wait wait_until(const struct call *call, int64_t until_ns, enum wait_kind kind, uint32_t cause_location,
                       uint32_t cause_call)
{
    int64_t end_ns = until_ns < call->leave_ns ? until_ns : call->leave_ns;
    int64_t ns = time_since(call->enter_ns, end_ns);
    if (ns <= 0)
        return (struct wait){0};
    return (struct wait){kind, ns, until_ns, cause_location, cause_call, call->comm, false};
}

static struct wait wait_for_prefix(const struct graph *graph, uint32_t location, uint32_t index,
                                   const struct call *call, enum wait_kind kind)
{
    const uint64_t *place = map_find(&graph->prefix_places, map_pair(location, index));
    const struct prefix *prefix = place ? &graph->prefixes[*place] : NULL;
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
        if (wait.ns > longest.ns)
            longest = wait;
    }
    return longest;
}

enum wait_kind wait_for_message_kind(const struct call *call)
{
    if (call->pending_same)
        return WAIT_WRONG_ORDER_SAME;
    return call->pending_other ? WAIT_WRONG_ORDER_OTHER : WAIT_LATE_SENDER;
}

/* The longest of the waits for messages that arrive in the call. */
static struct wait wait_for_senders(const struct graph *graph, uint32_t location, const struct call *call)
{
    struct wait longest = {0};
    struct message m;
    for (uint32_t at = call->received; at; at = graph_next_received(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        if (m.send_location == GRAPH_NONE || m.send_location == location)
            continue;
        struct wait wait = wait_until(call, graph_call(graph, m.send_location, m.send_call).enter_ns,
                                      wait_for_message_kind(call), m.send_location, m.send_call);
        wait.comm = graph->channels[m.channel].comm;
        if (wait.ns > longest.ns)
            longest = wait;
    }
    return longest;
}

/* A send that completes only after its receive was posted has waited for that. */
static struct wait wait_for_receiver(const struct graph *graph, uint32_t location, const struct call *call,
                                     uint32_t index, const struct message *message)
{
    if (message->receive_location == GRAPH_NONE || message->receive_location == location)
        return (struct wait){0};
    struct post post = graph_post(graph, index, message);
    if (post.location == GRAPH_NONE)
        return (struct wait){0};
    int64_t posted_ns = graph_call(graph, post.location, post.call).enter_ns;
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
        if (graph_completes_later(graph, at - 1))
            continue;
        struct wait wait = wait_for_receiver(graph, location, call, at - 1, &m);
        longest = wait.ns > longest.ns ? wait : longest;
    }
    for (uint32_t at = call->completed; at; at = graph_next_completed(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        struct wait wait = wait_for_receiver(graph, location, call, at - 1, &m);
        longest = wait.ns > longest.ns ? wait : longest;
    }
    return longest;
}

struct wait wait_compute(const struct graph *graph, uint32_t location, uint32_t index)
{
    struct call call = graph_call(graph, location, index);
    if (call.instance)
        return wait_in_instance(graph, location, index, &call);
    struct wait sender = call.received ? wait_for_senders(graph, location, &call) : (struct wait){0};
    struct wait receiver = call.sent || call.completed ? wait_for_receivers(graph, location, &call) : (struct wait){0};
    struct wait longest = receiver.ns > sender.ns ? receiver : sender;
    if (!call.operates)
        return longest;
    if (call.sent || call.completed) {
        struct wait held = wait_in_window(graph, location, index, &call);
        longest = held.ns > longest.ns ? held : longest;
    }
    struct wait operation = graph_state(graph, &call)->class == CLASS_RMA
                                ? wait_in_window(graph, location, index, &call)
                                : wait_for_operations(graph, location, index, &call);
    return operation.ns > longest.ns ? operation : longest;
}

struct wait wait_of(const struct graph *graph, uint32_t location, uint32_t index)
{
    if (graph->waits && !wait_table_marks(graph, location, index))
        return (struct wait){0};
    return wait_compute(graph, location, index);
}

struct wait wait_completion_of(const struct graph *graph, uint32_t location, uint32_t index)
{
    struct call call = graph_call(graph, location, index);
    const struct instance *instance = graph_instance(graph, &call);
    enum wait_kind kind = WAIT_NONE;
    int64_t from_ns = call.enter_ns, until_ns = call.leave_ns;
    if (graph_state(graph, &call)->class == CLASS_IO) {
        struct wait wait = wait_of(graph, location, index);
        kind = WAIT_IO;
        from_ns += wait.ns;
    } else if (instance && instance->complete && graph_collective(graph, &call).shape == SHAPE_ALL_TO_ALL &&
               !graph->streams[instance->stream].sided && !call.gives_nothing && !call.gets_nothing &&
               graph_collective(graph, &call).stage == STAGE_BLOCKING) {
        kind = (enum wait_kind)graph_collective(graph, &call).completion;
        from_ns = instance->earliest_done_ns > instance->latest_enter_ns ? instance->earliest_done_ns
                                                                         : instance->latest_enter_ns;
    } else if (instance && graph_collective(graph, &call).stage == STAGE_BLOCKING &&
               graph_stays_for_last(graph, instance, &call)) {
        kind = (enum wait_kind)graph_collective(graph, &call).completion;
        from_ns += wait_of(graph, location, index).ns;
        until_ns = instance->latest_enter_ns;
    }
    int64_t ns = time_since(from_ns > call.enter_ns ? from_ns : call.enter_ns, until_ns);
    if (kind == WAIT_NONE || ns <= 0)
        return (struct wait){0};
    return (struct wait){kind, ns, until_ns, location, index, call.comm, false};
}
