/* SPDX-License-Identifier: BSD-3-Clause */
/* The standard deviations: every sentence in full, for every kind of imbalance. */
#include "unit/judged.h"

/* A run in which one thing is uneven: computing (nothing else is done, so that it is the total time, too), or
   communicating (beside 10 s of computing). With "of" a time, the other of the two fills the time up to it. */
struct run {
    const char *name, *seconds;
    enum shape shape;
    enum verdict verdict;
    const char *headline, *analysis, *suggestion;
};

static void expect_run(const struct run *run, const char *id, bool communicates)
{
    char name[128];
    struct metrics *metrics = run_make(run->seconds, communicates);
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *result = heuristics_find(results, id);
    snprintf(name, sizeof name, "%s: %s", id, run->name);
    expect_spoken(result, name, run->verdict, run->headline, run->analysis, run->suggestion);
    tap_equal_string(shape_name(result->shape), shape_name(run->shape), "%s: shape", name);
    bool lost = run->verdict == VERDICT_FAIR || run->verdict == VERDICT_POOR;
    tap_ok(result->is_deviation && result->master == -1 && result->cell_count == 0 &&
               exactly(result->lost, lost ? result->measure.imbalance : 0),
           "%s: a deviation, without a master; what is lost", name);
    heuristics_free(results);
    metrics_free(metrics);
}

#define RUNS(runs, id, communicates)                                                                                   \
    for (size_t i = 0; i < sizeof(runs) / sizeof *(runs); i++)                                                         \
    expect_run(&(runs)[i], id, communicates)

static void test_compute_few(void)
{
    static const struct run runs[] = {
        {"one overloaded", "1 1.1 1 4 1 1.1 1 1.1", SHAPE_FEW_HIGH, VERDICT_POOR,
         "process 3 computes 3.8 times as long as the other processes",
         "Process 3 computes 4.00 s, the other 7 processes 1.00 s to 1.10 s (mean 1.04 s): one process far above the "
         "rest.",
         "give process 3 less work, or find out what it does that the other processes do not"},
        {"one a little overloaded", "1 1.4 1 1", SHAPE_FEW_HIGH, VERDICT_FAIR,
         "process 1 computes 40 % longer than the other processes",
         "Process 1 computes 1.40 s, the other 3 processes 1.00 s each: one process far above the rest.",
         "give process 1 less work, or find out what it does that the other processes do not"},
        {"one does all", "0 0 0 5", SHAPE_FEW_HIGH, VERDICT_POOR,
         "process 3 computes far longer than the other processes",
         "Process 3 computes 5.00 s, the other 3 processes 0 s each: one process far above the rest.",
         "give process 3 less work, or find out what it does that the other processes do not"},
        {"several overloaded", "1 1 1 40 1 38 1 1 1 1 1 1 1 1 1 1", SHAPE_FEW_HIGH, VERDICT_POOR,
         "processes 3,5 compute 39 times as long as the other processes",
         "Processes 3,5 compute 39.0 s on average, the other 14 processes 1.00 s each: a few processes far above the "
         "rest.",
         "give processes 3,5 less work, or find out what they do that the other processes do not"},
        {"one idle", "1 1 0.1 1 1 1 1 1", SHAPE_FEW_LOW, VERDICT_POOR,
         "process 2 computes much less than the other processes",
         "Process 2 computes only 100 ms, the other 7 processes 1.00 s each: one process nearly idle.",
         "give process 2 more of the work"},
        {"one low", "1 1 0.5 1 1 1 1 1.1", SHAPE_FEW_LOW, VERDICT_FAIR,
         "process 2 computes much less than the other processes",
         "Process 2 computes only 500 ms, the other 7 processes 1.00 s to 1.10 s (mean 1.01 s): one process far below "
         "the rest.",
         "give process 2 more of the work"},
        {"several idle", "1 1 1 1 0.04 0.06 1 1 1 1 1 1 1 1 1 1", SHAPE_FEW_LOW, VERDICT_POOR,
         "processes 4,5 compute much less than the other processes",
         "Processes 4,5 compute only 50.0 ms on average, the other 14 processes 1.00 s each: a few processes nearly "
         "idle.",
         "give processes 4,5 more of the work"},
    };
    RUNS(runs, "stddev-compute", false);
}

