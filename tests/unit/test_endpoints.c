/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues at endpoints by hand: how long each queues, what is not a queue, the saving of a run without them; and the
   course of the waits. */
#include "replay/analyse.h"
#include "replay/replay.h"
#include "waits/endpoints.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

static struct analysis *analysed(struct trace *trace, uint32_t processes)
{
    struct graph *graph = graph_of(trace, processes);
    struct analysis *analysis = analyse(graph);
    graph_free(graph);
    return analysis;
}

static void expect(const struct analysis *analysis, const int64_t *want_ns, const char *name)
{
    int64_t sum = 0;
    for (size_t i = 0; i < analysis->process_count; i++) {
        tap_equal_int(analysis->contention.victims_ns[i], want_ns[i], "%s: queueing of process %zu", name, i);
        sum += want_ns[i];
    }
    tap_equal_int(analysis->contention.ns, sum, "%s: of all", name);
}
#define EXPECT(analysis, name, ...) expect(analysis, (const int64_t[]){__VA_ARGS__}, name)

/* Three send to process 0 at 10, 12 and 14; it takes the first at 30, works 20 on each, and takes the others at 50 and
   70: the second queues 20 for the first, the third 40 for both; before 30 none is served. */
static struct trace receivers(int64_t third_ns)
{
    struct trace trace = {0};
    moment(&trace, 0, 0);
    for (uint32_t p = 1; p < 4; p++) {
        message(&trace, 0, RECV, 10 + 20 * p, 11 + 20 * p, (int32_t)p);
        message(&trace, p, SSEND, p == 3 ? third_ns : 8 + 2 * p, 11 + 20 * p, 0);
        moment(&trace, p, 11 + 20 * p);
    }
    moment(&trace, 0, 91);
    return trace;
}

/* Without looking at calls: three others can make a queue, two cannot. */
static void test_possible(void)
{
    struct trace trace = receivers(14);
    struct graph *graph = graph_of(&trace, 4);
    tap_ok(queues_possible(graph, NULL), "three send to one: they may queue");
    bool senders[4];
    for (size_t i = 0; i < 4; i++)
        senders[i] = graph->locations[i].process != 0;
    tap_ok(!queues_possible(graph, senders), "but for none of the senders");
    graph_free(graph);
    trace = (struct trace){0};
    for (uint32_t p = 1; p < 3; p++) {
        message(&trace, 0, RECV, 10 + 20 * p, 11 + 20 * p, (int32_t)p);
        message(&trace, p, SSEND, 8 + 2 * p, 11 + 20 * p, 0);
    }
    graph = graph_of(&trace, 3);
    tap_ok(!queues_possible(graph, NULL), "two send to one: nobody queues");
    graph_free(graph);
}

static void test_receiving(void)
{
    struct trace trace = receivers(14);
    struct analysis *analysis = analysed(&trace, 4);
    EXPECT(analysis, "one receives", 0, 0, 20, 40);
    tap_equal_int(analysis->waits[WAIT_LATE_RECEIVER].ns, 20 + 38 + 56, "one receives: all waiting for it");
    tap_equal_int(analysis->contention.causes_ns[0], 60, "one receives: the process they queue for");
    tap_equal_int((int64_t)analysis->contention.count, 2, "one receives: two queue");
    tap_equal_int(analysis->contention.from_ns, 30, "one receives: from its first turn on");
    tap_equal_int(analysis->contention.to_ns, 70, "one receives: to its last");
    tap_equal_int(analysis->contention.saving_ns, 0, "one receives: it works as long without queues");
    analysis_free(analysis);
    /* The third arrives when the first is served: only the second waits then. */
    trace = receivers(31);
    analysis = analysed(&trace, 4);
    EXPECT(analysis, "two wait", 0, 0, 0, 0);
    analysis_free(analysis);
}

/* The same where the sends complete in a wait that is entered then; the third waits for `other` in it, too, which
   receives its message at 60. */
static struct trace completers(int32_t other)
{
    struct trace trace = {0};
    moment(&trace, 0, 0);
    for (uint32_t p = 1; p < 4; p++) {
        message(&trace, 0, RECV, 10 + 20 * p, 11 + 20 * p, (int32_t)p);
        message(&trace, p, ISSEND, 6, 7, 0);
        name_requests(&trace, p, 1, 1);
        if (p == 3 && other) {
            message(&trace, p, ISSEND, 8, 9, other);
            name_requests(&trace, p, 2, 1);
        }
        call(&trace, p, WAITALL, 8 + 2 * p, 11 + 20 * p);
        name_requests(&trace, p, 1, p == 3 && other ? 2 : 1);
    }
    moment(&trace, 4, 0);
    if (other)
        message(&trace, 4, RECV, 60, 61, 3);
    moment(&trace, 0, 91);
    return trace;
}

