/* SPDX-License-Identifier: BSD-3-Clause */
/* Advice that fits the structure of a run: which row of the table is taken, its numbers, and POP's names. */
#include "heuristics/advice.h"

#include "unit/hand_metrics.h"

enum { PROCESSES = 8 };

static struct defs *defs;

/* A run of ten seconds on eight processes; each computes for nine. */
static struct metrics *run_new(void)
{
    struct metrics *metrics = hand_metrics(defs, PROCESSES, 10, 1);
    metrics->analysis = analysis_new(PROCESSES, defs->state_count);
    metrics->analysis->duration = hand_ns(10);
    metrics->analysis->load_balance = 1;
    return metrics;
}

static void waits(struct metrics *metrics, enum wait_kind kind, size_t victim, size_t cause, double seconds)
{
    struct wait_sums *sums = &metrics->analysis->waits[kind];
    sums->ns += hand_ns(seconds);
    sums->victims_ns[victim] += hand_ns(seconds);
    sums->causes_ns[cause] += hand_ns(seconds);
}

/* A finding of this id with these causes and victims, given its advice. */
static struct finding *fitted_to(const struct metrics *metrics, const char *id, enum wait_kind kind,
                                 const char *function)
{
    static struct finding finding;
    const struct wait_sums *sums = &metrics->analysis->waits[kind];
    struct structure structure = structure_of_run(metrics);
    finding = (struct finding){
        .kind = finding_find(id), .id = id, .text = "It waits.", .advice = "its own", .functions = {function}};
    finding.victims = ranks_with_most(metrics, sums->victims_ns, 0.95);
    finding.causes = ranks_to_blame(metrics, sums->causes_ns);
    finding.saving_s = (double)sums->ns / 1e9 / (PROCESSES - 1);
    advice_fit(&(struct finding_input){metrics, NULL, metrics->analysis, 0}, &structure, &finding);
    free(finding.victims.rank);
    free(finding.causes.rank);
    return &finding;
}

static struct finding *fitted(const struct metrics *metrics, const char *id, enum wait_kind kind)
{
    return fitted_to(metrics, id, kind, "MPI_Recv");
}

static void expect(const struct finding *finding, const char *text, const char *advice_begin, const char *name)
{
    tap_equal_string(finding->text, text, "%s: says why", name);
    tap_ok(strncmp(finding->advice, advice_begin, strlen(advice_begin)) == 0, "%s: %s", name, advice_begin);
}

static struct metrics *star_new(void)
{
    struct metrics *metrics = run_new();
    for (size_t i = 1; i < PROCESSES; i++) {
        hand_messages(metrics, 0, i, 20, 800);
        hand_messages(metrics, i, 0, 20, 800);
        waits(metrics, WAIT_LATE_SENDER, i, 0, 2);
    }
    return metrics;
}

static void test_master(void)
{
    struct metrics *metrics = star_new();
    waits(metrics, WAIT_AT_NXN, 0, 1, 0.3);
    expect(fitted(metrics, "late-sender", WAIT_LATE_SENDER),
           "It waits. The workers wait for the master: process 0 is busy for 97 % of the run.", "relieve the master",
           "a busy master");
    expect(fitted(metrics, "compute-imbalance", WAIT_LATE_SENDER),
           "It waits. The workers wait for the master: process 0 is busy for 97 % of the run.", "relieve the master",
           "a master that computes most");
    waits(metrics, WAIT_AT_NXN, 0, 1, 2.7);
    expect(fitted(metrics, "late-sender", WAIT_LATE_SENDER),
           "It waits. The master is not the bottleneck: process 0 is busy for only 70 % of the run.",
           "start with the largest tasks", "a master with time");
    expect(fitted(metrics, "compute-imbalance", WAIT_AT_NXN), "It waits.", "its own", "even work of workers");
    for (size_t i = 2; i < PROCESSES; i++)
        hand_times(metrics, i, 8, 2);
    expect(fitted(metrics, "compute-imbalance", WAIT_AT_NXN), "It waits.", "hand out the largest pieces first",
           "uneven work of workers");
    expect(fitted(metrics, "late-receiver", WAIT_AT_NXN), "It waits.", "its own", "a worker is waited for");
    metrics_free(metrics);
}