#define EVEN_ODD                                                                                                       \
    "find out what even and odd ranks do differently: a red-black scheme, two processes on one core, a sender and a "  \
    "receiver"

static void test_compute_many(void)
{
    static const struct run runs[] = {
        {"two groups", "1 1 1 1 2 2 2 2", SHAPE_TWO_GROUPS, VERDICT_POOR,
         "processes 4–7 compute 2.0 times as long as the other processes",
         "Two groups: processes 4–7 compute 2.00 s on average, the rest (0–3) 1.00 s.", DIVIDED},
        {"odd ranks", "1 1.3 1 1.3", SHAPE_ALTERNATING, VERDICT_FAIR,
         "the odd ranks compute 30 % longer than the even ones",
         "Even and odd ranks alternate: the odd ranks compute 1.30 s on average, the even ones 1.00 s.", EVEN_ODD},
        {"even ranks", "3 0 3 0", SHAPE_ALTERNATING, VERDICT_POOR,
         "the even ranks compute far longer than the odd ones",
         "Even and odd ranks alternate: the even ranks compute 3.00 s on average, the odd ones 0 s.", EVEN_ODD},
        {"gradient up", "1 2 3 4 5 6 7 8", SHAPE_GRADIENT, VERDICT_POOR, "the computing time grows with the rank",
         "A gradient over the ranks: the computing time grows with the rank, from 1.00 s on process 0 to 8.00 s on "
         "process 7.",
         IN_TURN},
        {"gradient down", "8 7 6 5 4 3 2 1", SHAPE_GRADIENT, VERDICT_POOR, "the computing time falls with the rank",
         "A gradient over the ranks: the computing time falls with the rank, from 8.00 s on process 0 to 1.00 s on "
         "process 7.",
         IN_TURN},
        {"gradient with exceptions",
         "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 40.5 0.5 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 "
         "39 40",
         SHAPE_GRADIENT, VERDICT_POOR, "the computing time grows with the rank",
         "A gradient over the ranks: the computing time grows with the rank, though not everywhere: process 21 has "
         "the least (500 ms), process 20 the most (40.5 s).",
         IN_TURN},
        {"pair", "1 3", SHAPE_PAIR, VERDICT_POOR, "process 1 computes 3.0 times as long as process 0",
         "Process 1 computes more (3.00 s, 50 % above the mean), process 0 less (1.00 s, 50 % below it).",
         "move work from process 1 to process 0"},
        {"scattered", "3 1 5 2 4", SHAPE_SCATTERED, VERDICT_POOR, "process 2 computes 5.0 times as long as process 1",
         "No simple pattern. Process 2 computes most (5.00 s, 67 % above the mean), process 1 least (1.00 s, 67 % "
         "below it).",
         "hand out the work in smaller pieces, as processes ask for it; process 2 has the most"},
    };
    RUNS(runs, "stddev-compute", false);
}

/* One of a thousand hardly moves the deviation, but all the others wait for it. */
static void test_straggler(void)
{
    enum { COUNT = 1024, LATE = 700 };
    double compute[COUNT], communication[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        compute[i] = i == LATE ? 30 : 10;
        communication[i] = 30 - compute[i];
    }
    struct metrics *metrics = metrics_make(COUNT, compute, communication);
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *result = heuristics_find(results, "stddev-compute");
    expect_spoken(result, "a straggler", VERDICT_POOR, "process 700 computes 3.0 times as long as the other processes",
                  "Process 700 computes 30.0 s, the other 1,023 processes 10.0 s each: one process far above the rest.",
                  "give process 700 less work, or find out what it does that the other processes do not");
    tap_equal_string(shape_name(result->shape), "few-high", "a straggler: shape");
    tap_ok(result->measure.variation < 0.1, "a straggler: its deviation alone would be good");
    heuristics_free(results);
    metrics_free(metrics);
}

