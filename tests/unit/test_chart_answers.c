/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers of charts: every sentence in full, for handmade runs. */
#include "render/charts/chart.h"
#include "unit/hand_metrics.h"

#include <stdio.h>

static const char *const names[] = {"MPI_Barrier", "MPI_Recv", "MPI_Send", "work"};
static struct defs *defs;

static void expect_answer_by(const struct metrics *metrics, const char *chart, bool by_bytes, const char *want,
                             const char *name)
{
    char answer[CHART_ANSWER_SIZE];
    struct heuristic_result *results = heuristics_judge(metrics);
    struct chart_input input = {.metrics = metrics, .results = results, .by_bytes = by_bytes};
    chart_answer(chart_find(chart), &input, answer);
    tap_equal_string(answer, want, "%s: %s", chart, name);
    heuristics_free(results);
}

static void expect_answer(const struct metrics *metrics, const char *chart, const char *want, const char *name)
{
    expect_answer_by(metrics, chart, false, want, name);
}

/* All processes alike. */
static struct metrics *alike(size_t count, double compute, double communication)
{
    return hand_metrics(defs, count, compute + communication, communication);
}

static void test_table(void)
{
    static const char *const charts[] = {"communication", "compute",    "activity", "summary", "balance",
                                         "messages",      "matrix",     "findings", "waits",   "critical-path",
                                         "concurrency",   "efficiency", "search",   "flame",   "counters",
                                         "scaling",       "iterations", "timeline"};
    enum { CHARTS = sizeof charts / sizeof *charts };
    tap_equal_int((long long)chart_count(), CHARTS, "as many charts as known here");
    struct metrics *metrics = alike(0, 0, 0);
    for (size_t i = 0; i < CHARTS && i < chart_count(); i++) {
        tap_equal_string(chart_at(i)->name, charts[i], "chart %zu", i);
        tap_ok(chart_find(charts[i]) == chart_at(i), "chart %s is found", charts[i]);
        expect_answer(metrics, charts[i], "There are no events in this trace", "no processes");
    }
    tap_ok(!chart_find("pie") && !chart_find("") && !chart_find("Compute"), "what is no chart is not found");
    metrics_free(metrics);
}

static void test_description(void)
{
    struct metrics *metrics = alike(2, 3, 1);
    struct heuristic_result *results = heuristics_judge(metrics);
    struct chart_input input = {.metrics = metrics, .results = results};
    char description[CHART_DESCRIPTION_SIZE];
    chart_describe(chart_find("summary"), &input, description);
    tap_equal_string(description,
                     "Summary Application Chart: How much of the run was computing, and how much MPI? 75 % of the time "
                     "is computing, 25 % is spent in MPI. 2 processes.",
                     "description for readers of screens");
    heuristics_free(results);
    metrics_free(metrics);
}

static void test_communication(void)
{
    static const char id[] = "communication";
    struct metrics *metrics = alike(4, 1, 1);
    expect_answer(metrics, id, "No messages were recorded", "none");
    for (size_t i = 0; i < 4; i++)
        hand_messages(metrics, i, (i + 1) % 4, 10, 0);
    expect_answer(metrics, id, "All processes communicate equally, each with 25 % of the message endpoints", "a ring");
    hand_messages(metrics, 1, 2, 10, 0);
    expect_answer(metrics, id, "Process 1 takes part in 60 % of all messages", "one with more than a quarter");
    metrics_free(metrics);
    metrics = alike(4, 1, 1);
    for (size_t i = 1; i < 4; i++)
        hand_messages(metrics, 0, i, 10, 0);
    expect_answer(metrics, id, "Process 0 takes part in all messages", "a star");
    metrics_free(metrics);
    metrics = alike(2, 1, 1);
    hand_messages(metrics, 0, 1, 10, 0);
    expect_answer(metrics, id, "All processes communicate equally, each with 50 % of the message endpoints", "a pair");
    metrics_free(metrics);
    metrics = alike(8, 1, 1);
    for (size_t i = 0; i < 8; i++)
        hand_messages(metrics, i, (i + 1) % 8, 10, 0);
    hand_messages(metrics, 6, 4, 10, 0);
    expect_answer(metrics, id, "Process 4 communicates most: 17 % of the message endpoints; the mean is 12 %",
                  "one with a little more");
    metrics_free(metrics);
    metrics = alike(3, 1, 1);
    hand_messages(metrics, 1, 1, 10, 0);
    expect_answer(metrics, id, "Process 1 takes part in all messages", "to itself");
    metrics_free(metrics);
    metrics = alike(1, 1, 1);
    hand_messages(metrics, 0, 0, 10, 0);
    expect_answer(metrics, id, "Process 0 is the only one in this trace: it takes part in all messages",
                  "one process of several");
    metrics_free(metrics);
    metrics = alike(1024, 1, 1);
    for (size_t i = 0; i < 1024; i++)
        hand_messages(metrics, i, (i + 1) % 1024, 10, 0);
    expect_answer(metrics, id, "All 1,024 processes communicate equally", "so many that a share says nothing");
    metrics_free(metrics);
}

