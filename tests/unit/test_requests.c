/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking and persistent messages by hand: which call posts the operation that another call completes, and which
   process waits for it. */
#include "replay/analyse.h"
#include "replay/replay.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

/* A call with a message to or from the partner, or none (-1), with these requests from `number` on. */
static void naming(struct trace *trace, uint32_t process, uint32_t state, int64_t enter, int64_t leave, int32_t partner,
                   uint32_t number, uint32_t count)
{
    if (partner >= 0)
        message(trace, process, state, enter, leave, partner);
    else
        call(trace, process, state, enter, leave);
    name_requests(trace, process, number, count);
}

/* An end of a message in the last call, before its leave. */
static void more(struct trace *trace, uint32_t process, enum event_kind kind, int32_t partner)
{
    size_t last = trace->count[process] - 1;
    struct event leave = trace->events[process][last];
    trace->count[process] = last;
    struct event *event = put(trace, process, kind, leave.time_ns, 0);
    event->partner = partner;
    event->tag = 0;
    *put(trace, process, EVENT_LEAVE, leave.time_ns, leave.state) = leave;
}

/* All processes begin at 0. */
static void begin(struct trace *trace, uint32_t processes)
{
    for (uint32_t p = 0; p < processes; p++)
        moment(trace, p, 0);
}

static void expect_waits(struct trace *trace, uint32_t processes, enum wait_kind kind, const int64_t *want_ns,
                         const char *name)
{
    struct graph *graph = graph_of(trace, processes);
    struct analysis *analysis = analyse(graph);
    int64_t sum = 0;
    for (uint32_t p = 0; p < processes; p++) {
        tap_equal_int(analysis->waits[kind].victims_ns[p], want_ns[p], "%s: process %u", name, p);
        sum += want_ns[p];
    }
    tap_equal_int(analysis->waits[kind].ns, sum, "%s: all", name);
    tap_equal_int(analysis->replay, analysis->duration, "%s: the replay is the run", name);
    tap_equal_int(analysis->path, analysis->duration, "%s: the path is as long as the run", name);
    analysis_free(analysis);
    graph_free(graph);
}
#define EXPECT(trace, processes, kind, name, ...)                                                                      \
    expect_waits(trace, processes, kind, (const int64_t[]){__VA_ARGS__}, name)

/* Process 0 sends, and waits in MPI_Wait until process 1 has posted its receive. */
static void late_post(struct trace *trace, int64_t done, int64_t posted)
{
    begin(trace, 2);
    naming(trace, 0, ISSEND, 5, 6, 1, 1, 1);
    naming(trace, 0, WAIT, 10, done, -1, 1, 1);
    naming(trace, 1, IRECV, posted, posted + 1, -1, 7, 1);
    naming(trace, 1, WAIT, posted + 2, 60, 0, 7, 1);
    moment(trace, 0, 100);
}

static void test_late_post(void)
{
    struct trace trace = {0};
    late_post(&trace, 53, 50);
    moment(&trace, 1, 70);
    struct graph *graph = graph_of(&trace, 2);
    struct analysis *analysis = analyse(graph);
    const struct wait_sums *sums = &analysis->waits[WAIT_LATE_RECEIVER];
    tap_equal_int(sums->victims_ns[0], 40, "late post: from the enter of MPI_Wait to that of MPI_Irecv");
    tap_equal_int(sums->ns, 40, "late post: nobody else waits");
    tap_equal_int(sums->states_ns[WAIT], 40, "late post: in MPI_Wait");
    tap_equal_int(sums->cause_states_ns[IRECV], 40, "late post: for MPI_Irecv");
    tap_equal_int(sums->causes_ns[1], 40, "late post: of process 1");
    tap_equal_int((long long)sums->calls, 1, "late post: MPI_Issend itself cannot wait");
    tap_equal_int(analysis->waits[WAIT_LATE_SENDER].ns, 0, "late post: no late sender");
    tap_equal_int(analysis->delay_ns[1], 40, "late post: process 1 delays");
    tap_equal_int(analysis->replay, 100, "late post: replay");
    tap_equal_int(analysis->path_compute_ns[1], 50, "late post: the path goes over process 1");
    struct replay_options options = {.free_waits = 1u << WAIT_LATE_RECEIVER};
    tap_equal_int(replay_run(graph, options).end_ns, 70, "late post: in time, process 1 ends last");
    tap_equal_int((long long)graph->link_count, 1, "late post: one message has links");
    analysis_free(analysis);
    graph_free(graph);
    late_post(&trace, 12, 50);
    EXPECT(&trace, 2, WAIT_LATE_RECEIVER, "an eager send", 0, 0);
    late_post(&trace, 61, 8);
    EXPECT(&trace, 2, WAIT_LATE_RECEIVER, "posted in time", 0, 0);
}