static void test_compute_good(void)
{
    static const struct run runs[] = {
        {"equal", "1 1 1 1", SHAPE_EVEN, VERDICT_GOOD, "", "Evenly spread: every process computes for 1.00 s.", NULL},
        {"nearly equal", "0.95 1.05 1 1", SHAPE_EVEN, VERDICT_GOOD, "",
         "Every process computes for 950 ms to 1.05 s; the longest exceeds the mean by 50.0 ms, 4.8 % of the run.",
         NULL},
        {"too little to matter", "1 2 1 2 of 50", SHAPE_ALTERNATING, VERDICT_GOOD, "",
         "The computing times differ (1.00 s on process 0 to 2.00 s on process 1), but the longest exceeds the mean by "
         "only 500 ms, 1.0 % of the run: negligible.",
         NULL},
        {"just enough to matter", "1 2 1 2 of 49.9", SHAPE_ALTERNATING, VERDICT_POOR,
         "the odd ranks compute 2.0 times as long as the even ones",
         "Even and odd ranks alternate: the odd ranks compute 2.00 s on average, the even ones 1.00 s.", EVEN_ODD},
        {"nobody", "", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "", "No process has any events.", NULL},
        {"one", "1", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "",
         "There is only one process: its computing time cannot be compared.", NULL},
        {"nothing computed", "0 0 0 of 1", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "",
         "No process has any computing time: there is nothing to compare.", NULL},
        {"10 %", "9 11", SHAPE_EVEN, VERDICT_GOOD, "",
         "Every process computes for 9.00 s to 11.0 s; the longest exceeds the mean by 1.00 s, 9.1 % of the run.",
         NULL},
        {"10 % and 2 ns", "8.999999999 11.000000001", SHAPE_PAIR, VERDICT_FAIR,
         "process 1 computes 22 % longer than process 0",
         "Process 1 computes more (11.0 s, 10 % above the mean), process 0 less (9.00 s, 10 % below it).",
         "move work from process 1 to process 0"},
        {"25 %", "12.5 7.5", SHAPE_PAIR, VERDICT_FAIR, "process 0 computes 1.7 times as long as process 1",
         "Process 0 computes more (12.5 s, 25 % above the mean), process 1 less (7.50 s, 25 % below it).",
         "move work from process 0 to process 1"},
        {"25 % and 2 ns", "12.500000001 7.499999999", SHAPE_PAIR, VERDICT_POOR,
         "process 0 computes 1.7 times as long as process 1",
         "Process 0 computes more (12.5 s, 25 % above the mean), process 1 less (7.50 s, 25 % below it).",
         "move work from process 0 to process 1"},
    };
    RUNS(runs, "stddev-compute", false);
}

