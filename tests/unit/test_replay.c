/* SPDX-License-Identifier: BSD-3-Clause */
/* Wait states, critical path and replays: tiny traces whose every number is known, and random ones that must keep the
   laws. The examples A, B and D are those of the rules of diagnosis. */
#include "replay/analyse.h"
#include "replay/replay.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

#include <math.h>

static struct analysis *analysed(struct trace *trace, uint32_t processes)
{
    struct graph *graph = graph_of(trace, processes);
    struct analysis *analysis = analyse(graph);
    graph_free(graph);
    return analysis;
}

static void expect_wait(const struct analysis *analysis, enum wait_kind kind, uint32_t process, int64_t want,
                        const char *name)
{
    tap_equal_int(analysis->waits[kind].victims_ns[process], want, "%s: %s of process %u", name, wait_kind_name(kind),
                  process);
}

/* Example A1, followed by the work of example B: a chain of late senders, then Finalize. */
static void test_chain(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++)
        moment(&trace, p, 0);
    message(&trace, 0, SEND, 60, 62, 1);
    call(&trace, 0, FINALIZE, 80, 102);
    message(&trace, 1, RECV, 15, 63, 0);
    message(&trace, 1, SEND, 75, 77, 2);
    call(&trace, 1, FINALIZE, 77, 102);
    message(&trace, 2, RECV, 15, 78, 1);
    call(&trace, 2, FINALIZE, 102, 102);
    struct analysis *analysis = analysed(&trace, 3);
    expect_wait(analysis, WAIT_LATE_SENDER, 1, 45, "chain");
    expect_wait(analysis, WAIT_LATE_SENDER, 2, 60, "chain");
    expect_wait(analysis, WAIT_AT_FINALIZE, 0, 22, "chain");
    expect_wait(analysis, WAIT_AT_FINALIZE, 1, 25, "chain");
    tap_equal_int(analysis->waits[WAIT_LATE_SENDER].causes_ns[0], 45, "chain: process 0 is waited for 45");
    tap_equal_int(analysis->waits[WAIT_LATE_SENDER].causes_ns[1], 60, "chain: process 1 is waited for 60");
    tap_equal_int(analysis->waits[WAIT_LATE_SENDER].longest_ns, 60, "chain: the longest wait");
    tap_equal_int(analysis->path, 102, "chain: the critical path is as long as the run");
    tap_equal_int(analysis->path_compute_ns[0], 60, "chain: path on process 0, computing");
    tap_equal_int(analysis->path_mpi_ns[0], 0, "chain: its send is not on the path");
    tap_equal_int(analysis->path_compute_ns[1], 12, "chain: path on process 1, computing");
    tap_equal_int(analysis->path_mpi_ns[1], 3, "chain: path on process 1, the receive without its wait");
    tap_equal_int(analysis->path_compute_ns[2], 24, "chain: path on process 2, computing");
    tap_equal_int(analysis->path_states_ns[RECV], 6, "chain: receives on the path");
    tap_equal_int(analysis->replay, 102, "chain: a replay with nothing changed");
    analysis_free(analysis);
}

/* Example D: the ideal network, and what POP makes of it. */
static void test_ideal(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++)
        moment(&trace, p, 0);
    message(&trace, 0, SEND, 10, 12, 1);
    moment(&trace, 0, 26);
    message(&trace, 1, RECV, 5, 22, 0);
    message(&trace, 1, SEND, 32, 34, 2);
    moment(&trace, 1, 39);
    message(&trace, 2, RECV, 6, 44, 1);
    moment(&trace, 2, 54);
    struct analysis *analysis = analysed(&trace, 3);
    tap_equal_int(analysis->replay, 54, "ideal: as recorded");
    tap_equal_int(analysis->ideal, 30, "ideal: on the ideal network");
    tap_ok(fabs(analysis->load_balance - 20.0 / 24) < 1e-12, "ideal: load balance");
    tap_ok(fabs(analysis->serialisation - 24.0 / 30) < 1e-12, "ideal: serialisation");
    tap_ok(fabs(analysis->transfer - 30.0 / 54) < 1e-12, "ideal: transfer");
    tap_ok(fabs(analysis->load_balance * analysis->serialisation * analysis->transfer - 20.0 / 54) < 1e-12,
           "ideal: the product is mean computing / duration");
    analysis_free(analysis);
}

