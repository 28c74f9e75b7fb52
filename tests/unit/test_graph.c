/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph of calls, messages and collectives: all that it knows, packed and read back. */
#include "graph/sweep.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

static void test_calls(void)
{
    const int64_t longest = INT64_C(3600) * 1000000000, odd = (INT64_C(1) << 35) - 1;
    struct trace trace = {0};
    put(&trace, 0, EVENT_ENTER, -5, SEND)->site = 7;
    put(&trace, 0, EVENT_LEAVE, odd - 5, SEND);
    put(&trace, 0, EVENT_ENTER, odd, RECV)->comm = 1;
    put(&trace, 0, EVENT_LEAVE, odd + longest, RECV)->site = 9;
    call(&trace, 0, RECV, longest * 2, longest * 2 - 8);
    put(&trace, 0, EVENT_ENTER, longest * 3, WAITALL)->comm = EVENT_UNKNOWN;
    moment(&trace, 0, longest * 3 + odd + 1);
    struct graph *graph = graph_of(&trace, 1);
    struct call calls[4];
    for (uint32_t i = 0; i < 4; i++)
        calls[i] = graph_call(graph, 0, i);
    tap_equal_int(calls[0].enter_ns, -5, "enter before 0");
    tap_equal_int(calls[0].leave_ns, odd - 5, "the longest of the short calls");
    tap_equal_int(calls[0].state, SEND, "its function");
    tap_equal_int(calls[0].site, 7, "its site, given at its enter");
    tap_equal_int(calls[0].comm, 0, "its communicator");
    tap_equal_int(calls[1].leave_ns, odd + longest, "a call of an hour");
    tap_equal_int(calls[1].site, 9, "its site, given at its leave");
    tap_equal_int(calls[1].comm, 1, "a different communicator");
    tap_equal_int(calls[2].leave_ns, longest * 2, "no call is shorter than nothing");
    tap_equal_int(calls[2].site, 0, "a site that is not given");
    tap_equal_int(calls[3].leave_ns, longest * 3 + odd + 1, "a call that is not left ends with its location");
    tap_equal_int(calls[3].comm, EVENT_UNKNOWN, "a communicator that is not given");
    graph_free(graph);
}

static struct message message_at(const struct graph *graph, uint32_t location, uint32_t index, bool received)
{
    struct call call = graph_call(graph, location, index);
    uint32_t at = received ? call.received : call.sent;
    return at ? graph_message(graph, at - 1) : (struct message){.channel = GRAPH_NONE};
}

static void test_messages(void)
{
    static const int64_t sizes[] = {0, (INT64_C(1) << 31) - 1, INT64_C(1) << 31, INT64_C(1) << 40, BYTES_UNKNOWN};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    struct trace trace = {0};
    for (int64_t i = 0; i < SIZES; i++) {
        message(&trace, 0, SEND, 10 * i, 10 * i + 1, 1);
        trace.events[0][trace.count[0] - 2].bytes_sent = sizes[i];
        message(&trace, 1, RECV, 10 * i, 10 * i + 5, 0);
        trace.events[1][trace.count[1] - 2].bytes_received = i == 0 ? 77 : BYTES_UNKNOWN;
    }
    message(&trace, 1, RECV, 60, 65, 0);
    trace.events[1][trace.count[1] - 2].tag = 3;
    trace.events[1][trace.count[1] - 2].bytes_received = 5;
    struct graph *graph = graph_of(&trace, 2);
    /* Locations are numbered in order of occurrence: the last process first. */
    for (uint32_t i = 0; i < SIZES; i++) {
        struct message at = message_at(graph, 0, i, true);
        tap_ok(at.bytes == sizes[i], "message %u: its bytes are those of the send", i);
        tap_ok(at.send_location == 1 && at.send_call == i && at.receive_location == 0 && at.receive_call == i,
               "message %u: its ends", i);
    }
    struct message alone = message_at(graph, 0, SIZES, true);
    const struct channel *channel = &graph->channels[alone.channel];
    tap_ok(alone.send_location == GRAPH_NONE && alone.send_call == GRAPH_NONE && alone.receive_location == 0,
           "no sender");
    tap_equal_int(alone.bytes, 5, "bytes of a receive alone");
    tap_ok(channel->sender == 0 && channel->receiver == 1 && channel->comm == 0 && channel->tag == 3, "its channel");
    tap_equal_int((long long)graph->unmatched, 1, "unmatched");
    tap_equal_int((long long)graph->channel_count, 2, "two tags are two channels");
    graph_free(graph);
}

