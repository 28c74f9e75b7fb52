/* SPDX-License-Identifier: BSD-3-Clause */
/* The indices of AIMS, with their cells and sentences. */
#include "unit/judged.h"

/* Cells as "0 MPI_Recv 0.2; 1 all 0.05". */
static void expect_cells(const struct heuristic_result *result, const char *want, const char *name)
{
    char got[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < result->cell_count && used < sizeof got; i++) {
        const struct cell *cell = &result->cells[i];
        used +=
            (size_t)snprintf(got + used, sizeof got - used, "%s%u %s %.12g", i ? "; " : "", cell->rank,
                             cell->state == CELL_ALL_FUNCTIONS ? "all" : defs->states[cell->state].name, cell->index);
    }
    tap_equal_string(got, want, "%s: cells", name);
}

static void expect_index(const struct heuristic_result *result, double index, double mean, const char *name)
{
    tap_ok(near(result->index, index) && near(result->share, index) && near(result->mean, mean) &&
               !result->is_deviation && result->master == -1,
           "%s: index and mean", name);
}

/* Two processes, ten seconds. Process 1 has a second of its receives' time inside nested calls. */
static struct metrics *aims_make(void)
{
    struct metrics *metrics = metrics_make(2, (const double[]){6, 5}, (const double[]){4, 5});
    calls_add(metrics, 0, "MPI_Barrier", 2, 0.5, 0.5, 0.25);
    calls_add(metrics, 0, "MPI_File_write", 1, 1, 1, 1);
    calls_add(metrics, 0, "MPI_Recv", 2, 2, 2, 0.5);
    calls_add(metrics, 0, "MPI_Send", 4, 1, 1, 0.1);
    calls_add(metrics, 0, "MPI_Win_fence", 1, 0.5, 0.5, 0.5);
    calls_add(metrics, 0, "work", 3, 5, 5, 1);
    calls_add(metrics, 1, "MPI_Barrier", 2, 1.4, 1.4, 0.5);
    calls_add(metrics, 1, "MPI_Recv", 2, 4, 2.8, 1);
    calls_add(metrics, 1, "MPI_Send", 1, 0.2, 0.2, 0.2);
    messages_add(metrics, 0, 1, 4);
    messages_add(metrics, 1, 0, 1);
    return metrics;
}

#define BLOCKED                                                                                                        \
    " of the processes' time is spent blocked: the time that calls take beyond the shortest call of "                  \
    "the same function in the run. "
#define UNMATCHED                                                                                                      \
    "Messages are not matched across processes here: larger transfers are counted as well, and waiting that even the " \
    "shortest call has is not."

static void test_locators(void)
{
    struct metrics *metrics = aims_make();
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *result = heuristics_find(results, "communication-locator");
    expect_cells(result, "0 MPI_Recv 0.2; 0 MPI_Send 0.1; 1 MPI_Recv 0.28; 1 MPI_Send 0.02", "communication locator");
    expect_index(result, 0.3, 0.15, "communication locator");
    expect_spoken(result, "communication locator", VERDICT_POOR, "",
                  "30 % of the processes' time, from the start of the run to its end, is spent in calls that move data "
                  "or wait for it. By function: MPI_Recv 24 % (most on process "
                  "1: 28 %), MPI_Send 6.0 % (most on process 0: 10 %).",
                  "start with MPI_Recv on process 1");
    tap_ok(near(detail_of(result, "processes"), 2) && near(detail_of(result, "duration_s"), 10) &&
               near(detail_of(result, "sum_s"), 6),
           "communication locator: details");
    result = heuristics_find(results, "synchronisation-locator");
    expect_cells(result, "0 MPI_Barrier 0.05; 0 MPI_Win_fence 0.05; 1 MPI_Barrier 0.14", "synchronisation locator");
    expect_index(result, 0.12, 0.08, "synchronisation locator");
    expect_spoken(result, "synchronisation locator", VERDICT_FAIR, "",
                  "12 % of the processes' time is spent in synchronisation. By function: MPI_Barrier 9.5 % (most on "
                  "process 1: 14 %), MPI_Win_fence 2.5 % (most on process 0: 5.0 %).",
                  "check whether each barrier is needed: messages and collectives already order the processes");
    heuristics_free(results);
    metrics_free(metrics);
}