/* What a busy master does once, as writing results, does not serve its workers. */
static void test_once(void)
{
    struct metrics *metrics = star_new();
    metrics->analysis->uneven.ns = metrics->analysis->uneven.causes_ns[0] = hand_ns(5);
    metrics->analysis->once_excess = hand_ns(2);
    metrics->analysis->once = hand_ns(3);
    expect(fitted(metrics, "compute-imbalance", WAIT_LATE_SENDER),
           "It waits. The workers wait for the master: process 0 is busy for 100 % of the run.", "relieve the master",
           "less than half is done once");
    metrics->analysis->once_excess = hand_ns(3);
    expect(fitted(metrics, "compute-imbalance", WAIT_LATE_SENDER), "It waits.", "its own", "most is done once");
    metrics_free(metrics);
}

/* Most bytes are to and from process 0, most messages between the others. */
static void test_star_of_bytes(void)
{
    struct metrics *metrics = run_new();
    for (size_t i = 1; i < PROCESSES; i++) {
        hand_messages(metrics, 0, i, 2, 100000);
        hand_messages(metrics, i, 0, 1, 100000);
        hand_messages(metrics, i, i + 1 < PROCESSES ? i + 1 : 1, 200, 200);
        waits(metrics, WAIT_LATE_SENDER, i, 0, 2);
    }
    expect(fitted(metrics, "late-sender", WAIT_LATE_SENDER),
           "It waits. The workers wait for the master: process 0 is busy for 100 % of the run.", "relieve the master",
           "process 0 sends, too");
    metrics_free(metrics);
}

/* A worker returns one result and gets `tasks`. */
static void expect_shares(uint64_t tasks, const char *advice, const char *name)
{
    struct metrics *metrics = run_new();
    hand_times(metrics, 0, 0.1, 9.9);
    for (size_t i = 1; i < PROCESSES; i++) {
        if (tasks > 0)
            hand_messages(metrics, 0, i, tasks, 100 * tasks);
        hand_messages(metrics, i, 0, 1, 1000);
        hand_times(metrics, i, i == 1 ? 9 : 5, i == 1 ? 1 : 5);
    }
    waits(metrics, WAIT_AT_NXN, 0, 1, 2.7);
    expect(fitted(metrics, "compute-imbalance", WAIT_AT_NXN), "It waits.", advice, name);
    metrics_free(metrics);
}

static void test_fixed_shares(void)
{
    expect_shares(0, "give each worker many small pieces", "nothing is handed out");
    expect_shares(1, "give each worker many small pieces", "one share each");
    expect_shares(2, "hand out the largest pieces first", "two tasks each");
}

/* A master gives each worker `tasks` and gets as many results of `bytes`; a worker computes for 5 ms, moves messages
   for `moving` ms and waits for the master for one. */
static void expect_tasks(uint64_t tasks, uint64_t bytes, double moving, bool small, const char *name)
{
    static const double MS = 1e-3;
    struct metrics *metrics = run_new();
    hand_calls(metrics, 0, "MPI_Recv", 0.1 * MS);
    for (size_t i = 1; i < PROCESSES; i++) {
        hand_messages(metrics, 0, i, tasks, bytes * tasks);
        hand_messages(metrics, i, 0, tasks, bytes * tasks);
        hand_times(metrics, i, 5 * MS, (moving + 1) * MS);
        hand_calls(metrics, i, "MPI_Recv", (moving + 1) * MS);
        waits(metrics, WAIT_LATE_SENDER, i, 0, 1 * MS);
    }
    const struct finding *finding = fitted_to(metrics, "transfer", WAIT_LATE_SENDER, "MPI_Recv");
    expect(finding,
           small
               ? "It waits. The tasks are small: a worker computes 250 µs for each on average, and spends 44 % of its "
                 "time on getting and returning them."
               : "It waits.",
           small ? "hand out larger tasks" : "its own", name);
    metrics_free(metrics);
}