static void test_completing(void)
{
    struct trace trace = completers(0);
    struct analysis *analysis = analysed(&trace, 5);
    EXPECT(analysis, "sends are completed", 0, 0, 20, 40, 0);
    analysis_free(analysis);
    trace = completers(4);
    analysis = analysed(&trace, 5);
    EXPECT(analysis, "one waits for another until 60", 0, 0, 20, 10, 0);
    analysis_free(analysis);
}

/* Three receives are posted at 30, 50 and 70, and completed at the end: it turns to the senders when it posts. */
static void test_posting(void)
{
    struct trace trace = {0};
    moment(&trace, 0, 0);
    for (uint32_t p = 1; p < 4; p++) {
        call(&trace, 0, IRECV, 10 + 20 * p, 11 + 20 * p);
        name_requests(&trace, 0, p, 1);
        message(&trace, p, SSEND, 8 + 2 * p, 11 + 20 * p, 0);
    }
    for (uint32_t p = 1; p < 4; p++) {
        message(&trace, 0, WAIT, 79 + p, 80 + p, (int32_t)p);
        name_requests(&trace, 0, p, 1);
    }
    struct analysis *analysis = analysed(&trace, 4);
    EXPECT(analysis, "receives are posted", 0, 0, 20, 40);
    analysis_free(analysis);
}

/* Three processes queue for process 0, and continue for 100 when it has received their message. */
static void queue_of_three(struct trace *trace)
{
    for (uint32_t p = 1; p < 4; p++) {
        message(trace, 0, RECV, 10 + 20 * p, 11 + 20 * p, (int32_t)p);
        moment(trace, p, 0);
        message(trace, p, SSEND, 14, 11 + 20 * p, 0);
        moment(trace, p, 111 + 20 * p);
    }
    moment(trace, 0, 91);
}

/* The last ends 40 earlier if it need not queue. */
static void test_saving(void)
{
    struct trace trace = {0};
    moment(&trace, 0, 0);
    queue_of_three(&trace);
    struct analysis *analysis = analysed(&trace, 4);
    tap_equal_int(analysis->duration, 171, "work behind the queue: the run");
    tap_equal_int(analysis->contention.saving_ns, 40, "work behind the queue: what is saved");
    analysis_free(analysis);
}

/* The same, but process 0 does not work before 30: it waits until then to get rid of a message of its own. In another
   order nobody would have to wait for that either: 16 more. */
static void test_late_for_a_queue(void)
{
    struct trace trace = {0};
    moment(&trace, 0, 0);
    message(&trace, 0, SSEND, 10, 30, 4);
    moment(&trace, 4, 0);
    message(&trace, 4, RECV, 25, 30, 0);
    queue_of_three(&trace);
    struct analysis *analysis = analysed(&trace, 5);
    EXPECT(analysis, "late for a queue: only what is proven", 0, 0, 20, 40, 0);
    tap_equal_int(analysis->contention.saving_ns, 56, "late for a queue: what is saved");
    analysis_free(analysis);
}

/* Three ask at 10 and wait for the answer; process 0 takes the requests at 20, 40, 60, works 19 on each and answers. */
static struct trace servers(bool waits_between)
{
    struct trace trace = {0};
    int64_t at = 20;
    moment(&trace, 0, 0);
    for (uint32_t p = 1; p < 4; p++) {
        message(&trace, p, SEND, 10, 11, 0);
        message(&trace, 0, RECV, at, at + 1, (int32_t)p);
        message(&trace, 0, SEND, at + 19, at + 20, (int32_t)p);
        message(&trace, p, RECV, 11, at + 20, 0);
        at += 20;
        if (waits_between && p == 1) {
            /* Something of process 4, 30 later. */
            message(&trace, 0, RECV, at, at + 30, 4);
            message(&trace, 4, SEND, at + 29, at + 30, 0);
            at += 30;
        }
    }
    for (uint32_t p = 0; p < 5; p++)
        moment(&trace, p, 120);
    return trace;
}