static void test_communication(void)
{
    static const struct run runs[] = {
        {"one high", "1 1 2 1", SHAPE_FEW_HIGH, VERDICT_POOR,
         "process 2 communicates 2.0 times as long as the other processes",
         "Process 2 communicates 2.00 s, the other 3 processes 1.00 s each: one process far above the rest.",
         "see which functions process 2 is in: sight chart activity"},
        {"several high", "2 2 1 1 1 1 1 1 1 1 1 1 1 1 1 1", SHAPE_FEW_HIGH, VERDICT_POOR,
         "processes 0,1 communicate 2.0 times as long as the other processes",
         "Processes 0,1 communicate 2.00 s on average, the other 14 processes 1.00 s each: a few processes far above "
         "the rest.",
         "see which functions processes 0,1 are in: sight chart activity"},
        {"one hardly", "1 1 0.01 1", SHAPE_FEW_LOW, VERDICT_POOR,
         "process 2 communicates much less than the other processes",
         "Process 2 communicates only 10.0 ms, the other 3 processes 1.00 s each: one process nearly without "
         "communication.",
         "see which functions process 0 spends time in that process 2 does not: sight chart activity"},
        {"several hardly", "1 1 0.1 1 1 0.1 1 1 1 1 1 1 1 1 1 1", SHAPE_FEW_LOW, VERDICT_POOR,
         "processes 2,5 communicate much less than the other processes",
         "Processes 2,5 communicate only 100 ms on average, the other 14 processes 1.00 s each: a few processes nearly "
         "without communication.",
         "see which functions process 0 spends time in that process 2 does not: sight chart activity"},
        {"alternating", "3 1 3 1", SHAPE_ALTERNATING, VERDICT_POOR,
         "the even ranks communicate 3.0 times as long as the odd ones",
         "Even and odd ranks alternate: the even ranks communicate 3.00 s on average, the odd ones 1.00 s.",
         "see which functions process 0 spends time in that process 1 does not: sight chart activity"},
        {"gradient", "1 2 3 4", SHAPE_GRADIENT, VERDICT_POOR, "the communication time grows with the rank",
         "A gradient over the ranks: the communication time grows with the rank, from 1.00 s on process 0 to 4.00 s on "
         "process 3.",
         "see which functions process 3 spends time in that process 0 does not: sight chart activity"},
        {"pair", "3 1", SHAPE_PAIR, VERDICT_POOR, "process 0 communicates 3.0 times as long as process 1",
         "Process 0 communicates more (3.00 s, 50 % above the mean), process 1 less (1.00 s, 50 % below it).",
         "see which functions process 0 spends time in that process 1 does not: sight chart activity"},
        {"even", "1 1", SHAPE_EVEN, VERDICT_GOOD, "", "Evenly spread: every process communicates for 1.00 s.", NULL},
        {"none", "0 0", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "",
         "No process has any communication time: there is nothing to compare.", NULL},
        {"one process", "1", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "",
         "There is only one process: its communication time cannot be compared.", NULL},
        {"mirror of computing", "1 2 3 4 of 10", SHAPE_GRADIENT, VERDICT_POOR,
         "the communication time grows with the rank",
         "A gradient over the ranks: the communication time grows with the rank, from 1.00 s on process 0 to 4.00 s on "
         "process 3. These times mirror the computing times: a process that computes less spends more time in MPI.",
         "balance the computing first: the times in MPI follow it"},
        {"too little to matter", "1 2 of 100", SHAPE_PAIR, VERDICT_GOOD, "",
         "The communication times differ (1.00 s on process 0 to 2.00 s on process 1), but the longest exceeds the "
         "mean by only 500 ms, 0.5 % of the run: negligible.",
         NULL},
    };
    RUNS(runs, "stddev-communication", true);
}

#define AT_DIFFERENT_TIMES "processes start or end at different times: look at what process "

