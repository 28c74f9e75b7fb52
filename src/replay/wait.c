/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/wait.h"

#include <string.h>

static bool named(const struct state_def *state, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(state->name, names[i]) == 0)
            return true;
    return false;
}
#define NAMED(state, ...)                                                                                              \
    named(state, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

enum collective_shape collective_shape_of(const struct state_def *state)
{
    if (NAMED(state, "MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"))
        return SHAPE_ONE_TO_ALL;
    if (NAMED(state, "MPI_Reduce", "MPI_Gather", "MPI_Gatherv"))
        return SHAPE_ALL_TO_ONE;
    if (NAMED(state, "MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv",
              "MPI_Alltoallw", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Barrier", "MPI_Init",
              "MPI_Init_thread", "MPI_Finalize"))
        return SHAPE_ALL_TO_ALL;
    return SHAPE_NONE_KNOWN;
}

enum wait_kind wait_all_to_all_kind(const struct state_def *state)
{
    if (state->class == CLASS_SYNC)
        return WAIT_AT_BARRIER;
    if (state->class == CLASS_COLLECTIVE)
        return WAIT_AT_NXN;
    return strcmp(state->name, "MPI_Finalize") == 0 ? WAIT_AT_FINALIZE : WAIT_AT_INIT;
}

/* Waiting from the call's enter until something happens elsewhere. */
static struct wait wait_until(const struct call *call, int64_t until_ns, enum wait_kind kind, uint32_t cause_lane,
                              uint32_t cause_call)
{
    int64_t end_ns = until_ns < call->leave_ns ? until_ns : call->leave_ns;
    int64_t ns = time_since(call->enter_ns, end_ns);
    if (ns <= 0)
        return (struct wait){0};
    return (struct wait){kind, ns, until_ns, cause_lane, cause_call};
}

/* Who of the others entered first is known only by its time: the latest stands for the cause. */
static struct wait wait_in_group(const struct graph *graph, uint32_t lane, const struct call *call)
{
    const struct group *group = &graph->groups[call->group - 1];
    const struct state_def *state = graph_state(graph, call);
    if (!group->complete)
        return (struct wait){0};
    switch (collective_shape_of(state)) {
    case SHAPE_ALL_TO_ALL:
        return wait_until(call, group->latest_enter_ns, wait_all_to_all_kind(state), group->latest_lane,
                          group->latest_call);
    case SHAPE_ONE_TO_ALL:
        if (group->root_lane == GRAPH_NONE || group->root_lane == lane)
            return (struct wait){0};
        return wait_until(call, graph_call(graph, group->root_lane, group->root_call).enter_ns, WAIT_LATE_BROADCAST,
                          group->root_lane, group->root_call);
    case SHAPE_ALL_TO_ONE:
        if (group->root_lane != lane)
            return (struct wait){0};
        return wait_until(call, group->earliest_other_ns, WAIT_EARLY_REDUCE, group->latest_lane, group->latest_call);
    default:
        return (struct wait){0};
    }
}

/* The longest of the waits for messages that arrive in the call. */
static struct wait wait_for_senders(const struct graph *graph, uint32_t lane, const struct call *call)
{
    struct wait longest = {0};
    struct message m;
    for (uint32_t at = call->received; at; at = m.next_received) {
        m = graph_message(graph, at - 1);
        if (m.send_lane == GRAPH_NONE || m.send_lane == lane)
            continue;
        struct wait wait = wait_until(call, graph_call(graph, m.send_lane, m.send_call).enter_ns, WAIT_LATE_SENDER,
                                      m.send_lane, m.send_call);
        if (wait.ns > longest.ns)
            longest = wait;
    }
    return longest;
}

/* A blocking send that returns after its receive was entered has waited for it. Where the receive completes in a wait,
   it is not known when it was posted. */
static struct wait wait_for_receivers(const struct graph *graph, uint32_t lane, const struct call *call)
{
    struct wait longest = {0};
    struct message m;
    for (uint32_t at = call->sent; at; at = m.next_sent) {
        m = graph_message(graph, at - 1);
        if (m.receive_lane == GRAPH_NONE || m.receive_lane == lane)
            continue;
        struct call receive = graph_call(graph, m.receive_lane, m.receive_call);
        if (graph_state(graph, &receive)->class != CLASS_P2P || call->leave_ns <= receive.enter_ns)
            continue;
        struct wait wait = wait_until(call, receive.enter_ns, WAIT_LATE_RECEIVER, m.receive_lane, m.receive_call);
        if (wait.ns > longest.ns)
            longest = wait;
    }
    return longest;
}

struct wait wait_of(const struct graph *graph, uint32_t lane, uint32_t index)
{
    struct call call = graph_call(graph, lane, index);
    if (call.group)
        return wait_in_group(graph, lane, &call);
    struct wait sender = call.received ? wait_for_senders(graph, lane, &call) : (struct wait){0};
    struct wait receiver = call.sent ? wait_for_receivers(graph, lane, &call) : (struct wait){0};
    return receiver.ns > sender.ns ? receiver : sender;
}