/* Threads of a process share the order of its messages; those inside collectives stand in no call. */
static void test_locations(void)
{
    struct trace trace = {0};
    for (uint32_t i = 0; i < 4; i++) {
        message(&trace, 0, SEND, 10 * i, 10 * i + 1, 1);
        message(&trace, 1, RECV, 10 * i, 10 * i + 5, 0);
        for (size_t k = 1; k <= 3; k++)
            trace.events[1][trace.count[1] - k].thread = i % 2;
    }
    put(&trace, 0, EVENT_ENTER, 90, BARRIER);
    put(&trace, 0, EVENT_SEND, 91, 0)->partner = 1;
    put(&trace, 0, EVENT_LEAVE, 99, BARRIER);
    put(&trace, 1, EVENT_ENTER, 90, BARRIER);
    put(&trace, 1, EVENT_RECEIVE, 95, 0)->partner = 0;
    put(&trace, 1, EVENT_LEAVE, 99, BARRIER);
    struct graph *graph = graph_of(&trace, 2);
    int right = 0;
    for (uint32_t i = 0; i < 4; i++) {
        struct message sent = message_at(graph, 2, i, false);
        right +=
            sent.receive_location == i % 2 && sent.receive_call == i / 2 && graph->locations[i % 2].thread == i % 2;
    }
    tap_equal_int(right, 4, "messages find the thread that receives them");
    struct call inside = graph_call(graph, 2, 4);
    tap_ok(inside.sent == 0 && inside.instance != 0, "messages inside collectives are nobody's");
    tap_equal_int((long long)graph->unmatched, 0, "but matched");
    tap_equal_int((long long)graph->message_count, 5, "and counted");
    graph_free(graph);
}

static void moved(struct trace *trace, uint32_t process, int64_t enter, int64_t leave, int64_t given, int64_t got)
{
    put(trace, process, EVENT_ENTER, enter, ALLREDUCE);
    struct event *event = put(trace, process, EVENT_COLLECTIVE, enter, 0);
    event->bytes_sent = given;
    event->bytes_received = got;
    put(trace, process, EVENT_LEAVE, leave, ALLREDUCE);
}

static void test_instances(void)
{
    struct trace trace = {0};
    moved(&trace, 0, 10, 40, 8, 8);
    moved(&trace, 1, 30, 41, 8, 0);
    moved(&trace, 2, 35, 36, 0, 8);
    call(&trace, 0, BARRIER, 50, 60);
    call(&trace, 1, BARRIER, 50, 60);
    call(&trace, 2, BARRIER, 50, 60);
    call(&trace, 0, BARRIER, 70, 80);
    call(&trace, 1, BARRIER, 70, 80);
    struct graph *graph = graph_of(&trace, 3);
    struct call first = graph_call(graph, 2, 0), second = graph_call(graph, 1, 0), third = graph_call(graph, 0, 0);
    const struct instance *instance = graph_instance(graph, &first);
    tap_ok(!first.gives_nothing && !first.gets_nothing, "bytes both ways");
    tap_ok(!second.gives_nothing && second.gets_nothing, "gets nothing");
    tap_ok(third.gives_nothing && !third.gets_nothing, "gives nothing");
    tap_equal_int(instance->latest_enter_ns, 30, "who gives nothing keeps nobody waiting");
    tap_equal_int(instance->latest_location, 1, "the latest of the others");
    tap_equal_int(instance->earliest_leave_ns, 36, "the first to leave is the first of all");
    tap_ok(instance->complete, "everyone takes part");
    struct call barrier = graph_call(graph, 2, 2);
    tap_ok(!graph_instance(graph, &barrier)->complete, "one process missed a barrier");
    graph_free(graph);
}

/* Which of the others keeps a process of an inter-communicator waiting is not in the order of the calls. */
static void test_inter(void)
{
    struct trace trace = {0};
    size_t capacity = 0;
    ARRAY_PUSH(defs->comm_rows, defs->comm_row_count, capacity, (struct comm_row){.id = 1, .kind = COMM_KIND_LOCAL});
    for (uint32_t p = 0; p < 2; p++) {
        put(&trace, p, EVENT_ENTER, 10 + p, BARRIER)->comm = 1;
        put(&trace, p, EVENT_LEAVE, 20, BARRIER)->comm = 1;
        call(&trace, p, BARRIER, 30 + p, 40);
    }
    struct graph *graph = graph_of(&trace, 2);
    struct call inter = graph_call(graph, 0, 0), intra = graph_call(graph, 0, 1);
    tap_ok(!graph_instance(graph, &inter)->complete, "a barrier of an inter-communicator proves nothing");
    tap_ok(graph_instance(graph, &intra)->complete, "one of the world does");
    graph_free(graph);
    free(defs->comm_rows);
    defs->comm_rows = NULL;
    defs->comm_row_count = 0;
}