/* Two receivers: the later one counts, once. Process 2 receives in a blocking call. */
static void test_waitall(void)
{
    struct trace trace = {0};
    begin(&trace, 3);
    naming(&trace, 0, ISSEND, 5, 6, 1, 1, 1);
    naming(&trace, 0, ISSEND, 7, 8, 2, 2, 1);
    naming(&trace, 0, WAITALL, 10, 53, -1, 1, 2);
    naming(&trace, 1, IRECV, 30, 31, -1, 1, 1);
    naming(&trace, 1, WAIT, 32, 54, 0, 1, 1);
    message(&trace, 2, RECV, 50, 55, 0);
    EXPECT(&trace, 3, WAIT_LATE_RECEIVER, "the latest of two", 40, 0, 0);
    begin(&trace, 3);
    /* The same requests in other calls, and recorded as marks, in another order. */
    naming(&trace, 0, ISSEND, 5, 6, 1, 1, 1);
    naming(&trace, 0, ISSEND, 7, 8, 2, 5, 1);
    put(&trace, 0, EVENT_ENTER, 10, WAITALL);
    request(&trace, 0, 53, 5);
    put(&trace, 0, EVENT_LEAVE, 53, WAITALL);
    name_requests(&trace, 0, 1, 1);
    message(&trace, 1, RECV, 30, 54, 0);
    message(&trace, 2, RECV, 50, 55, 0);
    EXPECT(&trace, 3, WAIT_LATE_RECEIVER, "named by mark and leave", 40, 0, 0);
}

/* The posts of several receives: which is which follows from the order in which they complete. */
static void test_posts(void)
{
    struct trace trace = {0};
    begin(&trace, 3);
    naming(&trace, 0, IRECV, 20, 21, -1, 1, 1); /* from 1 */
    naming(&trace, 0, IRECV, 40, 41, -1, 2, 1); /* from 2 */
    put(&trace, 0, EVENT_ENTER, 50, WAITALL);
    put(&trace, 0, EVENT_LEAVE, 60, WAITALL);
    name_requests(&trace, 0, 1, 2);
    more(&trace, 0, EVENT_RECEIVE, 1);
    more(&trace, 0, EVENT_RECEIVE, 2);
    message(&trace, 1, SSEND, 10, 61, 0);
    message(&trace, 2, SSEND, 10, 62, 0);
    EXPECT(&trace, 3, WAIT_LATE_RECEIVER, "two posts", 0, 10, 30);
    begin(&trace, 3);
    /* One of them is not in the trace: which request it was is not known. */
    naming(&trace, 0, IRECV, 20, 21, -1, 1, 1);
    naming(&trace, 0, IRECV, 40, 41, -1, 2, 1);
    naming(&trace, 0, WAITALL, 50, 60, 2, 1, 2);
    message(&trace, 1, SSEND, 10, 61, 0);
    message(&trace, 2, SSEND, 10, 62, 0);
    EXPECT(&trace, 3, WAIT_LATE_RECEIVER, "a receive is missing", 0, 0, 0);
}

/* MPI_Start posts, again and again. */
static void test_persistent(void)
{
    struct trace trace = {0};
    begin(&trace, 2);
    naming(&trace, 0, SEND_INIT, 1, 2, -1, 1, 1);
    naming(&trace, 1, RECV_INIT, 1, 2, -1, 1, 1);
    for (int64_t now = 100; now < 300; now += 100) {
        naming(&trace, 0, START, now, now + 1, 1, 1, 1);
        naming(&trace, 0, WAIT, now + 10, now + 52, -1, 1, 1);
        naming(&trace, 1, START, now + 50, now + 51, -1, 1, 1);
        naming(&trace, 1, WAIT, now + 51, now + 53, 0, 1, 1);
    }
    /* MPI_Start has the direction of a send: that of process 1 must not have one. */
    EXPECT(&trace, 2, WAIT_LATE_RECEIVER, "persistent", 80, 0);
}