static void test_answering(void)
{
    struct trace trace = servers(false);
    struct analysis *analysis = analysed(&trace, 5);
    EXPECT(analysis, "one answers", 0, 0, 20, 40, 0);
    analysis_free(analysis);
    /* Its own wait of 29 for process 4 is nobody's queue; the call's own 1 is. */
    trace = servers(true);
    analysis = analysed(&trace, 5);
    EXPECT(analysis, "one waits itself", 0, 0, 21, 41, 0);
    analysis_free(analysis);
}

/* One that is late, and sends to three in a row without being asked: what it did before is no queue, and its work for
   each may be since the one before. */
static void test_sending(void)
{
    struct trace trace = {0};
    moment(&trace, 0, 0);
    for (uint32_t p = 1; p < 4; p++) {
        message(&trace, 0, SEND, 80 + 10 * p, 82 + 10 * p, (int32_t)p);
        moment(&trace, p, 0);
        message(&trace, p, RECV, 5, 83 + 10 * p, 0);
    }
    struct analysis *analysis = analysed(&trace, 4);
    EXPECT(analysis, "one sends", 0, 0, 0, 10);
    analysis_free(analysis);
}

/* Parts of the course add up to the waits, whatever the waits are. */
static void test_course(void)
{
    struct trace trace = {0};
    run_make(&trace, 5);
    struct analysis *analysis = analysed(&trace, 5);
    bool good = true;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++) {
        int64_t sum = 0;
        for (size_t bin = 0; bin < COURSE_BINS; bin++)
            sum += analysis->waits[kind].course_ns[bin];
        good &= sum == analysis->waits[kind].ns;
    }
    tap_ok(good, "the course of each kind adds up to its waits");
    int64_t waiting_ns[COURSE_BINS], waiting = 0, all = 0;
    analysis_waiting_course(analysis, waiting_ns);
    for (size_t bin = 0; bin < COURSE_BINS; bin++)
        waiting += waiting_ns[bin];
    for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++)
        all += analysis->waits[kind].ns;
    tap_ok(waiting > 0 && waiting == all, "all waiting is there");
    analysis_free(analysis);
}

/* A run of 1280: each part lasts 10. A wait from 105 to 125, and a call that continues by itself until 131. */
static void test_parts(void)
{
    struct trace trace = {0};
    moment(&trace, 0, 0);
    moment(&trace, 1, 0);
    message(&trace, 0, RECV, 105, 131, 1);
    message(&trace, 1, SEND, 125, 126, 0);
    moment(&trace, 0, 1280);
    moment(&trace, 1, 1280);
    struct analysis *analysis = analysed(&trace, 2);
    const int64_t *wait_ns = analysis->waits[WAIT_LATE_SENDER].course_ns, *own_ns = analysis->own_course_ns[RECV];
    tap_equal_int(wait_ns[10], 5, "the first part of the wait");
    tap_equal_int(wait_ns[11], 10, "the part in the middle");
    tap_equal_int(wait_ns[12], 5, "the last part");
    tap_equal_int(wait_ns[9] + wait_ns[13], 0, "nothing beside");
    tap_ok(own_ns && own_ns[12] == 5 && own_ns[13] == 1, "the call's own time begins where the wait ends");
    tap_ok(!analysis->own_course_ns[BARRIER], "what is not called has no course");
    analysis_free(analysis);
}

static void test_edges(void)
{
    tap_equal_int(course_edge(1000, 0), 0, "the first part begins at 0");
    tap_equal_int(course_edge(1000, COURSE_BINS), 1000, "the last ends with the run");
    tap_equal_int(course_edge(INT64_MAX, COURSE_BINS), INT64_MAX, "of the longest run, too");
    int64_t course_ns[COURSE_BINS] = {0}, sum = 0;
    struct course_edges edges = course_edges_of(100);
    course_add(course_ns, &edges, course_bin(&edges, 0, 3), 3, 99);
    for (size_t bin = 0; bin < COURSE_BINS; bin++)
        sum += course_ns[bin];
    tap_equal_int(sum, 96, "a run shorter than its parts: nothing is lost");
    edges = course_edges_of(0);
    course_add(course_ns, &edges, course_bin(&edges, 5, 0), 0, 0);
    tap_equal_int((int64_t)course_bin(&edges, 5, 0), COURSE_BINS - 1, "a run without time is in its last part");
}

int main(void)
{
    defs_make();
    test_possible();
    test_receiving();
    test_saving();
    test_late_for_a_queue();
    test_completing();
    test_posting();
    test_answering();
    test_sending();
    test_course();
    test_parts();
    test_edges();
    defs_free(defs);
    return tap_done();
}