static void test_findings(void)
{
    static const char id[] = "findings";
    struct metrics *metrics = alike(4, 3.25, 0.75);
    expect_answer(metrics, id, "Findings over Time: unknown without the events of the whole run", "no analysis");
    struct analysis *analysis = metrics->analysis = analysis_new(4, metrics->defs->state_count);
    struct wait_sums *sums = &analysis->waits[WAIT_LATE_SENDER];
    analysis->duration = hand_ns(4);
    expect_answer(metrics, id, "No finding above 40.0 ms (1 % of the run), or 66.6 ms where chance may explain it",
                  "none");
    sums->ns = sums->victims_ns[1] = sums->causes_ns[0] = hand_ns(1.6);
    sums->saving_ns = hand_ns(1);
    sums->count = sums->calls = 16;
    expect_answer(metrics, id, "Late senders: waiting for process 0 — could save up to 1.00 s (25 %)",
                  "a metrics file without times");
    for (size_t bin = 64; bin < 80; bin++)
        sums->course_ns[bin] = hand_ns(0.1);
    expect_answer(metrics, id, "Late senders: waiting for process 0, mostly between 2.00 s and 2.41 s of the run",
                  "13 parts of 16: 81 %");
    for (size_t bin = 0; bin < COURSE_BINS; bin++)
        sums->course_ns[bin] = hand_ns(0.01);
    expect_answer(metrics, id, "Late senders: waiting for process 0, throughout the run", "all the time");
    analysis->clock_error = hand_ns(2);
    expect_answer(metrics, id, "No finding above 2.00 s (the clock error of this trace)", "clocks");
    metrics_free(metrics);
}

static void test_compute(void)
{
    static const char id[] = "compute";
    struct metrics *metrics = alike(3, 0, 5);
    expect_answer(metrics, id, "No process computes anything outside MPI", "nothing");
    metrics_free(metrics);
    metrics = alike(1, 2.5, 1);
    expect_answer(metrics, id, "The only process computes for 2.50 s", "one process");
    metrics_free(metrics);
    metrics = alike(4, 2, 1);
    hand_times(metrics, 3, 2.04, 0.96);
    expect_answer(metrics, id, "The computing is evenly spread: 2.00 s to 2.04 s", "even");
    hand_times(metrics, 3, 6, 0);
    expect_answer(metrics, id, "Process 3 computes 3.0 times as long as the other processes",
                  "the headline of the heuristic");
    metrics_free(metrics);
    metrics = alike(4, 0.001, 99);
    hand_times(metrics, 3, 0.003, 99);
    expect_answer(metrics, id, "The computing times differ (1.00 ms to 3.00 ms), but not enough to matter in this run",
                  "uneven, but nothing beside the run");
    metrics_free(metrics);
}