/* A persistent broadcast: root and bytes are recorded when it is prepared. Process 2 receives nothing. */
static void test_persistent_root(void)
{
    struct trace trace = {0};
    begin(&trace, 3);
    for (uint32_t p = 0; p < 3; p++) {
        requesting(&trace, p, BCAST_INIT, 1, 2, 4);
        struct event *leave = &trace.events[p][trace.count[p] - 1];
        leave->tag = 1;
        leave->bytes_sent = p == 1 ? 8 : 0;
        leave->bytes_received = p == 0 ? 8 : 0;
        for (int64_t now = 100; now < 300; now += 100) {
            naming(&trace, p, START, now + (p == 1 ? 50 : 0), now + (p == 1 ? 51 : 1), -1, 4, 1);
            naming(&trace, p, WAIT, now + (p == 1 ? 52 : 10), now + 60, -1, 4, 1);
        }
    }
    EXPECT(&trace, 3, WAIT_LATE_BROADCAST, "a persistent broadcast", 80, 0, 0);
}

static void test_both_ways(void)
{
    struct trace trace = {0};
    begin(&trace, 2);
    for (uint32_t p = 0; p < 2; p++) {
        int64_t enter = p ? 40 : 10;
        naming(&trace, p, ISENDRECV, enter, enter + 1, (int32_t)!p, 3, 1);
        naming(&trace, p, WAIT, enter + 2, 50, (int32_t)!p, 3, 1);
    }
    EXPECT(&trace, 2, WAIT_LATE_SENDER, "sent and received", 28, 0);
}

/* A receive is posted by one thread and completed by another; so is a send. */
static void test_threads(void)
{
    struct trace trace = {0};
    begin(&trace, 2);
    naming(&trace, 0, ISSEND, 5, 6, 1, 1, 1);
    naming(&trace, 0, WAIT, 10, 53, -1, 1, 1);
    naming(&trace, 1, IRECV, 50, 51, -1, 7, 1);
    naming(&trace, 1, WAIT, 52, 60, 0, 7, 1);
    for (uint32_t p = 0; p < 2; p++)
        for (size_t i = 2; i < trace.count[p]; i++)
            trace.events[p][i].thread = trace.events[p][i].time_ns >= (p ? 52 : 10);
    struct graph *graph = graph_of(&trace, 2);
    struct analysis *analysis = analyse(graph);
    tap_equal_int(analysis->waits[WAIT_LATE_RECEIVER].victims_ns[0], 40, "threads: the wait is the same");
    tap_equal_int((long long)graph->far_posts.count, 1, "threads: the post is of another location");
    tap_equal_int(analysis->replay, analysis->duration, "threads: replay");
    analysis_free(analysis);
    graph_free(graph);
}

/* Numbers that were never assigned, or are reused, ranges without end, ends of messages that come too late. */
static void test_nonsense(void)
{
    struct trace trace = {0};
    begin(&trace, 2);
    naming(&trace, 0, WAITALL, 1, 2, -1, 1, 1000);
    naming(&trace, 0, ISSEND, 5, 6, 1, 1, UINT32_MAX);
    naming(&trace, 0, ISSEND, 7, 8, 1, 1, 1000); /* a call posts one */
    naming(&trace, 0, WAIT, 10, 53, -1, 1, 1000);
    naming(&trace, 0, WAIT, 54, 58, -1, 1, 1);
    message(&trace, 1, RECV, 20, 59, 0);
    message(&trace, 1, RECV, 59, 60, 0);
    EXPECT(&trace, 2, WAIT_LATE_RECEIVER, "nonsense", 0, 0);
    begin(&trace, 2);
    naming(&trace, 0, ISSEND, 5, 6, 1, 1, 1);
    naming(&trace, 0, WAIT, 10, 53, -1, 1, 1);
    put(&trace, 0, EVENT_SEND, 54, 0)->partner = 1; /* in no call: it counts to the last one */
    trace.events[0][trace.count[0] - 1].tag = 0;
    message(&trace, 1, RECV, 50, 59, 0);
    message(&trace, 1, RECV, 59, 60, 0);
    struct graph *graph = graph_of(&trace, 2);
    for (size_t i = 0; i < graph->link_count; i++)
        tap_equal_int(graph->links[i].next_completed, 0, "a send that comes late: no link is left");
    graph_free(graph);
}

int main(void)
{
    defs_make();
    test_late_post();
    test_waitall();
    test_posts();
    test_persistent();
    test_persistent_root();
    test_both_ways();
    test_threads();
    test_nonsense();
    defs_free(defs);
    return tap_done();
}
