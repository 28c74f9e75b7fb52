/* SPDX-License-Identifier: BSD-3-Clause */
/* Masters: which process is one, and what is said of a run that has one. */
#include "heuristics/master.h"
#include "unit/judged.h"

#define WITHOUT_EVEN "Without the master: deviation 0 s (0 % of the mean): good."
#define MIRRORED " These times mirror the computing times: a process that computes less spends more time in MPI."

struct master_run {
    const char *name, *compute, *communication;
    enum verdict verdict;
    const char *headline, *analysis, *suggestion;
};

static void expect_master_run(const struct master_run *run, const char *id)
{
    double compute[VALUES], communication[VALUES] = {0};
    const char *rest;
    size_t count = values_of(run->compute, compute, &rest);
    values_of(run->communication, communication, &rest);
    struct metrics *metrics = star_make(count, 0, compute, communication);
    expect_judged(metrics, id, run->name, run->verdict, run->headline, run->analysis, run->suggestion);
    metrics_free(metrics);
}

static void test_master_computes(void)
{
    static const struct master_run cases[] = {
        {"even workers", "0.05 1 1 1 1 1 1 1", "", VERDICT_POOR,
         "process 0 is a master that hardly computes compared with its workers",
         "Process 0 is the master of 7 workers: it hardly computes (50.0 ms), they compute 1.00 s each. " WITHOUT_EVEN,
         NULL},
        {"workers a little uneven", "0.4 0.95 1.05", "", VERDICT_POOR,
         "process 0 is a master that computes less than its workers",
         "Process 0 is the master of 2 workers: it computes 400 ms, they compute 950 ms to 1.05 s. Without the master: "
         "deviation 50.0 ms (5.0 % of the mean): good.",
         NULL},
        {"one worker overloaded", "0.4 1 1 1 4 1 1 1", "", VERDICT_POOR,
         "process 0 is a master that computes less than its workers",
         "Process 0 is the master of 7 workers: it computes 400 ms, they compute 1.00 s to 4.00 s. Without the master: "
         "deviation 1.05 s (73 % of the mean): poor. Among the workers: process 4 computes 4.00 s, the other 6 "
         "processes 1.00 s each: one process far above the rest.",
         "give process 4 less work, or find out what it does that the other processes do not"},
        {"two workers", "0 1 1.5", "", VERDICT_POOR,
         "process 0 is a master that hardly computes compared with its workers",
         "Process 0 is the master of 2 workers: it hardly computes (0 s), they compute 1.00 s to 1.50 s. Without the "
         "master: deviation 250 ms (20 % of the mean): fair. Among the workers: process 2 computes more (1.50 s, 20 % "
         "above the mean), process 1 less (1.00 s, 20 % below it).",
         "move work from process 2 to process 1"},
        {"two groups of workers", "0 1 1 3 3", "", VERDICT_POOR,
         "process 0 is a master that hardly computes compared with its workers",
         "Process 0 is the master of 4 workers: it hardly computes (0 s), they compute 1.00 s to 3.00 s. Without the "
         "master: deviation 1.00 s (50 % of the mean): poor. Among the workers: two groups: processes 3,4 compute 3.00 "
         "s on average, the rest (1,2) 1.00 s.",
         DIVIDED},
        {"workers in a gradient", "0 1 2 3 4", "", VERDICT_POOR,
         "process 0 is a master that hardly computes compared with its workers",
         "Process 0 is the master of 4 workers: it hardly computes (0 s), they compute 1.00 s to 4.00 s. Without the "
         "master: deviation 1.12 s (45 % of the mean): poor. Among the workers: a gradient over the ranks: the "
         "computing time grows with the rank, from 1.00 s on process 1 to 4.00 s on process 4.",
         IN_TURN},
        {"scattered workers", "0 3 1 5 2 4", "", VERDICT_POOR,
         "process 0 is a master that hardly computes compared with its workers",
         "Process 0 is the master of 5 workers: it hardly computes (0 s), they compute 1.00 s to 5.00 s. Without the "
         "master: deviation 1.41 s (47 % of the mean): poor. Among the workers: no simple pattern. Process 3 computes "
         "most (5.00 s, 67 % above the mean), process 2 least (1.00 s, 67 % below it).",
         "hand out the work in smaller pieces, as processes ask for it; process 3 has the most"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_master_run(&cases[i], "stddev-compute");
}

static void test_master_communicates(void)
{
    static const struct master_run cases[] = {
        {"a master that communicates, even workers", "0.1 1 1 1", "1 0.1 0.1 0.1", VERDICT_POOR,
         "process 0 is a master that communicates longer than its workers",
         "Process 0 is the master of 3 workers: it communicates 1.00 s, they communicate 100 ms each. " WITHOUT_EVEN
             MIRRORED,
         NULL},
        {"a master that communicates, uneven workers", "0 1 1.8 1", "2 1 0.2 1", VERDICT_POOR,
         "process 0 is a master that communicates longer than its workers",
         "Process 0 is the master of 3 workers: it communicates 2.00 s, they communicate 200 ms to 1.00 s. Without the "
         "master: deviation 377 ms (51 % of the mean): poor. Among the workers: process 2 communicates only 200 ms, "
         "the other 2 processes 1.00 s each: one process nearly without communication." MIRRORED,
         "balance the computing first: the times in MPI follow it"},
        {"a master that hardly communicates", "0 1 1 1", "0.01 1 1 1", VERDICT_POOR,
         "process 0 is a master that hardly communicates compared with its workers",
         "Process 0 is the master of 3 workers: it hardly communicates (10.0 ms), they communicate 1.00 s "
         "each. " WITHOUT_EVEN,
         NULL},
        {"a master that communicates less", "0 1 1 1", "0.5 1 1 1", VERDICT_FAIR,
         "process 0 is a master that communicates less than its workers",
         "Process 0 is the master of 3 workers: it communicates 500 ms, they communicate 1.00 s each. " WITHOUT_EVEN,
         NULL},
        {"workers that take no time to communicate", "0 1 1 1", "1 0 0 0", VERDICT_POOR,
         "process 0 is a master that communicates longer than its workers",
         "Process 0 is the master of 3 workers: it communicates 1.00 s, they communicate 0 s each." MIRRORED, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_master_run(&cases[i], "stddev-communication");
}

static void test_master_numbers(void)
{
    struct metrics *metrics = star_make(4, 2, (const double[]){1, 3, 0, 2}, NULL);
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *compute = heuristics_find(results, "stddev-compute"),
                                  *total = heuristics_find(results, "stddev-total");
    tap_equal_int(compute->master, 2, "the master is in the result");
    expect_number(compute->lost, 1.5, "what is lost is the imbalance with the master");
    expect_number(detail_of(compute, "deviation_without_master_s"), sqrt(2.0 / 3), "deviation without the master");
    expect_number(detail_of(compute, "variation_without_master"), sqrt(2.0 / 3) / 2, "variation without the master");
    tap_ok(total->master == -1 && strstr(total->headline, "master") == NULL, "total times have no master");
    heuristics_free(results);
    metrics_free(metrics);
    metrics = star_make(4, 0, (const double[]){0.01, 0.02, 0.02, 0.02}, (const double[]){9, 9, 9, 9});
    results = heuristics_judge(metrics);
    compute = heuristics_find(results, "stddev-compute");
    tap_ok(master_of(metrics) == 0 && compute->master == -1 && compute->verdict == VERDICT_GOOD,
           "a master does not stand apart where the difference is too little to matter");
    heuristics_free(results);
    metrics_free(metrics);
}

static void expect_master(struct metrics *metrics, int64_t want, const char *name)
{
    tap_equal_int(master_of(metrics), want, "master: %s", name);
    metrics_free(metrics);
}

static void test_master_of(void)
{
    static const double at_first[] = {0, 1, 1, 1, 1}, even[] = {1, 1, 1, 1, 1}, half[] = {0.5, 1, 1, 1},
                        over_half[] = {0.500000001, 1, 1, 1}, at_last[] = {1, 1, 1, 0},
                        overloaded[] = {0.2, 3, 0.2, 0.2, 0.2}, idle[] = {0.2, 1, 1, 1, 0.2};
    expect_master(star_make(3, 0, at_first, NULL), 0, "of three processes");
    expect_master(star_make(2, 0, at_first, NULL), -1, "two processes have none");
    expect_master(star_make(4, 3, at_last, NULL), 3, "of the last rank");
    expect_master(star_make(4, 0, even, NULL), -1, "who computes as much as the others is none");
    expect_master(star_make(4, 0, half, NULL), 0, "computes half of what the others do");
    expect_master(star_make(4, 0, over_half, NULL), -1, "computes more than half");
    expect_master(star_make(5, 0, overloaded, NULL), -1, "who computes little beside one overloaded is none");
    expect_master(star_make(5, 0, idle, NULL), 0, "computes half of what three quarters of the others do");
    expect_master(metrics_make(4, at_first, NULL), -1, "none without messages");
    struct metrics *metrics = metrics_make(4, at_first, NULL);
    for (size_t i = 1; i < 4; i++)
        messages_add(metrics, i, 0, 5);
    expect_master(metrics, 0, "one who only receives");
    metrics = metrics_make(4, at_first, NULL);
    for (size_t i = 0; i < 4; i++)
        messages_add(metrics, i, (i + 1) % 4, 5);
    expect_master(metrics, -1, "none in a ring");
}

static void test_master_limits(void)
{
    static const double compute[] = {0, 1, 1, 1, 1};
    /* 8 ends of 20 are the hub's, then 8 of 22. */
    for (uint64_t beside = 2; beside <= 3; beside++) {
        struct metrics *metrics = metrics_make(3, compute, NULL);
        messages_add(metrics, 0, 1, 4);
        messages_add(metrics, 0, 2, 4);
        messages_add(metrics, 1, 2, beside);
        expect_master(metrics, beside == 2 ? 0 : -1, beside == 2 ? "has 80 % of the messages" : "has less than 80 %");
    }
    for (size_t partners = 2; partners <= 3; partners++) {
        struct metrics *metrics = metrics_make(5, compute, NULL);
        for (size_t i = 1; i <= partners; i++)
            messages_add(metrics, 0, i, 4);
        expect_master(metrics, partners == 3 ? 0 : -1,
                      partners == 3 ? "three quarters of the others" : "half of the others");
    }
    struct metrics *metrics = metrics_make(5, compute, NULL);
    for (size_t i = 0; i <= 2; i++)
        messages_add(metrics, 0, i, 4);
    expect_master(metrics, -1, "messages to itself make no partner");
    metrics = metrics_make(5, compute, NULL);
    messages_add(metrics, 0, 1, 4);
    messages_add(metrics, 0, 2, 4);
    struct process_row *hub = &metrics->process[0];
    partner_add(&hub->sent, &hub->sent_count, PARTNER_NONE, 4);
    partner_add(&hub->sent, &hub->sent_count, EVENT_UNKNOWN, 4);
    expect_master(metrics, -1, "nobody and unknown are no partners");
}

int main(void)
{
    defs_make();
    test_master_computes();
    test_master_communicates();
    test_master_numbers();
    test_master_of();
    test_master_limits();
    defs_free(defs);
    return tap_done();
}
