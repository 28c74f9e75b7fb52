/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/held_calls.h"

#include "core/memory.h"

/* Bytes that the call receives; -1: not known, too many, or it receives nothing. */
static int64_t received_bytes(const struct graph *graph, const struct call *call)
{
    int64_t bytes = 0;
    if (!call->received)
        return -1;
    for (uint32_t at = call->received; at; at = graph_next_received(graph, at - 1)) {
        struct message message = graph_message(graph, at - 1);
        if (message.bytes == BYTES_UNKNOWN || message.bytes < 0 || message.bytes > HELD_BYTES - bytes)
            return -1;
        bytes += message.bytes;
    }
    return bytes;
}

static bool is_rooted(const struct collective *collective)
{
    return collective->wait == WAIT_LATE_BROADCAST || collective->wait == WAIT_EARLY_REDUCE;
}

/* The same for a collective; BYTES_NOT_RECORDED: they are not known. */
enum { BYTES_NOT_RECORDED = INT32_MAX };

static int64_t collective_bytes(const struct graph *graph, const struct call *call)
{
    struct collective collective = graph_collective(graph, call);
    const struct instance *instance = graph_instance(graph, call);
    if (collective.stage != STAGE_BLOCKING || !instance->complete)
        return -1;
    if (collective.wait == WAIT_AT_BARRIER)
        return 0;
    if ((collective.wait != WAIT_AT_NXN && !is_rooted(&collective)) || collective.shape == SHAPE_NEIGHBOURS ||
        instance->bytes > HELD_BYTES)
        return -1;
    return instance->bytes > 0 ? (int64_t)instance->bytes : BYTES_NOT_RECORDED;
}

/* What a call takes beyond waiting; -1: not known. A member of a collective with a root may need any other one, whose
   part of the tree it is, and may not: once all have come it has all that it needs. */
static int64_t own_ns_of(const struct graph *graph, const struct call *call, const struct wait *wait)
{
    struct collective collective = graph_collective(graph, call);
    const struct instance *instance = graph_instance(graph, call);
    if (!instance || !is_rooted(&collective))
        return time_since(wait->ns, time_since(call->enter_ns, call->leave_ns));
    if (call->leave_ns <= instance->all_entered_ns)
        return -1;
    return time_since(larger(call->enter_ns, instance->all_entered_ns), call->leave_ns);
}

/* Of an epoch between two processes that waited for the other one. Fences wait for all, and every other one moves
   nothing. */
static int64_t epoch_bytes(const struct wait *wait)
{
    bool for_one = wait->kind == WAIT_LATE_POST || wait->kind == WAIT_EARLY_WAIT || wait->kind == WAIT_LATE_COMPLETE;
    return for_one ? BYTES_NOT_RECORDED : -1;
}

/* Collectives are at best trees: ceil(log2(processes)) messages one after the other, at least one. */
static int64_t steps_of(uint64_t processes)
{
    int64_t steps = 1;
    while (processes > UINT64_C(1) << steps)
        steps++;
    return steps;
}

struct held_calls held_calls_begin(const struct graph *graph)
{
    struct held_calls calls = {0};
    calls.unknown = memory_new(graph->defs->state_count * sizeof *calls.unknown);
    return calls;
}

void held_calls_add(struct held_calls *calls, const struct graph *graph, const struct call *call,
                    const struct wait *wait)
{
    const struct instance *instance = graph_instance(graph, call);
    enum function_class class = graph_state(graph, call)->class;
    if (!instance && class != CLASS_P2P && class != CLASS_WAIT && class != CLASS_RMA)
        return;
    int64_t bytes, steps = 1;
    if (instance) {
        bytes = collective_bytes(graph, call);
        steps = steps_of(instance->count);
    } else if (class == CLASS_RMA) {
        bytes = epoch_bytes(wait);
    } else {
        bytes = received_bytes(graph, call);
    }
    int64_t own_ns = own_ns_of(graph, call, wait);
    if (bytes < 0 || own_ns < 0)
        return;
    struct held_sums *sums = &calls->all;
    if (bytes == BYTES_NOT_RECORDED) {
        sums = &calls->unknown[graph_state(graph, call)->first_of_name];
        bytes = 0;
    }
    int64_t explained_ns = steps * HELD_STEP_NS + bytes * HELD_BYTE_NS;
    bool measured = instance || wait->kind != WAIT_NONE;
    sums->small += measured;
    /* A call that is over before its partner comes has no own time: the clocks are wrong, and it says nothing. */
    bool certain = own_ns > 0 || graph->clock_error_ns == 0;
    sums->prompt += measured && certain && own_ns <= explained_ns;
    if (time_since(graph->clock_error_ns, own_ns) <= HELD_TIMES * explained_ns)
        return;
    sums->held++;
    time_add(&sums->held_ns, own_ns);
}

static void put(struct analysis *analysis, const struct held_sums *sums)
{
    analysis->small_calls += sums->small;
    analysis->prompt_calls += sums->prompt;
    analysis->held_calls += sums->held;
    time_add(&analysis->held, sums->held_ns);
}

void held_calls_end(struct held_calls *calls, struct analysis *analysis)
{
    put(analysis, &calls->all);
    for (size_t i = 0; i < analysis->state_count; i++)
        if (calls->unknown[i].prompt * HELD_UNKNOWN >= calls->unknown[i].small)
            put(analysis, &calls->unknown[i]);
    free(calls->unknown);
    *calls = (struct held_calls){0};
}