static void test_tasks(void)
{
    expect_tasks(20, 1023, 3, true, "small tasks");
    expect_tasks(20, 1024, 3, false, "a task has much data");
    expect_tasks(9, 100, 3, false, "few tasks");
    expect_tasks(20, 100, 20, false, "messages that take long for what they carry");
    expect_tasks(20, 100, 0.5, false, "a task is ten times as long as its messages");
}

/* The same waits, with messages in one direction only: not a master. */
static void test_one_way(void)
{
    for (int out = 0; out < 2; out++) {
        struct metrics *metrics = run_new();
        for (size_t i = 1; i < PROCESSES; i++) {
            hand_messages(metrics, out ? 0 : i, out ? i : 0, 20, 800);
            waits(metrics, WAIT_LATE_SENDER, i, 0, 2);
        }
        expect(fitted(metrics, "late-sender", WAIT_LATE_SENDER),
               out ? "It waits. Process 0 only sends to each of the other processes: 100 % of all messages."
                   : "It waits. Process 0 only receives from each of the other processes: 100 % of all messages.",
               out ? "send once with a collective" : "collect with MPI_Gatherv",
               out ? "sends to all" : "gets from all");
        expect(fitted_to(metrics, "transfer", WAIT_LATE_SENDER, "MPI_Barrier"), "It waits.", "its own",
               "a barrier moves none of these messages");
        metrics_free(metrics);
    }
}

static struct metrics *chain_new(uint64_t pieces)
{
    struct metrics *metrics = run_new();
    for (size_t i = 0; i + 1 < PROCESSES; i++) {
        hand_messages(metrics, i, i + 1, pieces, 100 * pieces);
        waits(metrics, WAIT_LATE_SENDER, i + 1, i, 1);
    }
    return metrics;
}

/* 8 stages: 7 pieces keep them busy half of the time, 28 of them 80 %. Of those each takes 9 s / 28, and 7 are
 * lost: 2.25 s.
 */
static void test_pipeline(void)
{
    struct metrics *metrics = chain_new(7);
    expect(fitted(metrics, "serialisation", WAIT_LATE_SENDER),
           "It waits. A pipeline of P = 8 stages with N = 7 pieces each is busy for at most 50 % of the time: N / (N + "
           "P - 1).",
           "split the work into more", "a short pipeline");
    metrics_free(metrics);
    metrics = chain_new(28);
    expect(
        fitted(metrics, "late-sender", WAIT_LATE_SENDER),
        "It waits. The stages take equally long, and what is lost is filling and draining: a pipeline of P = 8 stages "
        "with N = 28 pieces each is busy for 80 % of the time, N / (N + P - 1).",
        "split the work into more", "an even pipeline");
    for (size_t i = 0; i + 1 < PROCESSES; i++)
        waits(metrics, WAIT_LATE_SENDER, i + 1, i, 3);
    expect(fitted(metrics, "late-sender", WAIT_LATE_SENDER),
           "It waits. In total the stages of the pipeline, P = 8 stages with N = 28 pieces each, compute about equally "
           "long (load balance 100 %), but not each piece: a stage waits where the one before it takes longer for a "
           "piece.",
           "make the pieces equally long", "an even pipeline that loses more");
    metrics->analysis->load_balance = 0.8;
    expect(fitted(metrics, "late-sender", WAIT_LATE_SENDER),
           "It waits. A pipeline of P = 8 stages with N = 28 pieces each could be busy for 80 % of the time if its "
           "stages took equally long.",
           "balance the stages", "a long pipeline");
    metrics_free(metrics);
}

