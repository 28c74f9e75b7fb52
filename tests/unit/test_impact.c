/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of the critical path by process: example B of the rules of diagnosis (2.3) from its tables, small runs whose
   parts are known, and the law that the parts are all time. */
#include "replay/replay.h"
#include "waits/impact.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

#include <math.h>

static void expect(double got, double want, const char *name)
{
    if (!tap_ok(fabs(got - want) < 5e-4, "%s", name))
        printf("#  got %.9g\n# want %.9g\n", got, want);
}

/* Example B: foo, Send, Recv, bar, qux, baz; what each of three processes does of it without waiting. */
static void test_example(void)
{
    enum { FOO, SENDS, RECEIVES, BAR, QUX, BAZ, ACTIVITIES };
    static const int64_t path[ACTIVITIES] = {60, 0, 6, 12, 0, 24},
                         own[3][ACTIVITIES] = {{60, 2, 0, 0, 18, 0}, {15, 2, 3, 12, 0, 0}, {15, 0, 3, 0, 0, 24}};
    struct impact impact = impact_begin(path, ACTIVITIES);
    for (int i = 0; i < 3; i++)
        impact_add(&impact, own[i]);
    impact_end(&impact);
    tap_equal_int(impact.length_ns, 102, "example B: the path");
    expect(impact.activity_ns, 132, "example B: activity");
    expect(impact.other_ns, 22, "example B: what is not on the path");
    expect(impact.imbalance_ns, 152, "example B: imbalance");
    expect(impact.inter_ns, 56, "example B: between roles");
    expect(impact.by_activity[FOO], 88.750, "example B: foo costs 88.75");
    expect(impact.by_activity[RECEIVES], 9.060, "example B: MPI_Recv");
    expect(impact.by_activity[BAR], 18.286, "example B: bar");
    expect(impact.by_activity[BAZ], 35.905, "example B: baz");
    expect(impact.by_activity[QUX] + impact.by_activity[SENDS], 0, "example B: what is not on the path costs nobody");
    static const double excess[ACTIVITIES] = {30, 0, 4, 8, 0, 16};
    for (size_t i = 0; i < ACTIVITIES; i++)
        expect(impact_excess_ns(&impact, i), excess[i], "example B: critical-path imbalance");
    impact_clear(&impact);
}

/* One process works 100, the others 1, then a barrier at 100: all waiting is because of that. */
static void test_one_works(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 4; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BARRIER, p == 1 ? 100 : 1, 100);
    }
    struct graph *graph = graph_of(&trace, 4);
    struct critical_path path = critical_path_of(graph);
    struct impact impact = impact_of(graph, &path);
    tap_equal_int(path.length_ns, 100, "one works: the path is its work");
    tap_ok(path.part_count == 1 && path.parts[0].ns == 100 && graph->locations[path.parts[0].location].process == 1,
           "one works: one activity of one process");
    expect(impact.activity_ns, 103, "one works: 100 and three times 1");
    expect(impact.imbalance_ns, 297, "one works: all waits of the others");
    expect(impact.inter_ns, 0, "one works: the others do the same, less");
    expect(impact.by_activity[graph->defs->state_count + BARRIER], 297,
           "one works: because of computing before the barrier");
    impact_clear(&impact);
    critical_path_clear(&path);
    graph_free(graph);
}

/* Process 0 only ever computes before sends, process 1 only before the end: different roles. */
static void test_roles(void)
{
    struct trace trace = {0};
    moment(&trace, 0, 0);
    message(&trace, 0, SEND, 50, 50, 1);
    moment(&trace, 1, 0);
    message(&trace, 1, RECV, 0, 50, 0);
    moment(&trace, 1, 80);
    struct graph *graph = graph_of(&trace, 2);
    struct critical_path path = critical_path_of(graph);
    struct impact impact = impact_of(graph, &path);
    tap_equal_int(path.length_ns, 80, "roles: the path goes over both");
    expect(impact.activity_ns + impact.other_ns, 80, "roles: each does its own");
    expect(impact.imbalance_ns, 80, "roles: each waits while the other works");
    expect(impact.inter_ns, 80, "roles: all of it because of what it never does");
    impact_clear(&impact);
    critical_path_clear(&path);
    graph_free(graph);
}

static void test_random(void)
{
    int whole = 0, booked = 0, bounded = 0, runs = 0;
    for (uint32_t processes = 2; processes <= LOCATIONS; processes++)
        for (int i = 0; i < 40; i++, runs++) {
            struct trace trace = {0};
            run_make(&trace, processes);
            struct graph *graph = graph_of(&trace, processes);
            struct critical_path path = critical_path_of(graph);
            struct impact impact = impact_of(graph, &path);
            double all = (double)processes * (double)impact.length_ns, by_activity = 0, parts = 0;
            for (size_t k = 0; k < impact.activities; k++)
                by_activity += impact.by_activity[k];
            for (size_t k = 0; k < path.part_count; k++)
                parts += (double)path.parts[k].ns;
            whole += fabs(impact.activity_ns + impact.other_ns + impact.imbalance_ns - all) < 1e-6;
            booked += fabs(by_activity - impact.imbalance_ns) < 1e-6 && fabs(parts - (double)path.length_ns) < 1e-6;
            bounded += impact.inter_ns <= impact.imbalance_ns + 1e-6 && impact.length_ns == path.length_ns &&
                       path.length_ns == graph_duration_ns(graph);
            impact_clear(&impact);
            critical_path_clear(&path);
            graph_free(graph);
        }
    tap_equal_int(whole, runs, "activity + other + imbalance = processes x path");
    tap_equal_int(booked, runs, "all imbalance is booked on activities, all of the path on locations");
    tap_equal_int(bounded, runs, "between roles is a part of it; activities tile the path");
}

int main(void)
{
    defs_make();
    test_example();
    test_one_works();
    test_roles();
    test_random();
    defs_free(defs);
    return tap_done();
}