static void test_overhead_and_contention(void)
{
    struct metrics *metrics = aims_make();
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *result = heuristics_find(results, "communication-overhead");
    expect_cells(result, "0 all 0.04; 1 all 0.01", "communication overhead");
    expect_index(result, 0.025, 0.025, "communication overhead");
    expect_spoken(result, "communication overhead", VERDICT_GOOD, "",
                  "5 messages (100 B on average) at 100 ms each, the shortest send of the run, account for 2.5 % of "
                  "the processes' time.",
                  NULL);
    tap_ok(near(detail_of(result, "messages"), 5) && near(detail_of(result, "shortest_send_s"), 0.1),
           "communication overhead: details");
    result = heuristics_find(results, "contention");
    expect_cells(result, "0 MPI_Recv 0.1; 0 MPI_Send 0.06; 1 MPI_Barrier 0.09; 1 MPI_Recv 0.28; 1 MPI_Send 0.01",
                 "contention, no more than the exclusive time");
    expect_index(result, 0.27, 0.108, "contention");
    expect_spoken(result, "contention", VERDICT_POOR, "",
                  "About 27 %" BLOCKED
                  "By function: MPI_Recv 19 % (most on process 1: 28 %), MPI_Barrier 4.5 % (most on process 1: 9.0 %), "
                  "MPI_Send 3.5 % (most on process 0: 6.0 %). " UNMATCHED,
                  "find the process that is waited for: the one with the longest computing time or the most messages");
    heuristics_free(results);
    metrics_free(metrics);
}

/* One second of each function: what counts as what, and that three functions are said. */
static void test_classes(void)
{
    struct metrics *metrics = metrics_make(1, (const double[]){80}, (const double[]){20});
    for (size_t i = 0; i < STATES; i++)
        calls_add(metrics, 0, names[i], 1, 1, 1, 1);
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *result = heuristics_find(results, "communication-locator");
    expect_cells(
        result,
        "0 MPI_Allreduce 0.01; 0 MPI_Iprobe 0.01; 0 MPI_Isendrecv 0.01; 0 MPI_Pready 0.01; 0 MPI_Put 0.01; 0 MPI_Recv "
        "0.01; 0 MPI_Send 0.01; 0 MPI_Send_init 0.01; 0 MPI_Sendrecv 0.01; 0 MPI_Start 0.01; 0 MPI_Waitall 0.01",
        "communication is what moves data");
    tap_equal_string(
        result->analysis,
        "11 % of the processes' time, from the start of the run to its end, is spent in calls that move data or wait "
        "for it. By function: MPI_Allreduce 1.0 % (most on process 0: "
        "1.0 %), MPI_Iprobe 1.0 % (most on process 0: 1.0 %), MPI_Isendrecv 1.0 % (most on process 0: 1.0 %).",
        "three functions are said, equal ones by place");
    result = heuristics_find(results, "synchronisation-locator");
    expect_cells(result, "0 MPI_Barrier 0.01; 0 MPI_Win_fence 0.01; 0 PMPI_Win_fence 0.01",
                 "synchronisation is barriers and epochs, by either name");
    expect_cells(heuristics_find(results, "contention"), "", "the shortest call is not blocked");
    heuristics_free(results);
    metrics_free(metrics);
}

static void test_quiet(void)
{
#define NO_DURATION "The run has no duration: shares cannot be computed."
    static const struct {
        const char *id, *of_run, *of_nothing;
    } cases[] = {
        {"communication-locator",
         "0 % of the processes' time, from the start of the run to its end, is spent in calls that move data or wait "
         "for it.",
         NO_DURATION},
        {"synchronisation-locator", "No time is spent in barriers or window synchronisation.", NO_DURATION},
        {"communication-overhead", "No messages were sent.", "No messages were sent."},
        {"contention", "About 0 %" BLOCKED UNMATCHED, NO_DURATION},
    };
#undef NO_DURATION
    struct metrics *run = run_make("1 1", false), *nothing = run_make("", false), *instant = run_make("0 0", false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *id = cases[i].id;
        expect_judged(run, id, id, VERDICT_GOOD, "", cases[i].of_run, NULL);
        expect_judged(nothing, id, id, VERDICT_UNKNOWN, "", cases[i].of_nothing, NULL);
        expect_judged(instant, id, id, VERDICT_UNKNOWN, "", cases[i].of_nothing, NULL);
    }
    metrics_free(run);
    metrics_free(nothing);
    metrics_free(instant);
}