/* 8 processes in a chain, with this serialisation and messages of so many bytes (-1: not known). */
static const char *chained(double serialisation, int64_t bytes)
{
    struct metrics *metrics = run_new();
    metrics->analysis->serialisation = serialisation;
    for (size_t i = 0; i + 1 < PROCESSES; i++) {
        hand_messages(metrics, i, i + 1, 7, bytes > 0 ? 7 * (uint64_t)bytes : 0);
        waits(metrics, WAIT_LATE_SENDER, i + 1, i, 1);
    }
    if (bytes >= 0)
        hand_size(metrics, 7 * (PROCESSES - 1), 7 * (PROCESSES - 1) * (uint64_t)bytes);
    struct finding *finding = fitted(metrics, "serialisation", WAIT_LATE_SENDER);
    metrics_free(metrics);
    return finding->text;
}

/* A token is a message of few bytes. Messages whose size the trace does not say are in no size class. Where several
   processes compute at the same time nobody works in turn. */
static void test_token(void)
{
    tap_ok(strstr(chained(0.15, 0), "0 B each, a token") != NULL, "a token is small");
    tap_ok(!strstr(chained(0.15, -1), "a token"), "a token is known to be small");
    tap_equal_string(chained(0.15, 4000),
                     "It waits. A chain: each process works when it has got 4.0 kB from the one before it, one process "
                     "at a time, and none computes for more than 15 % of the critical path.",
                     "a chain of larger messages");
    tap_ok(strstr(chained(0.45, 0), "A pipeline of P = 8 stages") != NULL,
           "a pipeline of small messages: half of its processes compute");
    tap_equal_string(chained(0.25, 4000), "It waits.", "a pipeline that is filled again and again");
}

static void test_halo(void)
{
    struct metrics *metrics = run_new();
    for (size_t i = 0; i < PROCESSES; i++)
        for (size_t k = 0; k < PROCESSES; k++)
            if ((k == i + 1 && i % 4 != 3) || (i == k + 1 && k % 4 != 3) || k == i + 4 || i == k + 4)
                hand_messages(metrics, i, k, 10, 1000);
    for (size_t i = 0; i < PROCESSES; i++)
        waits(metrics, WAIT_LATE_SENDER, i, (i + 1) % PROCESSES, 1);
    expect(fitted(metrics, "late-sender", WAIT_LATE_SENDER), "It waits.", "start the exchange first", "an even halo");
    metrics->analysis->serialisation = 0.4;
    expect(fitted(metrics, "late-sender", WAIT_LATE_SENDER),
           "It waits. Neighbours in the grid work one after the other, as in a sweep: of the critical path no process "
           "computes more than 40 %.",
           "split the work into smaller blocks", "a sweep");
    metrics->analysis->load_balance = 0.6;
    expect(fitted(metrics, "late-sender", WAIT_LATE_SENDER),
           "It waits. Waiting in MPI_Recv is caused by uneven work: load balance 60 %.", "balance the work first",
           "an uneven halo");
    metrics_free(metrics);
}

/* No messages: all wait 3 s at a barrier for one. */
static void test_serial(void)
{
    struct metrics *metrics = run_new();
    for (size_t i = 0; i < PROCESSES; i++)
        if (i != 3)
            waits(metrics, WAIT_AT_BARRIER, i, 3, 3);
    expect(fitted(metrics, "wait-at-barrier", WAIT_AT_BARRIER),
           "It waits. A serial section: process 3 works alone for 30 % of the run while all other processes wait.",
           "divide that work", "a serial section");
    expect(fitted(metrics, "late-start", WAIT_AT_BARRIER), "It waits.", "its own", "another finding");
    metrics->analysis->alone = hand_ns(3);
    metrics->analysis->alone_process = 3;
    expect(fitted(metrics, "compute-imbalance", WAIT_AT_BARRIER),
           "It waits. A serial section: process 3 works alone for 30 % of the run while all other processes wait.",
           "divide that work", "the work that is uneven is that of one alone");
    metrics->analysis->alone_process = 4;
    expect(fitted(metrics, "compute-imbalance", WAIT_AT_BARRIER), "It waits.", "its own", "another works alone");
    waits(metrics, WAIT_LATE_SENDER, 3, 1, 2.5);
    expect(fitted(metrics, "wait-at-barrier", WAIT_AT_BARRIER), "It waits.", "its own", "a process that waits itself");
    waits(metrics, WAIT_AT_BARRIER, 0, 1, 2);
    expect(fitted(metrics, "wait-at-barrier", WAIT_AT_BARRIER), "It waits.", "its own", "not alone");
    metrics_free(metrics);
}

