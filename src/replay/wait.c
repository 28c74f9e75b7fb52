/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/wait.h"

#include "replay/wait_partners.h"
#include "replay/wait_table.h"
#include "replay/wait_windows.h"

struct wait wait_until(const struct call *call, int64_t until_ns, enum wait_kind kind, uint32_t cause_lane,
                       uint32_t cause_call)
{
    int64_t end_ns = until_ns < call->leave_ns ? until_ns : call->leave_ns;
    int64_t ns = time_since(call->enter_ns, end_ns);
    if (ns <= 0)
        return (struct wait){0};
    return (struct wait){kind, ns, until_ns, cause_lane, cause_call, call->comm, false};
}

static struct wait wait_for_prefix(const struct graph *graph, uint32_t lane, uint32_t index, const struct call *call,
                                   enum wait_kind kind)
{
    const uint64_t *place = map_find(&graph->prefix_places, map_pair(lane, index));
    const struct prefix *prefix = place ? &graph->prefixes[*place] : NULL;
    if (!prefix || prefix->latest_lane == GRAPH_NONE)
        return (struct wait){0};
    return wait_until(call, graph_call(graph, prefix->latest_lane, prefix->latest_call).enter_ns, kind,
                      prefix->latest_lane, prefix->latest_call);
}

/* Waiting of `call` for a collective in which the lane takes part with its call `index`: that one, or one before that
   posted it. Who of the others entered first is known only by its time: the latest stands for the cause. */
static struct wait wait_for_group(const struct graph *graph, const struct group *group, uint32_t lane, uint32_t index,
                                  const struct call *call)
{
    struct collective collective = graph_collective_of(graph, group);
    enum wait_kind kind = (enum wait_kind)collective.wait;
    if (!group->complete || group->latest_lane == GRAPH_NONE)
        return (struct wait){0};
    if (graph->streams[group->stream].sided)
        return wait_for_other_group(graph, group, lane, call);
    switch ((enum collective_shape)collective.shape) {
    case SHAPE_ALL_TO_ALL:
        return wait_until(call, group->latest_enter_ns, kind, group->latest_lane, group->latest_call);
    case SHAPE_ONE_TO_ALL:
        if (group->root_lane == GRAPH_NONE || group->root_lane == lane)
            return (struct wait){0};
        return wait_until(call, graph_call(graph, group->root_lane, group->root_call).enter_ns, kind, group->root_lane,
                          group->root_call);
    case SHAPE_ALL_TO_ONE:
        if (group->root_lane != lane || group->earliest_other_ns == INT64_MAX)
            return (struct wait){0};
        return wait_until(call, group->earliest_other_ns, kind, group->latest_lane, group->latest_call);
    case SHAPE_PREFIX:
        return wait_for_prefix(graph, lane, index, call, kind);
    case SHAPE_NEIGHBOURS:
        return wait_for_neighbours(graph, group, lane, call);
    default:
        return (struct wait){0};
    }
}

static struct wait wait_in_group(const struct graph *graph, uint32_t lane, uint32_t index, const struct call *call)
{
    if (!graph_waits_at_once(graph, graph_group(graph, call)) || call->gets_nothing)
        return (struct wait){0};
    return wait_for_group(graph, graph_group(graph, call), lane, index, call);
}

/* The longest of the waits for collectives that the call completes. */
static struct wait wait_for_operations(const struct graph *graph, uint32_t lane, uint32_t index,
                                       const struct call *call)
{
    struct wait longest = {0};
    for (size_t i = graph_operations(graph, lane, index); i < graph->operation_count; i++) {
        const struct operation *operation = &graph->operations[i];
        if (!graph_completes(operation, lane, index))
            break;
        const struct group *group = &graph->groups[operation->group];
        if (operation->gets_nothing || graph_waits_at_once(graph, group))
            continue;
        struct wait wait = wait_for_group(graph, group, operation->lane, operation->call, call);
        wait.comm = graph->streams[group->stream].comm;
        if (wait.ns > longest.ns)
            longest = wait;
    }
    return longest;
}

enum wait_kind wait_for_message_kind(const struct call *call)
{
    return call->pending_same ? WAIT_WRONG_ORDER_SAME : call->pending_other ? WAIT_WRONG_ORDER_OTHER : WAIT_LATE_SENDER;
}