/* Example A3's barrier: enters 10, 20, 40, 30. */
static void test_barrier(void)
{
    static const int64_t enters[] = {10, 20, 40, 30};
    struct trace trace = {0};
    for (uint32_t p = 0; p < 4; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BARRIER, enters[p], 41);
        moment(&trace, p, 50);
    }
    struct analysis *analysis = analysed(&trace, 4);
    for (uint32_t p = 0; p < 4; p++)
        expect_wait(analysis, WAIT_AT_BARRIER, p, 40 - enters[p], "barrier");
    tap_equal_int(analysis->waits[WAIT_AT_BARRIER].causes_ns[2], 60, "barrier: process 2 is waited for");
    tap_equal_int(analysis->path_compute_ns[2], 40, "barrier: the path goes over process 2");
    tap_equal_int(analysis->replay, 50, "barrier: replay");
    /* Process 2 continues at 41 with the barrier free, as before: only the others are faster. */
    tap_equal_int(analysis->waits[WAIT_AT_BARRIER].saving_ns, 0, "barrier: leaving it out saves nothing here");
    /* Computing 19, 29, 49, 39 becomes 34 each: of the 15 and 5 before the barrier, processes 0 and 1 take 20. */
    tap_equal_int(analysis->balanced_saving, 15, "barrier: what even work saves");
    /* Computing 25 each before it, and 9 after it. */
    tap_equal_int(analysis->even_sections_saving, 15, "barrier: what work saves that is even before it and behind it");
    /* The barrier itself is 1 of the critical path's 50. */
    tap_equal_int(analysis->own_saving, 1, "barrier: what a barrier of no time but waiting saves");
    analysis_free(analysis);
}

static void test_rooted(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++)
        moment(&trace, p, 0);
    rooted(&trace, 0, BCAST, 5, 21, 1);
    rooted(&trace, 1, BCAST, 20, 21, 1);
    rooted(&trace, 2, BCAST, 30, 31, 1);
    rooted(&trace, 0, REDUCE, 50, 50, 2);
    rooted(&trace, 1, REDUCE, 60, 61, 2);
    rooted(&trace, 2, REDUCE, 40, 62, 2);
    struct analysis *analysis = analysed(&trace, 3);
    expect_wait(analysis, WAIT_LATE_BROADCAST, 0, 15, "rooted");
    expect_wait(analysis, WAIT_LATE_BROADCAST, 1, 0, "rooted");
    expect_wait(analysis, WAIT_LATE_BROADCAST, 2, 0, "rooted");
    expect_wait(analysis, WAIT_EARLY_REDUCE, 2, 10, "rooted");
    tap_equal_int(analysis->replay, 62, "rooted: replay");
    tap_equal_int((long long)analysis->rootless, 0, "rooted: all roots are known");
    analysis_free(analysis);
    call(&trace, 0, BCAST, 5, 21);
    call(&trace, 1, BCAST, 20, 21);
    analysis = analysed(&trace, 2);
    expect_wait(analysis, WAIT_LATE_BROADCAST, 0, 0, "no root is made up");
    tap_equal_int((long long)analysis->rootless, 2, "roots that are not known are counted");
    analysis_free(analysis);
}

/* Three processes compute until 20, 10 and 90 and reduce; they leave at 95, `leave_1` and 92, and end at `end_0`, 100
   and 92. Process 1 arrived first, so none waits by Scalasca's definition. */
