/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in which a process does not wait for all: of neighbours, and on inter-communicators. Waits, path and
   replays of tiny runs, worked out by hand. */
#include "replay/analyse.h"
#include "replay/network.h"
#include "replay/replay.h"
#include "waits/critical_path.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

enum { LEFT = 2, RIGHT }; /* the two groups of an inter-communicator: processes 0 and 1, processes 2 and 3 */

/* All waits of a kind, by process, and by process what they wait for it. */
static void expect(const struct analysis *analysis, enum wait_kind kind, const int64_t *want_ns,
                   const int64_t *cause_ns, const char *name)
{
    const struct wait_sums *sums = &analysis->waits[kind];
    for (size_t i = 0; i < analysis->process_count; i++) {
        tap_equal_int(sums->victims_ns[i], want_ns[i], "%s: %s of process %zu", name, wait_kind_name(kind), i);
        tap_equal_int(sums->causes_ns[i], cause_ns[i], "%s: %s because of process %zu", name, wait_kind_name(kind), i);
    }
}
#define FOUR(...) ((const int64_t[]){__VA_ARGS__})

static int64_t replayed(const struct graph *graph, struct replay_options options)
{
    struct replay replay = replay_run(graph, options);
    tap_equal_int((long long)replay.forced, 0, "nobody is forced on");
    return replay.end_ns;
}

/* A ring: each waits for the process to its left, and not for the last of all. */
static void test_ring(void)
{
    static const int64_t enters[] = {10, 40, 20, 5}, leaves[] = {11, 41, 42, 22};
    struct trace trace = {0};
    for (uint32_t p = 0; p < 4; p++) {
        moment(&trace, p, 0);
        sources(&trace, p, 0, 1u << (p + 3) % 4);
        call(&trace, p, NEIGHBOR, enters[p], leaves[p]);
    }
    struct graph *graph = graph_of(&trace, 4);
    struct analysis *analysis = analyse(graph);
    expect(analysis, WAIT_AT_NXN, FOUR(0, 0, 20, 15), FOUR(0, 20, 15, 0), "ring");
    tap_equal_int(analysis->waits[WAIT_NXN_COMPLETION].ns, 0, "ring: no completion");
    tap_equal_int((long long)analysis->waits[WAIT_AT_NXN].calls, 4, "ring: calls");
    tap_equal_int((long long)analysis->partnerless, 0, "ring: all neighbours are known");
    tap_equal_int(analysis->replay, 42, "ring: as recorded");
    tap_equal_int(analysis->ideal, 40, "ring: calls take no time");
    tap_equal_int(analysis->path, 42, "ring: the path is the run");
    tap_equal_int(analysis->path_compute_ns[1], 40, "ring: the path goes over process 1");
    /* Locations are numbered from the last process: process 1 is location 2. At 20 both it and process 2 are there. */
    const double compute[] = {1, 1, 0.5, 1};
    tap_equal_int(replayed(graph, (struct replay_options){.compute = compute}), 22, "ring: process 1 in half the time");
    tap_equal_int(replayed(graph, (struct replay_options){.free_waits = 1u << WAIT_AT_NXN}), 41, "ring: without waits");
    /* One neighbour each: 7 after that has come, or oneself. */
    struct network network = {.latency_ns = 7};
    tap_equal_int(network_replay(graph, &network).end_ns, 47, "ring: on a network");
    analysis_free(analysis);
    graph_free(graph);
}

/* The latest of several; who gives nothing keeps nobody waiting, who gets nothing does not wait; oneself is nobody.
 */