/* Many calls, over blocks and chunks of the storage: clocks that jump far ahead and back, and times at its limits. */
static void test_many(void)
{
    static const int64_t steps[] = {3, 17179869183, 17179869184, 5, -7, 40000000000, -100000000000, 1};
    static const int64_t lengths[] = {2, 0, 2147483647, 2147483648, 60000000000};
    enum { CALLS = 7000, STEPS = sizeof steps / sizeof *steps, LENGTHS = sizeof lengths / sizeof *lengths };
    struct trace trace = {0};
    int64_t now = -1000000000, enters[CALLS], leaves[CALLS];
    for (size_t i = 0; i < CALLS; i++) {
        enters[i] = now += i < 300 ? 1 : steps[i % STEPS];
        leaves[i] = now + lengths[i % LENGTHS];
        call(&trace, 0, i % 3 ? SEND : BARRIER, enters[i], leaves[i]);
    }
    struct graph *graph = graph_of(&trace, 1);
    int right = 0;
    for (uint32_t i = 0; i < CALLS; i++) {
        struct call at = graph_call(graph, 0, i);
        right += at.enter_ns == enters[i] && at.leave_ns == leaves[i] &&
                 at.state == (uint32_t)(i % 3 ? SEND : BARRIER) && (at.instance != 0) == (i % 3 == 0);
    }
    tap_equal_int((long long)graph->locations[0].count, CALLS, "many calls");
    tap_equal_int(right, CALLS, "and each has its times");
    graph_free(graph);
}

/* Every call once, each location's in their order, and those of the two locations not one location after the other. */
static void test_sweep(void)
{
    enum { CALLS = 20000, PROCESSES = 3 };
    struct trace trace = {0};
    for (uint32_t p = 0; p < PROCESSES; p++)
        for (int64_t i = 0; i < CALLS; i++)
            call(&trace, p, SEND, p < 2 ? 10 * i : 5, p < 2 ? 10 * i + 3 : 9);
    struct graph *graph = graph_of(&trace, PROCESSES);
    struct sweep sweep = sweep_begin(graph);
    uint32_t next[PROCESSES] = {0}, location, from, to, ranges = 0;
    bool in_order = true;
    while (sweep_next(&sweep, &location, &from, &to)) {
        in_order &= from == next[location] && to > from;
        next[location] = to;
        ranges++;
    }
    tap_ok(in_order, "sweep: calls of a location come in their order");
    for (uint32_t i = 0; i < PROCESSES; i++)
        tap_equal_int(next[i], CALLS, "sweep: all of them");
    tap_ok(ranges > 2 * PROCESSES, "sweep: locations take turns");
    graph_free(graph);
    struct trace none = {0};
    graph = graph_of(&none, 0);
    sweep = sweep_begin(graph);
    tap_ok(!sweep_next(&sweep, &location, &from, &to), "sweep: no locations at all");
    graph_free(graph);
}

static int list_length(const struct graph *graph, uint32_t at, bool received)
{
    int length = 0;
    for (; at; at = received ? graph_next_received(graph, at - 1) : graph_next_sent(graph, at - 1))
        length++;
    return length;
}

/* Calls with messages of both directions, and several of each. */
static void test_ends(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 2; p++)
        for (int i = 0; i < 3; i++) {
            put(&trace, p, EVENT_ENTER, 10 * i, WAITALL);
            for (int k = 0; k < 2 * i; k++)
                put(&trace, p, k % 2 ? EVENT_SEND : EVENT_RECEIVE, 10 * i + k, 0)->partner = (int32_t)(1 - p);
            put(&trace, p, EVENT_LEAVE, 10 * i + 9, WAITALL);
        }
    struct graph *graph = graph_of(&trace, 2);
    for (uint32_t location = 0; location < 2; location++)
        for (uint32_t i = 0; i < 3; i++) {
            struct call at = graph_call(graph, location, i);
            tap_equal_int(list_length(graph, at.sent, false), i, "call %u: it sends as many", i);
            tap_equal_int(list_length(graph, at.received, true), i, "call %u: and receives them", i);
        }
    struct call last = graph_call(graph, 0, 2);
    struct message first = graph_message(graph, last.sent - 1);
    tap_ok(first.send_call == 2 && first.receive_call == 2, "the last that is sent stands first");
    graph_free(graph);
}

int main(void)
{
    defs_make();
    test_calls();
    for (int pooled = 0; pooled < 2; pooled++) {
        graph_pooled = pooled;
        test_many();
        test_sweep();
    }
    test_ends();
    test_messages();
    test_locations();
    test_instances();
    test_inter();
    defs_free(defs);
    return tap_done();
}