static void test_activity(void)
{
    static const char id[] = "activity";
    struct metrics *metrics = alike(2, 3, 1);
    expect_answer(metrics, id, "No time is spent in MPI functions", "none");
    hand_calls(metrics, 0, "MPI_Barrier", 0);
    hand_calls(metrics, 0, "work", 2);
    expect_answer(metrics, id, "No time is spent in MPI functions", "calls that take none, states of the user");
    hand_calls(metrics, 1, "MPI_Recv", 0.75);
    hand_calls(metrics, 1, "MPI_Send", 0.25);
    expect_answer(metrics, id, "MPI_Recv takes 75 % of the time in MPI, which is 25 % of the total time",
                  "two functions");
    metrics_free(metrics);
    /* 41 characters of two bytes after one of one: the 80th byte is the first half of one. */
    static const char word[] = "MPI_X";
    char name[100], want[200];
    strcpy(name, word);
    for (size_t i = strlen(word); i < 95; i += 2)
        memcpy(name + i, "\xC3\xA9", 3);
    struct defs *long_defs = hand_defs((const char *[]){name}, 1);
    metrics = hand_metrics(long_defs, 1, 4, 1);
    hand_calls(metrics, 0, name, 1);
    snprintf(want, sizeof want, "%.79s takes 100 %% of the time in MPI, which is 25 %% of the total time", name);
    expect_answer(metrics, id, want, "a long name is cut between characters");
    metrics_free(metrics);
    defs_free(long_defs);
}

static void test_summary(void)
{
    static const char id[] = "summary";
    struct metrics *metrics = alike(2, 1, 3);
    expect_answer(metrics, id, "Most of the time, 75 %, is spent in MPI, not computing", "more than half");
    metrics_free(metrics);
    metrics = alike(2, 1, 1);
    expect_answer(metrics, id, "Half of the time is computing, half is spent in MPI", "half");
    metrics_free(metrics);
    metrics = alike(2, 1, 0);
    expect_answer(metrics, id, "100 % of the time is computing, 0 % is spent in MPI", "none");
    metrics_free(metrics);
    metrics = alike(2, 0, 0);
    expect_answer(metrics, id, "This run has no duration", "no time at all");
    metrics_free(metrics);
}

static void test_waits(void)
{
    static const char id[] = "waits";
    struct metrics *metrics = alike(4, 3, 1);
    struct analysis *analysis = metrics->analysis = analysis_new(4, metrics->defs->state_count);
    expect_answer(metrics, id, "The trace shows no process that waits for another", "none");
    struct wait_sums *late = &analysis->waits[WAIT_LATE_SENDER], *barrier = &analysis->waits[WAIT_AT_BARRIER];
    metrics->process[3].rank = 1003;
    late->ns = late->victims_ns[3] = hand_ns(0.8);
    expect_answer(metrics, id, "Process 1,003 waits 800 ms, all of it for late senders", "one process");
    barrier->ns = barrier->victims_ns[3] = hand_ns(0.05);
    expect_answer(metrics, id, "Process 1,003 waits 850 ms, nearly all of it for late senders", "two kinds");
    for (size_t i = 0; i < 4; i++)
        barrier->victims_ns[i] = hand_ns(0.3);
    barrier->ns = hand_ns(1.2);
    expect_answer(metrics, id, "The processes wait for each other for 12 % of their time, 60 % of it in barriers",
                  "all");
    analysis->waits[WAIT_NXN_COMPLETION].ns = analysis->waits[WAIT_NXN_COMPLETION].victims_ns[0] = hand_ns(8);
    expect_answer(metrics, id,
                  "The processes wait for each other for 12 % of their time, 60 % of it in barriers; collectives "
                  "themselves take another 50 %",
                  "time in a call that no process causes is no waiting, but it is drawn");
    analysis->waits[WAIT_IO].ns = analysis->waits[WAIT_IO].victims_ns[1] = hand_ns(4);
    late->ns = late->victims_ns[3] = barrier->ns = 0;
    for (size_t i = 0; i < 4; i++)
        barrier->victims_ns[i] = 0;
    expect_answer(metrics, id,
                  "The trace shows no process that waits for another; collectives and file I/O themselves take 75 % of "
                  "the processes' time",
                  "collectives and files");
    analysis->waits[WAIT_NXN_COMPLETION].ns = analysis->waits[WAIT_NXN_COMPLETION].victims_ns[0] = 0;
    expect_answer(
        metrics, id,
        "The trace shows no process that waits for another; file I/O itself takes 25 % of the processes' time",
        "files alone");
    metrics_free(metrics);
}