static void test_several(void)
{
    static const int64_t enters[] = {10, 20, 30, 50};
    struct trace trace = {0};
    for (uint32_t p = 0; p < 4; p++) {
        moment(&trace, p, 0);
        sources(&trace, p, 0, p == 3 ? 1u << 3 : 0xF);
        call(&trace, p, NEIGHBOR, enters[p], p == 3 ? 51 : 52);
        put(&trace, p, EVENT_ENTER, 100 + enters[p], NEIGHBOR);
        struct event *leave = put(&trace, p, EVENT_LEAVE, 152, NEIGHBOR);
        leave->bytes_sent = p == 3 ? 0 : 8;
        leave->bytes_received = p == 1 ? 0 : 8;
    }
    struct graph *graph = graph_of(&trace, 4);
    struct analysis *analysis = analyse(graph);
    expect(analysis, WAIT_AT_NXN, FOUR(40 + 20, 30, 20, 0), FOUR(0, 0, 20, 90), "several");
    tap_equal_int(analysis->replay, 152, "several: as recorded");
    /* Process 3, location 0, in half the time: it enters at 25, process 2 at 30 is the last, all but 3 end at 32;
       process 2 comes again at 110 and needs 22. */
    const double compute[] = {0.5, 1, 1, 1};
    tap_equal_int(replayed(graph, (struct replay_options){.compute = compute}), 132,
                  "several: another neighbour is the last when this one is faster");
    analysis_free(analysis);
    graph_free(graph);
}

/* A process whose neighbours are not given, or not there, does not wait as far as one knows. */
static void test_unknown(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++) {
        moment(&trace, p, 0);
        if (p != 1)
            sources(&trace, p, 0, p == 0 ? 1u << 1 : 1u << 1 | 1u << 6);
        call(&trace, p, NEIGHBOR, 10 + 10 * (p == 1), 30);
    }
    struct graph *graph = graph_of(&trace, 3);
    struct analysis *analysis = analyse(graph);
    expect(analysis, WAIT_AT_NXN, FOUR(10, 0, 0), FOUR(0, 10, 0), "unknown");
    tap_equal_int((long long)analysis->partnerless, 2, "unknown: that is said of the two");
    tap_equal_int((long long)analysis->waits[WAIT_AT_NXN].calls, 1, "unknown: the other is looked at");
    tap_equal_int(analysis->replay, 30, "unknown: as recorded");
    struct network network = {.latency_ns = 5};
    tap_equal_int(network_replay(graph, &network).end_ns, 25, "unknown: on a network");
    analysis_free(analysis);
    graph_free(graph);
}

/* Non-blocking and persistent ones wait in the calls that complete them. */
static void test_requests(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++) {
        moment(&trace, p, 0);
        sources(&trace, p, 0, 1u << (p + 2) % 3);
        requesting(&trace, p, INEIGHBOR, 10 + 20 * (p == 1), 11 + 20 * (p == 1), 1);
        requesting(&trace, p, WAIT, 35 - 15 * (p == 2), 36, 1);
        requesting(&trace, p, NEIGHBOR_INIT, 40, 41, 2);
        requesting(&trace, p, START, p == 1 ? 70 : 50, p == 1 ? 71 : 51, 2);
        requesting(&trace, p, WAIT, p == 1 ? 72 : 52, p == 2 ? 74 : 73, 2);
    }
    struct graph *graph = graph_of(&trace, 3);
    struct analysis *analysis = analyse(graph);
    expect(analysis, WAIT_AT_NXN, FOUR(0, 0, 10 + 18), FOUR(0, 28, 0), "requests");
    tap_equal_int(analysis->replay, 74, "requests: as recorded");
    tap_equal_int(analysis->path_compute_ns[1], 30 + 4 + 4 + 29, "requests: the path goes over process 1");
    analysis_free(analysis);
    graph_free(graph);
}

/* The processes record which of the two groups they are in. */
static void make_sides(struct trace *trace)
{
    for (uint32_t p = 0; p < 4; p++) {
        moment(trace, p, 0);
        struct event *local = put(trace, p, EVENT_COMM_MADE, 0, 0);
        local->value = COMM_STEP_LOCAL;
        local->partner_comm = p < 2 ? LEFT : RIGHT;
        struct event *remote = put(trace, p, EVENT_COMM_MADE, 0, 0);
        remote->value = COMM_STEP_REMOTE;
        remote->partner_comm = p < 2 ? RIGHT : LEFT;
    }
}