static void expect_ranks(struct ranks ranks, const char *want, const char *name)
{
    char text[RANKS_TEXT_SIZE];
    tap_equal_string(ranks.count ? ranks_text(text, ranks.rank, ranks.count) : "", want, "%s", name);
    free(ranks.rank);
}

static void test_ranks(void)
{
    struct metrics *metrics = run_new();
    const int64_t equals[PROCESSES] = {99, 100, 98, 100, 99, 97, 0, 0};
    expect_ranks(ranks_with_most(metrics, equals, 0.8), "0–5", "equals are named together");
    expect_ranks(ranks_to_blame(metrics, equals), "0–5", "and blamed together");
    const int64_t one[PROCESSES] = {9, 8, 100, 9, 8, 9, 8, 9};
    expect_ranks(ranks_to_blame(metrics, one), "2", "the little of many is no fault of theirs");
    expect_ranks(ranks_with_most(metrics, one, 0.95), "0–7", "though it is part of the sum");
    const int64_t falling[PROCESSES] = {60, 30, 10, 0, 0, 0, 0, 0};
    expect_ranks(ranks_to_blame(metrics, falling), "0,1", "those with 0.8 of the sum");
    const int64_t none[PROCESSES] = {0};
    expect_ranks(ranks_to_blame(metrics, none), "", "nobody");
    metrics_free(metrics);
}

static void test_patterns(void)
{
    struct metrics *metrics = star_new();
    const struct finding *finding = fitted(metrics, "late-sender", WAIT_LATE_SENDER);
    tap_ok(finding->pattern && strncmp(finding->pattern, "Communication imbalance", 23) == 0,
           "even work, one has most messages: POP's communication imbalance");
    metrics->analysis->load_balance = 0.5;
    tap_ok(!fitted(metrics, "late-sender", WAIT_LATE_SENDER)->pattern, "uneven work: not that");
    finding = fitted(metrics, "contention", WAIT_LATE_SENDER);
    tap_ok(finding->pattern && strncmp(finding->pattern, "MPI endpoint contention", 23) == 0,
           "queues: POP's endpoint contention");
    tap_ok(!fitted(metrics, "dynamic-imbalance", WAIT_LATE_SENDER)->pattern, "no iterations: no pattern of theirs");
    struct phase_metrics phases = {.iterations.kind = ITERATION_ROTATING};
    metrics->phases = &phases;
    finding = fitted(metrics, "dynamic-imbalance", WAIT_LATE_SENDER);
    tap_ok(finding->pattern && strncmp(finding->pattern, "Dynamic load imbalance", 22) == 0,
           "work that goes round: POP's dynamic load imbalance");
    phases.iterations.kind = ITERATION_RANDOM;
    tap_ok(!fitted(metrics, "dynamic-imbalance", WAIT_LATE_SENDER)->pattern, "random: not that");
    metrics->phases = NULL;
    metrics_free(metrics);
}

int main(void)
{
    static const char *const names[] = {"MPI_Recv", "MPI_Barrier"};
    defs = hand_defs(names, 2);
    defs->states[0].class = CLASS_P2P;
    defs->states[1].class = CLASS_SYNC;
    test_master();
    test_once();
    test_star_of_bytes();
    test_fixed_shares();
    test_tasks();
    test_one_way();
    test_ranks();
    test_pipeline();
    test_token();
    test_halo();
    test_serial();
    test_patterns();
    defs_free(defs);
    return tap_done();
}