static struct analysis *reduced(int32_t root, int64_t leave_1, int64_t end_0)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++)
        moment(&trace, p, 0);
    rooted(&trace, 0, REDUCE, 20, 95, root);
    rooted(&trace, 1, REDUCE, 10, leave_1, root);
    rooted(&trace, 2, REDUCE, 90, 92, root);
    moment(&trace, 0, end_0);
    moment(&trace, 1, 100);
    struct analysis *analysis = analysed(&trace, 3);
    expect_wait(analysis, WAIT_EARLY_REDUCE, 0, 0, "reduction");
    tap_equal_int(analysis->path, end_0 > 100 ? end_0 : 100, "reduction: the path is as long as the run");
    tap_equal_int(analysis->replay, end_0 > 100 ? end_0 : 100, "reduction: replay");
    return analysis;
}

/* A process that stays in a reduction until the last one arrives needs its data. */
static void test_reduction_tree(void)
{
    struct analysis *analysis = reduced(0, 12, 105);
    tap_equal_int(analysis->path_compute_ns[0], 10, "root of a reduction: its computing on the path is what follows");
    expect_wait(analysis, WAIT_IN_REDUCTION, 0, 70, "root of a reduction");
    expect_wait(analysis, WAIT_IN_REDUCTION, 1, 0, "root of a reduction");
    tap_equal_int(analysis->path_mpi_ns[0], 5, "root of a reduction: the path goes to the last");
    tap_equal_int(analysis->path_compute_ns[2], 90, "root of a reduction: whose computing is on it");
    tap_equal_int(analysis->ideal, 100, "root of a reduction: ideal, 90 and 10");
    analysis_free(analysis);
    for (int known = 0; known <= 1; known++) {
        analysis = reduced(known ? 0 : EVENT_UNKNOWN, 94, 95);
        tap_equal_int(analysis->path_compute_ns[1], 6, "who stays in a reduction, root known %d: its computing", known);
        expect_wait(analysis, WAIT_IN_REDUCTION, 1, 80, "who stays in a reduction");
        tap_equal_int(analysis->path_mpi_ns[1], 4, "who stays in a reduction, root %d: the path goes to the last",
                      known);
        tap_equal_int(analysis->path_compute_ns[2], 90, "who stays in a reduction, root known %d: its computing",
                      known);
        tap_equal_int(analysis->ideal, 90, "who stays in a reduction, root known %d: no tree on the ideal network",
                      known);
        /* Computing 20, 16, 90 becomes 42 each: process 2 comes at 42, and process 1, which leaves 4 later, ends at 52.
         */
        tap_equal_int(analysis->balanced_saving, 48, "who stays in a reduction, root known %d: what even work saves",
                      known);
        analysis_free(analysis);
    }
    analysis = reduced(EVENT_UNKNOWN, 89, 95);
    tap_equal_int(analysis->path_mpi_ns[1], 79, "who leaves before the last: the call is its own time");
    tap_equal_int(analysis->path_compute_ns[2], 0, "who leaves before the last: the path stays");
    analysis_free(analysis);
}

/* Without the time in the reduction nobody stays in it for the last: process 1 leaves at 2, whenever process 2 comes.
 */
static void test_left_reduction(void)
{
    struct trace trace = {0};
    double compute[3];
    for (uint32_t p = 0; p < 3; p++)
        moment(&trace, p, 0);
    rooted(&trace, 0, REDUCE, 10, 41, 0);
    rooted(&trace, 1, REDUCE, 1, 41, 0);
    rooted(&trace, 2, REDUCE, 40, 41, 0);
    moment(&trace, 1, 141);
    struct graph *graph = graph_of(&trace, 3);
    for (size_t i = 0; i < 3; i++)
        compute[i] = graph->locations[i].process == 2 ? 2 : 1;
    struct replay replays[2];
    replay_run_all(
        graph,
        (struct replay_options[]){{.compute = compute}, {.free_waits = 1u << WAIT_IN_REDUCTION, .compute = compute}}, 2,
        1, replays);
    tap_equal_int(replays[0].end_ns, 181, "a reduction whose last comes at 80: process 1 stays for it");
    tap_equal_int(replays[1].end_ns, 102, "and without that time it does not");
    graph_free(graph);
}