static void across(struct trace *trace, uint32_t process, uint32_t state, int64_t enter, int64_t leave, int32_t root,
                   int64_t given, int64_t got)
{
    put(trace, process, EVENT_ENTER, enter, state)->comm = process < 2 ? LEFT : RIGHT;
    struct event *event = put(trace, process, EVENT_LEAVE, leave, state);
    event->comm = process < 2 ? LEFT : RIGHT;
    event->tag = root;
    event->bytes_sent = given;
    event->bytes_received = got;
}

/* All wait for the last of the other group: the last of all for the last of the others. */
static void test_all(void)
{
    struct trace trace = {0};
    make_sides(&trace);
    across(&trace, 0, ALLREDUCE, 10, 31, EVENT_UNKNOWN, 8, 8);
    across(&trace, 1, ALLREDUCE, 50, 51, EVENT_UNKNOWN, 8, 8);
    across(&trace, 2, ALLREDUCE, 20, 52, EVENT_UNKNOWN, 8, 8);
    across(&trace, 3, ALLREDUCE, 30, 53, EVENT_UNKNOWN, 8, 8);
    across(&trace, 0, BARRIER, 60, 81, EVENT_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN);
    across(&trace, 1, BARRIER, 70, 82, EVENT_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN);
    across(&trace, 2, BARRIER, 60, 71, EVENT_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN);
    across(&trace, 3, BARRIER, 80, 83, EVENT_UNKNOWN, BYTES_UNKNOWN, BYTES_UNKNOWN);
    struct graph *graph = graph_of(&trace, 4);
    struct analysis *analysis = analyse(graph);
    expect(analysis, WAIT_AT_NXN, FOUR(20, 0, 30, 20), FOUR(0, 50, 0, 20), "two groups");
    expect(analysis, WAIT_AT_BARRIER, FOUR(20, 10, 10, 0), FOUR(0, 10, 0, 30), "two groups");
    tap_equal_int(analysis->waits[WAIT_NXN_COMPLETION].ns + analysis->waits[WAIT_BARRIER_COMPLETION].ns, 0,
                  "two groups: no completion");
    tap_equal_int((long long)analysis->partnerless, 0, "two groups: both are known");
    tap_equal_int(analysis->replay, 83, "two groups: as recorded");
    tap_equal_int(analysis->path, 83, "two groups: the path is the run");
    /* Process 1, location 2, in half the time, is there at 25: process 0 waits until 30, the others need 2 and 3 more,
       and compute 8 and 27 before the barrier. */
    const double compute[] = {1, 1, 0.5, 1};
    tap_equal_int(replayed(graph, (struct replay_options){.compute = compute}), 63, "two groups: another is the last");
    analysis_free(analysis);
    graph_free(graph);
}

/* A library that collects in each group first: a process that ends after all have arrived waits for its own group, too.
 */
static void test_library(void)
{
    struct trace trace = {0};
    make_sides(&trace);
    across(&trace, 0, ALLREDUCE, 10, 52, EVENT_UNKNOWN, 8, 8);
    across(&trace, 1, ALLREDUCE, 50, 51, EVENT_UNKNOWN, 8, 8);
    across(&trace, 2, ALLREDUCE, 20, 53, EVENT_UNKNOWN, 8, 8);
    across(&trace, 3, ALLREDUCE, 30, 54, EVENT_UNKNOWN, 8, 8);
    struct graph *graph = graph_of(&trace, 4);
    struct analysis *analysis = analyse(graph);
    expect(analysis, WAIT_AT_NXN, FOUR(40, 0, 30, 20), FOUR(0, 90, 0, 0), "library");
    tap_equal_int(analysis->replay, 54, "library: as recorded");
    /* Process 1, location 2, in half the time, is there at 25: process 3 is the last, and needs 4. */
    const double compute[] = {1, 1, 0.5, 1};
    tap_equal_int(replayed(graph, (struct replay_options){.compute = compute}), 34, "library: another is the last");
    analysis_free(analysis);
    graph_free(graph);
}