static void test_concurrency(void)
{
    static const char id[] = "concurrency";
    struct metrics *metrics = alike(4, 3, 1);
    struct analysis *analysis = metrics->analysis = analysis_new(4, metrics->defs->state_count);
    analysis->duration = hand_ns(4);
    expect_answer(metrics, id, "How many processes compute at once is not known", "an older metrics file");
    analysis->concurrency_ns[0] = hand_ns(1);
    expect_answer(metrics, id, "On average 0.25 of 4 processes compute at once, at most one for 100 % of the run",
                  "a process that computes alone");
    analysis->concurrency_ns[3] = hand_ns(2);
    expect_answer(metrics, id, "On average 2.2 of 4 processes compute at once, all of them for 50 % of the run",
                  "and all of them");
    metrics_free(metrics);
}

/* Of 4 s: process 0 and each of the three others. */
static void compute_for(struct metrics *metrics, double first, double others)
{
    hand_times(metrics, 0, first, 4 - first);
    for (size_t i = 1; i < 4; i++)
        hand_times(metrics, i, others, 4 - others);
}

static void test_efficiency(void)
{
    static const char id[] = "efficiency";
    struct metrics *metrics = alike(4, 3, 1);
    struct analysis *analysis = metrics->analysis = analysis_new(4, metrics->defs->state_count);
    /* Load balance 90 %, communication efficiency 95 % x 95 %. */
    compute_for(metrics, 3.61, 3.128667);
    analysis->serialisation = analysis->transfer = 0.95;
    expect_answer(metrics, id, "81 % of the processes' time is computing: good (80 % or more)", "good");
    compute_for(metrics, 3.23, 2.799333);
    analysis->transfer = 0.85;
    expect_answer(
        metrics, id,
        "73 % of the processes' time is computing; most is lost to slow messages and MPI calls (transfer 85 %)",
        "no factor is poor, but their product");
    metrics_free(metrics);
}

static void test_balance(void)
{
    static const char id[] = "balance";
    struct metrics *metrics = alike(2, 0, 3);
    expect_answer(metrics, id, "All time is spent in MPI", "no computing");
    hand_times(metrics, 0, 2, 2);
    hand_times(metrics, 1, 1, 3);
    expect_answer(metrics, id, "The processes compute for 38 % of the run on average, process 0 for 50 %",
                  "the efficiencies");
    metrics_free(metrics);
    metrics = alike(2, 0, 0);
    expect_answer(metrics, id, "This run has no duration", "no time at all");
    metrics_free(metrics);
    metrics = alike(4, 3, 1);
    expect_answer(metrics, id, "Each process computes for about 75 % of the run", "even");
    metrics_free(metrics);
    metrics = alike(1, 3, 1);
    expect_answer(metrics, id, "The only process computes for 75 % of the run", "one process");
    metrics_free(metrics);
}

static void test_messages(void)
{
    static const char id[] = "messages";
    struct metrics *metrics = alike(2, 1, 1);
    expect_answer(metrics, id, "No messages of known size were recorded", "none");
    hand_size(metrics, 0, 0);
    expect_answer(metrics, id, "No messages of known size were recorded", "a class without messages");
    metrics->sizes[0].sent = 7;
    expect_answer(metrics, id, "All messages are empty", "empty ones, one end of each");
    hand_size(metrics, 3, 3);
    expect_answer(metrics, id, "70 % of the messages are empty", "most are empty");
    for (int i = 0; i < 9; i++)
        hand_size(metrics, 0, 0);
    hand_size(metrics, 30, 60000);
    expect_answer(metrics, id, "75 % of the messages carry 1 KiB to 2 KiB each; together that is 100 % of the bytes",
                  "most of one class");
    metrics->sizes[11].bytes_sent = metrics->sizes[11].bytes_received = 30 * 1024;
    expect_answer(metrics, id, "75 % of the messages carry 1 KiB each; together that is 100 % of the bytes",
                  "a class of which all have the smallest size");
    metrics->sizes[11].bytes_received++;
    expect_answer(metrics, id, "75 % of the messages carry 1 KiB to 2 KiB each; together that is 100 % of the bytes",
                  "one of them has a byte more");
    metrics->sizes[11].bytes_received--;
    hand_size(metrics, 0, 0);
    hand_size(metrics, 25, 25 * 6000);
    expect_answer(metrics, id,
                  "Half of the messages are smaller than 2 KiB; half of the bytes travel in messages of 4 KiB or more",
                  "no size that most have");
    metrics_free(metrics);
    metrics = alike(2, 1, 1);
    for (int i = 0; i < 64; i++)
        hand_size(metrics, 0, 0);
    hand_size(metrics, 3, UINT64_MAX / 2);
    expect_answer(metrics, id, "All messages carry 8 EiB to 16 EiB", "the largest sizes that there can be");
    metrics->sizes[64].bytes_sent = metrics->sizes[64].bytes_received = UINT64_MAX;
    expect_answer(metrics, id, "All messages carry 8 EiB to 16 EiB", "and a sum that would be larger");
    metrics_free(metrics);
}