static void test_late_receiver(void)
{
    struct trace trace = {0};
    message(&trace, 0, SSEND, 0, 12, 1);
    message(&trace, 1, RECV, 10, 12, 0);
    message(&trace, 0, SEND, 20, 21, 1);
    message(&trace, 1, RECV, 30, 31, 0);
    struct analysis *analysis = analysed(&trace, 2);
    expect_wait(analysis, WAIT_LATE_RECEIVER, 0, 10, "late receiver");
    expect_wait(analysis, WAIT_LATE_SENDER, 1, 0, "late receiver");
    tap_equal_int((long long)analysis->waits[WAIT_LATE_RECEIVER].count, 1, "a send that returned before did not wait");
    analysis_free(analysis);
}

/* A probe waits for the message of the next receive; a Waitall for the last of its messages, once. */
static void test_probe_and_waitall(void)
{
    struct trace trace = {0};
    message(&trace, 0, SEND, 10, 11, 1);
    call(&trace, 1, PROBE, 2, 12);
    message(&trace, 1, RECV, 13, 14, 0);
    message(&trace, 0, SEND, 30, 31, 1);
    message(&trace, 2, SEND, 40, 41, 1);
    put(&trace, 1, EVENT_ENTER, 20, WAITALL);
    put(&trace, 1, EVENT_RECEIVE, 42, 0)->partner = 0;
    put(&trace, 1, EVENT_RECEIVE, 42, 0)->partner = 2;
    for (size_t i = 1; i <= 2; i++)
        trace.events[1][trace.count[1] - i].tag = 0;
    put(&trace, 1, EVENT_LEAVE, 42, WAITALL);
    struct analysis *analysis = analysed(&trace, 3);
    tap_equal_int(analysis->waits[WAIT_LATE_SENDER].states_ns[PROBE], 8, "a probe waits");
    tap_equal_int(analysis->waits[WAIT_LATE_SENDER].states_ns[RECV], 0, "its receive does not");
    tap_equal_int(analysis->waits[WAIT_LATE_SENDER].states_ns[WAITALL], 20, "Waitall waits for the last message");
    tap_equal_int(analysis->waits[WAIT_LATE_SENDER].causes_ns[2], 20, "and only that one is to blame");
    analysis_free(analysis);
}

/* With several messages, the early ones do not make the call longer when the last arrives sooner. */
static void test_waitall_replayed(void)
{
    struct trace trace = {0};
    const double compute[] = {0.5, 1, 1}; /* by location: process 2 came first */
    for (uint32_t p = 0; p < 3; p++)
        moment(&trace, p, 0);
    message(&trace, 0, SEND, 1, 2, 1);
    message(&trace, 2, SEND, 40, 41, 1);
    put(&trace, 1, EVENT_ENTER, 5, WAITALL);
    put(&trace, 1, EVENT_RECEIVE, 42, 0)->partner = 0;
    put(&trace, 1, EVENT_RECEIVE, 42, 0)->partner = 2;
    for (size_t i = 1; i <= 2; i++)
        trace.events[1][trace.count[1] - i].tag = 0;
    put(&trace, 1, EVENT_LEAVE, 42, WAITALL);
    struct graph *graph = graph_of(&trace, 3);
    tap_equal_int(replay_run(graph, (struct replay_options){0}).end_ns, 42, "Waitall: as recorded");
    struct replay_options faster = {.compute = compute};
    tap_equal_int(replay_run(graph, faster).end_ns, 22, "Waitall: the late sender is there at 20");
    struct replay_options freed = {.free_waits = 1u << WAIT_LATE_SENDER};
    tap_equal_int(replay_run(graph, freed).end_ns, 41, "Waitall: without waiting it ends at 7, the sender at 41");
    graph_free(graph);
}