static void test_overhead_sends(void)
{
    static const char id[] = "communication-overhead";
    struct metrics *metrics = metrics_make(2, (const double[]){10, 10}, NULL);
    for (size_t i = 0; i < STATES; i++)
        calls_add(metrics, 0, names[i], 1, 0.2, 0.2, strcmp(names[i], "MPI_Send") == 0 ? 0.2 : 0.1);
    calls_add(metrics, 1, "MPI_Send", 0, 0, 0, 0);
    expect_judged(metrics, id, "sends to nobody", VERDICT_GOOD, "", "No messages were sent.", NULL);
    messages_add(metrics, 0, 1, 1);
    expect_judged(
        metrics, id, "one message; only a call that does nothing but send shows its cost", VERDICT_GOOD, "",
        "1 message (100 B) at 200 ms, the shortest send of the run, accounts for 1.0 % of the processes' time.", NULL);
    messages_add(metrics, 1, 0, 10);
    expect_judged(metrics, id, "many messages", VERDICT_FAIR, "",
                  "11 messages (100 B on average) at 200 ms each, the shortest send of the run, account for 11 % of "
                  "the processes' time.",
                  "combine messages to the same process into fewer, larger ones");
    metrics_free(metrics);
    metrics = metrics_make(2, (const double[]){10, 10}, NULL);
    calls_add(metrics, 0, "MPI_Start", 1, 1, 1, 1);
    messages_add(metrics, 0, 1, 1);
    expect_judged(metrics, id, "messages without a send", VERDICT_UNKNOWN, "",
                  "Messages were sent, but no recorded send shows how long one takes.", NULL);
    metrics_free(metrics);
}

/* The only call of a function is its own shortest one. */
static void test_only_calls(void)
{
    static const char id[] = "contention";
    struct metrics *metrics = metrics_make(2, (const double[]){10, 10}, NULL);
    calls_add(metrics, 0, "MPI_Recv", 1, 5, 5, 5);
    expect_judged(metrics, id, "one call", VERDICT_UNKNOWN, "",
                  "How much time is spent blocked is not known: messages are not matched across processes here, and no "
                  "function is called twice.",
                  NULL);
    calls_add(metrics, 1, "MPI_Recv", 1, 1, 1, 1);
    expect_judged(metrics, id, "two calls", VERDICT_FAIR, "",
                  "About 20 %" BLOCKED "By function: MPI_Recv 20 % (most on process 0: 40 %). " UNMATCHED,
                  "find the process that is waited for: the one with the longest computing time or the most messages");
    metrics_free(metrics);
}

/* Matched across processes: of two times ten seconds 3 are spent waiting, 2.5 in receives. */
static void test_matched_contention(void)
{
    struct metrics *metrics = aims_make();
    struct analysis *analysis = metrics->analysis = analysis_new(2, defs->state_count);
    static const struct {
        enum wait_kind kind;
        size_t process;
        const char *name;
        double seconds;
    } waits[] = {{WAIT_LATE_SENDER, 1, "MPI_Recv", 2.5},
                 {WAIT_AT_BARRIER, 0, "MPI_Barrier", 0.5},
                 {WAIT_BARRIER_COMPLETION, 0, "MPI_Barrier", 9}};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        struct wait_sums *sums = &analysis->waits[waits[i].kind];
        sums->victims_ns[waits[i].process] = nanoseconds(waits[i].seconds);
        sums->states_ns[defs_find_state(defs, waits[i].name)] = nanoseconds(waits[i].seconds);
    }
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *result = heuristics_find(results, "contention");
    expect_index(result, 0.15, 0.15, "contention, matched");
    expect_cells(result, "0 all 0.05; 1 all 0.25", "contention, matched");
    expect_spoken(result, "contention, matched", VERDICT_FAIR, "",
                  "15 % of the processes' time is spent blocked, waiting for calls of other processes. By function: "
                  "MPI_Recv 12 %, MPI_Barrier 2.5 %.",
                  "see the findings for which processes are waited for and what to do (sight explain)");
    heuristics_free(results);
    analysis->process_count = 1;
    results = heuristics_judge(metrics);
    tap_ok(strstr(heuristics_find(results, "contention")->analysis, UNMATCHED) != NULL,
           "an analysis of other processes is none");
    heuristics_free(results);
    analysis->process_count = 2;
    metrics_free(metrics);
}

int main(void)
{
    defs_make();
    test_locators();
    test_overhead_and_contention();
    test_classes();
    test_only_calls();
    test_matched_contention();
    test_quiet();
    test_overhead_sends();
    defs_free(defs);
    return tap_done();
}