static void test_total(void)
{
    static const struct run runs[] = {
        {"one long", "1 1 2 1", SHAPE_FEW_HIGH, VERDICT_POOR, "process 2 runs 2.0 times as long as the other processes",
         "Process 2 runs 2.00 s, the other 3 processes 1.00 s each: one process far above the rest.",
         AT_DIFFERENT_TIMES "2 does before or after the others"},
        {"one short", "1 1 0.1 1", SHAPE_FEW_LOW, VERDICT_POOR, "process 2 runs much less than the other processes",
         "Process 2 runs only 100 ms, the other 3 processes 1.00 s each: one process nearly absent.",
         "find out why process 2 starts later or ends earlier than the other processes"},
        {"several short", "1 1 0.1 1 1 1 1 1 1 0.1 1 1 1 1 1 1", SHAPE_FEW_LOW, VERDICT_POOR,
         "processes 2,9 run much less than the other processes",
         "Processes 2,9 run only 100 ms on average, the other 14 processes 1.00 s each: a few processes nearly absent.",
         "find out why processes 2,9 start later or end earlier than the other processes"},
        {"two groups", "1 1 1 3 3 3", SHAPE_TWO_GROUPS, VERDICT_POOR,
         "processes 3–5 run 3.0 times as long as the other processes",
         "Two groups: processes 3–5 run 3.00 s on average, the rest (0–2) 1.00 s.",
         AT_DIFFERENT_TIMES "3 does before or after the others"},
        {"gradient", "4 3 2 1", SHAPE_GRADIENT, VERDICT_POOR, "the total time falls with the rank",
         "A gradient over the ranks: the total time falls with the rank, from 4.00 s on process 0 to 1.00 s on process "
         "3.",
         AT_DIFFERENT_TIMES "0 does before or after the others"},
        {"pair", "1 3", SHAPE_PAIR, VERDICT_POOR, "process 1 runs 3.0 times as long as process 0",
         "Process 1 runs more (3.00 s, 50 % above the mean), process 0 less (1.00 s, 50 % below it).",
         AT_DIFFERENT_TIMES "1 does before or after the other"},
        {"even", "1 2 1 2 of 10", SHAPE_EVEN, VERDICT_GOOD, "", "Evenly spread: every process runs for 10.0 s.", NULL},
        {"nothing", "0 0", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "",
         "No process has any total time: there is nothing to compare.", NULL},
        {"one process", "1", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "",
         "There is only one process: its total time cannot be compared.", NULL},
    };
    RUNS(runs, "stddev-total", false);
}

static void test_balanced(void)
{
    static const char *const ids[] = {"stddev-communication", "stddev-compute", "stddev-total"};
    static double tenths[1024];
    for (size_t i = 0; i < 1024; i++)
        tenths[i] = 0.1;
    for (size_t count = 2; count <= 1024; count *= 2) {
        struct metrics *metrics = metrics_make(count, tenths, tenths);
        struct heuristic_result *results = heuristics_judge(metrics);
        for (size_t i = 0; i < 3; i++) {
            const struct heuristic_result *result = heuristics_find(results, ids[i]);
            tap_ok(result->verdict == VERDICT_GOOD && exactly(result->index, 0) && exactly(result->share, 0) &&
                       result->suggestion_count == 0 && exactly(result->lost, 0) && result->shape == SHAPE_EVEN,
                   "%zu balanced processes: %s is good, 0, without a suggestion", count, ids[i]);
        }
        heuristics_free(results);
        metrics_free(metrics);
    }
}

static void test_numbers(void)
{
    struct metrics *metrics = metrics_make(4, (const double[]){2, 4, 6, 8}, NULL);
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *result = heuristics_find(results, "stddev-compute");
    expect_number(result->index, sqrt(5), "a deviation's index");
    expect_number(result->mean, 5, "a deviation's mean");
    expect_number(result->share, sqrt(5) / 5, "a deviation's share is its variation");
    expect_number(result->lost, 3, "a deviation's loss is the imbalance");
    static const struct {
        const char *name;
        double value;
    } details[] = {{"processes", 4},   {"least_s", 2},  {"most_s", 8},  {"most_over_mean", 1.6},
                   {"imbalance_s", 3}, {"median_s", 5}, {"gini", 0.25}, {"median_distance_s", 2}};
    for (size_t i = 0; i < sizeof details / sizeof *details; i++)
        expect_number(detail_of(result, details[i].name), details[i].value, details[i].name);
    expect_number(detail_of(result, "variation"), sqrt(5) / 5, "variation");
    tap_ok(heuristics_find(results, "no-such") == NULL, "an id that no heuristic has");
    heuristics_free(results);
    metrics_free(metrics);
}

int main(void)
{
    defs_make();
    test_compute_few();
    test_compute_many();
    test_straggler();
    test_compute_good();
    test_communication();
    test_total();
    test_balanced();
    test_numbers();
    defs_free(defs);
    return tap_done();
}