/* The root gives to the other group and does not wait; those beside it take no part. Both ways. */
static void test_from_root(void)
{
    struct trace trace = {0};
    make_sides(&trace);
    across(&trace, 0, BCAST, 40, 41, ROOT_SELF, 8, 0);
    across(&trace, 1, BCAST, 5, 6, ROOT_BESIDE, 0, 0);
    across(&trace, 2, BCAST, 10, 42, 0, 0, 8);
    across(&trace, 3, BCAST, 45, 46, 0, 0, 8);
    across(&trace, 0, BCAST, 50, 71, 1, 0, 8);
    across(&trace, 1, BCAST, 60, 72, 1, 0, 8);
    across(&trace, 2, BCAST, 50, 51, ROOT_BESIDE, 0, 0);
    across(&trace, 3, BCAST, 70, 71, ROOT_SELF, 8, 0);
    struct graph *graph = graph_of(&trace, 4);
    struct analysis *analysis = analyse(graph);
    expect(analysis, WAIT_LATE_BROADCAST, FOUR(20, 10, 30, 0), FOUR(30, 0, 0, 30), "from a root");
    tap_equal_int((long long)analysis->rootless, 0, "from a root: it is known");
    tap_equal_int(analysis->replay, 72, "from a root: as recorded");
    /* Process 3, location 0, in half the time: broadcasts at 12 + 35 more, 36 and the other waits until then. */
    const double compute[] = {0.5, 1, 1, 1};
    tap_equal_int(replayed(graph, (struct replay_options){.compute = compute}), 62, "from a root: a faster one");
    analysis_free(analysis);
    graph_free(graph);
}

/* The root waits for the first of the other group, and ends after its last. */
static void test_to_root(void)
{
    struct trace trace = {0};
    make_sides(&trace);
    across(&trace, 0, REDUCE, 10, 61, ROOT_SELF, 0, 8);
    across(&trace, 1, REDUCE, 5, 6, ROOT_BESIDE, 0, 0);
    across(&trace, 2, REDUCE, 30, 31, 0, 8, 0);
    across(&trace, 3, REDUCE, 60, 61, 0, 8, 0);
    across(&trace, 0, REDUCE, 70, 71, 1, 8, 0);
    across(&trace, 1, REDUCE, 90, 91, 1, 8, 0);
    across(&trace, 2, REDUCE, 50, 51, ROOT_BESIDE, 0, 0);
    across(&trace, 3, REDUCE, 65, 92, ROOT_SELF, 0, 8);
    struct graph *graph = graph_of(&trace, 4);
    struct analysis *analysis = analyse(graph);
    expect(analysis, WAIT_EARLY_REDUCE, FOUR(20, 0, 0, 5), FOUR(0, 5, 0, 20), "to a root");
    tap_equal_int(analysis->replay, 92, "to a root: as recorded");
    analysis_free(analysis);
    graph_free(graph);
}

/* The other group's communicator is not recorded, or none of its members: nothing is known. */
static void test_other_not_known(void)
{
    for (int half = 0; half < 2; half++) {
        struct trace trace = {0};
        if (half)
            make_sides(&trace);
        for (uint32_t p = 0; p < (half ? 2 : 4); p++)
            across(&trace, p, ALLREDUCE, 10 + 10 * p, 50, EVENT_UNKNOWN, 8, 8);
        struct analysis *analysis;
        struct graph *graph = graph_of(&trace, 4);
        analysis = analyse(graph);
        tap_equal_int(analysis->waits[WAIT_AT_NXN].ns, 0, "no waits");
        tap_equal_int((long long)analysis->partnerless, half ? 2 : 4, "and that is said");
        analysis_free(analysis);
        graph_free(graph);
    }
}

int main(void)
{
    defs_make();
    for (uint32_t p = 0; p < 4; p++) {
        int32_t comm = defs_comm(defs, p < 2 ? LEFT : RIGHT);
        defs_set_member(defs, comm, (int32_t)p % 2, p);
        struct comm_row row = {.id = comm, .kind = COMM_KIND_LOCAL};
        ARRAY_PUSH(defs->comm_rows, defs->comm_row_count, defs->comm_row_capacity, row);
    }
    test_ring();
    test_several();
    test_unknown();
    test_requests();
    test_all();
    test_library();
    test_from_root();
    test_to_root();
    test_other_not_known();
    defs_free(defs);
    return tap_done();
}