/* The longest of the waits for messages that arrive in the call. */
static struct wait wait_for_senders(const struct graph *graph, uint32_t lane, const struct call *call)
{
    struct wait longest = {0};
    struct message m;
    for (uint32_t at = call->received; at; at = graph_next_received(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        if (m.send_lane == GRAPH_NONE || m.send_lane == lane)
            continue;
        struct wait wait = wait_until(call, graph_call(graph, m.send_lane, m.send_call).enter_ns,
                                      wait_for_message_kind(call), m.send_lane, m.send_call);
        wait.comm = graph->channels[m.channel].comm;
        if (wait.ns > longest.ns)
            longest = wait;
    }
    return longest;
}

/* A send that completes only after its receive was posted has waited for that. */
static struct wait wait_for_receiver(const struct graph *graph, uint32_t lane, const struct call *call, uint32_t index,
                                     const struct message *message)
{
    if (message->receive_lane == GRAPH_NONE || message->receive_lane == lane)
        return (struct wait){0};
    struct post post = graph_post(graph, index, message);
    if (post.lane == GRAPH_NONE)
        return (struct wait){0};
    int64_t posted_ns = graph_call(graph, post.lane, post.call).enter_ns;
    if (call->leave_ns <= posted_ns)
        return (struct wait){0};
    struct wait wait = wait_until(call, posted_ns, WAIT_LATE_RECEIVER, post.lane, post.call);
    wait.comm = graph->channels[message->channel].comm;
    return wait;
}

/* The longest of the waits for receives of messages that the call sends itself, and whose sends it completes. */
static struct wait wait_for_receivers(const struct graph *graph, uint32_t lane, const struct call *call)
{
    struct wait longest = {0};
    struct message m;
    for (uint32_t at = call->sent; at; at = graph_next_sent(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        if (graph_completes_later(graph, at - 1))
            continue;
        struct wait wait = wait_for_receiver(graph, lane, call, at - 1, &m);
        longest = wait.ns > longest.ns ? wait : longest;
    }
    for (uint32_t at = call->completed; at; at = graph_next_completed(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        struct wait wait = wait_for_receiver(graph, lane, call, at - 1, &m);
        longest = wait.ns > longest.ns ? wait : longest;
    }
    return longest;
}

struct wait wait_compute(const struct graph *graph, uint32_t lane, uint32_t index)
{
    struct call call = graph_call(graph, lane, index);
    if (call.group)
        return wait_in_group(graph, lane, index, &call);
    struct wait sender = call.received ? wait_for_senders(graph, lane, &call) : (struct wait){0};
    struct wait receiver = call.sent || call.completed ? wait_for_receivers(graph, lane, &call) : (struct wait){0};
    struct wait longest = receiver.ns > sender.ns ? receiver : sender;
    if (!call.operates)
        return longest;
    struct wait operation = graph_state(graph, &call)->class == CLASS_RMA
                                ? wait_in_window(graph, lane, index, &call)
                                : wait_for_operations(graph, lane, index, &call);
    return operation.ns > longest.ns ? operation : longest;
}

struct wait wait_of(const struct graph *graph, uint32_t lane, uint32_t index)
{
    if (graph->waits && !wait_table_marks(graph, lane, index))
        return (struct wait){0};
    return wait_compute(graph, lane, index);
}

struct wait wait_completion_of(const struct graph *graph, uint32_t lane, uint32_t index)
{
    struct call call = graph_call(graph, lane, index);
    const struct group *group = graph_group(graph, &call);
    enum wait_kind kind = WAIT_NONE;
    int64_t from_ns = call.enter_ns, until_ns = call.leave_ns;
    if (graph_state(graph, &call)->class == CLASS_IO) {
        struct wait wait = wait_of(graph, lane, index);
        kind = WAIT_IO;
        from_ns += wait.ns;
    } else if (group && group->complete && graph_collective(graph, &call).shape == SHAPE_ALL_TO_ALL &&
               !graph->streams[group->stream].sided && !call.gives_nothing && !call.gets_nothing &&
               graph_collective(graph, &call).stage == STAGE_BLOCKING) {
        kind = (enum wait_kind)graph_collective(graph, &call).completion;
        from_ns = group->earliest_done_ns > group->latest_enter_ns ? group->earliest_done_ns : group->latest_enter_ns;
    } else if (group && graph_collective(graph, &call).stage == STAGE_BLOCKING &&
               graph_stays_for_last(graph, group, &call)) {
        kind = (enum wait_kind)graph_collective(graph, &call).completion;
        from_ns += wait_of(graph, lane, index).ns;
        until_ns = group->latest_enter_ns;
    }
    int64_t ns = time_since(from_ns > call.enter_ns ? from_ns : call.enter_ns, until_ns);
    if (kind == WAIT_NONE || ns <= 0)
        return (struct wait){0};
    return (struct wait){kind, ns, until_ns, lane, index, call.comm, false};
}