static void test_matrix_one(void)
{
    static const char id[] = "matrix";
    struct metrics *metrics = alike(4, 1, 1);
    expect_answer(metrics, id, "No messages between processes were recorded", "none");
    hand_end(metrics, 0, true, 77, 5, 5);
    expect_answer(metrics, id, "No messages between processes were recorded", "none with processes that are there");
    hand_messages(metrics, 0, 1, 10, 0);
    expect_answer_by(metrics, id, true, "The messages carry no bytes, or the trace does not record their sizes",
                     "no bytes");
    expect_answer(metrics, id, "Process 0 sends 100 % of the messages", "one sends all");
    hand_messages(metrics, 1, 0, 10, 1);
    expect_answer(metrics, id, "Process 0 sends 50 % and receives 50 % of the messages", "one sends and receives half");
    metrics_free(metrics);
    metrics = alike(4, 1, 1);
    for (size_t i = 1; i < 4; i++)
        hand_messages(metrics, i, 0, 10, 100);
    expect_answer(metrics, id, "Process 0 receives 100 % of the messages", "one receives all");
    expect_answer_by(metrics, id, true, "Process 0 receives 100 % of the bytes", "one receives all bytes");
    metrics_free(metrics);
    metrics = alike(2, 1, 1);
    hand_messages(metrics, 1, 0, 10, 0);
    expect_answer(metrics, id, "Only process 1 sends, to process 0", "one way between two");
    hand_messages(metrics, 0, 1, 2345, 0);
    expect_answer(metrics, id, "Both processes send each other messages, 2,355 in total", "both ways between two");
    hand_messages(metrics, 0, 0, 100, 0);
    expect_answer(metrics, id,
                  "3 pairs of processes exchange messages; process 0 sends process 1 most: 96 % of the messages",
                  "two, and one to itself");
    metrics_free(metrics);
    metrics = alike(2, 1, 1);
    hand_messages(metrics, 0, 0, 5, 0);
    expect_answer(metrics, id, "Process 0 sends messages to itself only", "one to itself, of two");
    metrics_free(metrics);
    metrics = alike(1, 1, 1);
    hand_messages(metrics, 0, 0, 5, 0);
    expect_answer(metrics, id, "Process 0 sends messages to itself only", "one to itself");
    metrics_free(metrics);
}

static void test_matrix_pairs(void)
{
    static const char id[] = "matrix";
    struct metrics *metrics = alike(8, 1, 1);
    for (size_t i = 0; i < 8; i++)
        hand_messages(metrics, i, (i + 1) % 8, 10, 10);
    expect_answer(metrics, id, "The messages are spread over 8 pairs of processes, none with much more than its share",
                  "a ring");
    hand_messages(metrics, 6, 2, 25, 10000);
    expect_answer(metrics, id,
                  "9 pairs of processes exchange messages; process 6 sends process 2 most: 24 % of the messages",
                  "one pair with most");
    expect_answer_by(metrics, id, true, "Process 6 sends 99 % of the bytes", "one with all bytes");
    metrics_free(metrics);
}

int main(void)
{
    defs = hand_defs(names, sizeof names / sizeof *names);
    test_table();
    test_description();
    test_communication();
    test_findings();
    test_compute();
    test_activity();
    test_summary();
    test_balance();
    test_waits();
    test_concurrency();
    test_efficiency();
    test_messages();
    test_matrix_one();
    test_matrix_pairs();
    defs_free(defs);
    return tap_done();
}