/* Missing events, or times that go back, give no wait and do not hang. */
static void test_broken(void)
{
    struct trace trace = {0};
    message(&trace, 0, RECV, 10, 20, 1);
    message(&trace, 1, SEND, 25, 26, 0);
    message(&trace, 1, RECV, 30, 40, 0);
    call(&trace, 0, BARRIER, 50, 60);
    call(&trace, 0, BARRIER, 70, 80);
    call(&trace, 1, BARRIER, 55, 60);
    struct analysis *analysis = analysed(&trace, 2);
    tap_equal_int(analysis->clock_error, 5, "received before sent: the clock error");
    expect_wait(analysis, WAIT_LATE_SENDER, 0, 10, "clipped to the call");
    tap_equal_int((long long)analysis->unmatched, 1, "a message without its sender");
    tap_equal_int((long long)analysis->incomplete, 1, "a barrier that one process missed");
    tap_equal_int(analysis->replay, 70, "replay of what is broken");
    analysis_free(analysis);
    message(&trace, 0, RECV, 0, 5, 1);
    message(&trace, 0, SEND, 6, 7, 1);
    message(&trace, 1, RECV, 0, 5, 0);
    message(&trace, 1, SEND, 6, 7, 0);
    analysis = analysed(&trace, 2);
    tap_ok(analysis->forced > 0, "a circle is broken, and counted");
    analysis_free(analysis);
    analysis = analysed(&trace, 0);
    tap_equal_int(analysis->duration, 0, "no events at all");
    analysis_free(analysis);
}

static void test_random(void)
{
    int exact = 0, tiled = 0, ordered = 0, bounded = 0, runs = 0;
    for (uint32_t processes = 2; processes <= LOCATIONS; processes++)
        for (int i = 0; i < 40; i++, runs++) {
            struct trace trace = {0};
            run_make(&trace, processes);
            struct graph *graph = graph_of(&trace, processes);
            struct analysis *analysis = analyse(graph);
            double most = analysis->serialisation * (double)analysis->ideal;
            exact += analysis->replay == analysis->duration && analysis->forced == 0;
            tiled += analysis->path == analysis->duration;
            ordered += most <= (double)analysis->ideal + 1e-6 && analysis->ideal <= analysis->duration;
            int64_t waits = 0, calls = 0;
            for (int kind = 0; kind < WAIT_KIND_COUNT; kind++)
                waits += analysis->waits[kind].ns;
            for (size_t l = 0; l < graph->location_count; l++)
                for (size_t c = 0; c < graph->locations[l].count; c++)
                    calls += graph_call(graph, (uint32_t)l, (uint32_t)c).leave_ns -
                             graph_call(graph, (uint32_t)l, (uint32_t)c).enter_ns;
            bounded += waits <= calls && waits > 0;
            analysis_free(analysis);
            graph_free(graph);
        }
    tap_equal_int(exact, runs, "replays with nothing changed end when the runs ended");
    tap_equal_int(tiled, runs, "critical paths are as long as the runs");
    tap_equal_int(ordered, runs, "computing <= ideal network <= duration");
    tap_equal_int(bounded, runs, "waits never exceed the calls");
}

/* A location that is forced while it is in a collective's list of waiting locations, ahead of another, leaves the list:
   the other still learns that the last has arrived, and no other needs to be forced. */
static void test_forced_in_list(void)
{
    struct trace trace = {0};
    call(&trace, 0, BARRIER, 0, 10);
    message(&trace, 0, SEND, 11, 12, 2);
    call(&trace, 0, ALLREDUCE, 20, 60);
    call(&trace, 1, BARRIER, 5, 30);
    call(&trace, 1, ALLREDUCE, 40, 60);
    message(&trace, 2, RECV, 3, 15, 0);
    call(&trace, 2, BARRIER, 20, 25);
    call(&trace, 2, ALLREDUCE, 50, 60);
    struct graph *graph = graph_of(&trace, 3);
    struct replay replay = replay_run(graph, (struct replay_options){0});
    tap_equal_int((long long)replay.forced, 1, "forced in a list: one only");
    tap_equal_int(replay.end_ns, 60, "forced in a list: the others wait for each other");
    graph_free(graph);
}

/* As many circles as there are pairs of threads: finding the first must not examine all locations each time.
 */
static void test_many_circles(void)
{
    enum { CIRCLES = 100000 };
    struct trace trace = {0};
    for (uint32_t i = 0; i < CIRCLES; i++)
        for (uint32_t p = 0; p < 2; p++) {
            message(&trace, p, RECV, 0, 5, (int32_t)(1 - p));
            message(&trace, p, SEND, 6, 7, (int32_t)(1 - p));
            for (size_t k = 1; k <= 6; k++) {
                struct event *event = &trace.events[p][trace.count[p] - k];
                event->thread = i;
                event->tag = event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE ? (int32_t)i : EVENT_UNKNOWN;
            }
        }
    struct graph *graph = graph_of(&trace, 2);
    struct replay replay = replay_run(graph, (struct replay_options){0});
    tap_equal_int((long long)replay.forced, CIRCLES, "each circle is broken once");
    tap_equal_int(replay.end_ns, 7, "and ends as recorded");
    graph_free(graph);
}

/* Of two that could be forced, the one whose call was entered first is. */
static void test_forced_first(void)
{
    struct trace trace = {0};
    message(&trace, 0, RECV, 2, 5, 1);
    message(&trace, 0, SEND, 6, 7, 1);
    message(&trace, 1, RECV, 1, 9, 0);
    message(&trace, 1, SEND, 10, 11, 0);
    struct graph *graph = graph_of(&trace, 2);
    struct replay replay = replay_run(graph, (struct replay_options){.free_waits = 1u << WAIT_LATE_SENDER});
    tap_equal_int((long long)replay.forced, 1, "one is forced");
    tap_equal_int(replay.end_ns, 10, "process 1: its receive takes all of its time, though waits are free");
    graph_free(graph);
}

/* Many replays at once, of all kinds, end when each of them does alone. */
static void test_together(void)
{
    enum { REPLAYS = 2 * WAIT_KIND_COUNT + 3 };
    int equal = 0, runs = 0;
    for (uint32_t processes = 2; processes <= LOCATIONS; processes++) {
        struct trace trace = {0};
        run_make(&trace, processes);
        struct graph *graph = graph_of(&trace, processes);
        double compute[LOCATIONS];
        bool *quick = memory_new(graph->defs->state_count * sizeof *quick);
        quick[BARRIER] = quick[RECV] = true;
        for (uint32_t p = 0; p < LOCATIONS; p++)
            compute[p] = 0.5 + 0.25 * p;
        struct replay_options options[REPLAYS] = {{.ideal = true}, {.quick_states = quick}, {.free_states = quick}};
        for (int kind = 0; kind < WAIT_KIND_COUNT; kind++) {
            options[3 + 2 * kind] = (struct replay_options){.free_waits = 1u << kind};
            options[4 + 2 * kind] = (struct replay_options){.free_waits = 1u << kind, .compute = compute};
        }
        struct replay replays[REPLAYS];
        for (unsigned threads = 1; threads <= 5; threads += 2) {
            replay_run_all(graph, options, REPLAYS, threads, replays);
            for (int i = 0; i < REPLAYS; i++, runs++)
                equal += replays[i].end_ns == replay_run(graph, options[i]).end_ns;
        }
        free(quick);
        graph_free(graph);
    }
    tap_equal_int(equal, runs, "replays that go through the graph together end as each alone");
}

int main(void)
{
    defs_make();
    test_chain();
    test_ideal();
    test_barrier();
    test_rooted();
    test_reduction_tree();
    test_left_reduction();
    test_late_receiver();
    test_probe_and_waitall();
    test_waitall_replayed();
    test_broken();
    test_random();
    test_together();
    test_forced_in_list();
    test_many_circles();
    test_forced_first();
    defs_free(defs);
    return tap_done();
}
