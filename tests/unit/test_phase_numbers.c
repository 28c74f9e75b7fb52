/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of phases and iterations: traces made by hand, whose every number is known; sums that must not change with
   how they are cut; the rhythm of signals whose period is known. */
#include "phases/phase_numbers.h"

#include "core/memory.h"
#include "heuristics/iterations.h"
#include "phases/rhythm.h"
#include "unit/hand_trace.h"
#include "unit/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct phase_metrics *numbers_of(struct trace *trace, uint32_t processes)
{
    struct graph *graph = graph_of(trace, processes);
    struct phase_metrics *metrics = phase_metrics_with(graph, NULL, graph_threads);
    graph_free(graph);
    return metrics;
}

/* Four processes, `iterations` of computing, a message round the ring and a barrier that all leave together. Rank r
   computes 100 + extra(r, k). Returns the minimum time of an iteration. */
static void make_run(struct trace *trace, uint32_t iterations, int64_t (*extra)(uint32_t rank, uint32_t iteration))
{
    for (uint32_t p = 0; p < 4; p++) {
        int64_t now = 1000;
        call(trace, p, BCAST, 0, 1000);
        for (uint32_t k = 0; k < iterations; k++) {
            int64_t longest = 0, mine = now + 100 + extra(p, k), end;
            for (uint32_t q = 0; q < 4; q++)
                longest = extra(q, k) > longest ? extra(q, k) : longest;
            end = now + 100 + longest + 20;
            message(trace, p, SEND, mine, mine + 5, (int32_t)((p + 1) % 4));
            message(trace, p, RECV, mine + 5, mine + 10, (int32_t)((p + 3) % 4));
            call(trace, p, BARRIER, mine + 10, end);
            now = end;
        }
        call(trace, p, REDUCE, now + 500, now + 600);
    }
}

static int64_t none(uint32_t rank, uint32_t iteration)
{
    (void)rank;
    (void)iteration;
    return 0;
}

static int64_t in_turn(uint32_t rank, uint32_t iteration)
{
    return iteration % 4 == rank ? 200 : 0;
}

static int64_t warming_up(uint32_t rank, uint32_t iteration)
{
    (void)rank;
    return iteration < 2 ? 5000 : iteration == 30 ? 900 : (int64_t)(iteration % 3);
}

static int64_t longer(uint32_t rank, uint32_t iteration)
{
    (void)rank;
    return 10 * (int64_t)iteration;
}

/* C21: what is additive adds up over phases, over processes, and over iterations. */
static void expect_sums(const struct phase_metrics *metrics, int64_t all_ns, const char *name)
{
    struct part_sums sums = {0};
    int64_t compute_ns = 0, mpi_ns = 0, loop_ns = 0;
    uint64_t messages = 0;
    for (size_t i = 0; i < metrics->phase_count; i++) {
        sums.time_ns += metrics->phases[i].sums.time_ns;
        sums.compute_ns += metrics->phases[i].sums.compute_ns;
        sums.mpi_ns += metrics->phases[i].sums.mpi_ns;
        sums.messages += metrics->phases[i].sums.messages;
    }
    for (size_t i = 0; i < metrics->group_count * metrics->phase_count; i++) {
        compute_ns += metrics->cells[i].compute_ns;
        mpi_ns += metrics->cells[i].mpi_ns;
        messages += metrics->cells[i].messages;
    }
    for (size_t i = 0; i < metrics->iterations.row_count; i++)
        loop_ns += metrics->iterations.rows[i].sums.time_ns;
    tap_equal_int(sums.time_ns, all_ns, "%s: phases make the whole", name);
    tap_equal_int(sums.compute_ns + sums.mpi_ns, all_ns, "%s: computing and MPI make the whole", name);
    tap_ok(compute_ns == sums.compute_ns && mpi_ns == sums.mpi_ns && messages == sums.messages,
           "%s: processes make the phases", name);
    /* If the parts before or after are too short for a phase, the loop's includes them. */
    for (size_t i = 0; i < metrics->phase_count && metrics->phase_count == 3; i++)
        if (metrics->phases[i].loop != PHASE_NONE)
            tap_equal_int(loop_ns, metrics->phases[i].sums.time_ns, "%s: iterations make the loop", name);
}

static void test_even(void)
{
    struct trace trace = {0};
    make_run(&trace, 10, none);
    struct phase_metrics *metrics = numbers_of(&trace, 4);
    const struct iteration_metrics *iterations = &metrics->iterations;
    expect_sums(metrics, 4 * (1000 + 10 * 120 + 600), "even");
    tap_equal_int(iterations->count, 10, "even: iterations");
    tap_equal_int(iterations->median_ns, 120, "even: median");
    tap_equal_int(iterations->mad_ns, 0, "even: distance from it");
    tap_equal_int(iterations->loss_ns, 0, "even: nothing is lost");
    tap_ok(iterations->kind == ITERATION_BALANCED, "even: balanced");
    tap_equal_int(iterations->saving_ns, -1, "even: no replay");
    tap_equal_int((long long)metrics->phases[1].sums.messages, 40, "even: messages of the loop");
    tap_equal_int((long long)iterations->rows[3].sums.messages, 4, "even: messages of an iteration");
    tap_equal_int(iterations->rows[3].begin_ns, 1000 + 3 * 120, "even: when an iteration begins");
    tap_equal_int(iterations->rows[3].sums.compute_ns, 400, "even: what all compute in it");
    tap_ok(fabs((double)iterations->rhythm_ns / 120 - 1) < 0.05, "even: the rhythm agrees");
    tap_ok(!iteration_rhythm_differs(iterations), "even: which is not said to differ");
    phase_metrics_free(metrics);
}

static void test_in_turn(void)
{
    struct trace trace = {0};
    make_run(&trace, 12, in_turn);
    struct phase_metrics *metrics = numbers_of(&trace, 4);
    const struct iteration_metrics *iterations = &metrics->iterations;
    expect_sums(metrics, 4 * (1000 + 12 * 320 + 600), "in turn");
    tap_ok(iterations->kind == ITERATION_ROTATING, "in turn: rotating");
    tap_equal_int(iterations->loss_ns, 12 * 150, "in turn: each iteration loses 300 - 150");
    tap_equal_int(iterations->static_ns, 0, "in turn: the totals show nothing");
    tap_equal_int(iterations->most_ns, 12 * 300, "in turn: the longest computing");
    tap_equal_int(iterations->saving_ns, 12 * 150, "in turn: all of that is saved, by replay");
    bool right = true;
    for (uint32_t k = 0; k < 12; k++) {
        right &= iterations->rows[k].heaviest == k % 4;
        for (uint32_t p = 0; p < 4; p++)
            right &= iterations->computing_ns[p * 12 + k] == 100 + in_turn(p, k);
    }
    tap_ok(right, "in turn: the computing of each process in each iteration");
    phase_metrics_free(metrics);
}

static void test_slow(void)
{
    struct trace trace = {0};
    make_run(&trace, 40, warming_up);
    struct phase_metrics *metrics = numbers_of(&trace, 4);
    const struct iteration_metrics *iterations = &metrics->iterations;
    tap_equal_int(iterations->warm_up, 2, "slow: two are warming up");
    tap_equal_int(iterations->slow, 1, "slow: one of the others is slow");
    tap_equal_int(iterations->slowest[0].iteration, 30, "slow: which");
    tap_equal_int(iterations->slowest[0].time_ns, 1020, "slow: how long");
    tap_equal_int(iterations->mean_ns, llround((37 * 120 + 36 + 1020) / 38.), "slow: mean without warming up");
    phase_metrics_free(metrics);
    make_run(&trace, 20, longer);
    metrics = numbers_of(&trace, 4);
    tap_ok(fabs(metrics->iterations.trend - 190. / 215) < 1e-9 && metrics->iterations.trend_fit > 1 - 1e-9,
           "longer: from 120 to 310, of a mean of 215");
    phase_metrics_free(metrics);
    for (uint32_t turns = 4; turns <= 5; turns++) {
        char text[ITERATIONS_TEXT_SIZE];
        make_run(&trace, turns, longer);
        struct process_row rows[4] = {0};
        struct metrics run = {.process = rows, .process_count = 4, .phases = numbers_of(&trace, 4)};
        iterations_text(text, &run);
        tap_ok(!strstr(text, "Iterations become longer") == (turns == 4), "longer: %u iterations: %s", turns, text);
        phase_metrics_free(run.phases);
    }
}

/* C20: folded into bins, sums stay; 2,500 iterations make 834 bins of three. */
static void test_bins(void)
{
    struct trace trace = {0};
    make_run(&trace, 2500, in_turn);
    struct phase_metrics *metrics = numbers_of(&trace, 4);
    const struct iteration_metrics *iterations = &metrics->iterations;
    uint32_t next = 0;
    int64_t time_ns = 0, most_ns = 0;
    bool follow = true;
    for (size_t i = 0; i < iterations->row_count; i++) {
        follow &= iterations->rows[i].first == next;
        next += iterations->rows[i].count;
        time_ns += iterations->rows[i].time_ns;
        most_ns += iterations->rows[i].most_ns;
    }
    tap_equal_int((long long)iterations->row_count, 834, "bins: as few as are needed");
    tap_ok(follow && next == 2500, "bins: follow each other to the last");
    tap_equal_int(time_ns, 2500 * 320, "bins: the time is theirs");
    tap_equal_int(most_ns, 2500 * 300, "bins: so is the longest computing of each iteration");
    tap_equal_int(iterations->loss_ns, 2500 * 150, "bins: what is lost is found before folding");
    expect_sums(metrics, 4 * (1000 + 2500 * 320 + 600), "bins");
    phase_metrics_free(metrics);
    tap_equal_int((long long)phase_group_size(65536, 1000, ITERATION_CELLS), 501, "65,536 processes: in groups");
    tap_equal_int((long long)phase_group_size(128, 1000, ITERATION_CELLS), 1, "128 processes: each by itself");
}

/* 5.4: a rectangular signal repeats; one that does not has no rhythm. */
static void test_rhythm(void)
{
    struct rhythm *rhythm = memory_new(sizeof *rhythm);
    rhythm->end_ns = 1000000;
    for (int64_t at = 0; at < 1000000; at += 12500)
        rhythm_add(rhythm, at, at + 5000);
    tap_ok(fabs((double)rhythm_period_ns(rhythm) / 12500 - 1) < 0.02, "rhythm: 80 times 12,500");
    *rhythm = (struct rhythm){.end_ns = 1000000};
    for (int64_t at = 0; at < 1000000; at += 25000) {
        rhythm_add(rhythm, at, at + 9000);
        rhythm_add(rhythm, at + 12500, at + 14000);
    }
    tap_ok(fabs((double)rhythm_period_ns(rhythm) / 25000 - 1) < 0.02, "rhythm: a long and a short one make one period");
    *rhythm = (struct rhythm){.end_ns = 1000000};
    rhythm_add(rhythm, -500, 2000000);
    tap_equal_int(rhythm_period_ns(rhythm), 0, "rhythm: a constant has none");
    *rhythm = (struct rhythm){.end_ns = 1000000};
    rhythm_add(rhythm, 300000, 310000);
    tap_equal_int(rhythm_period_ns(rhythm), 0, "rhythm: what comes once has none");
    struct iteration_metrics iterations = {.median_ns = 100, .rhythm_ns = 111};
    tap_ok(iteration_rhythm_differs(&iterations), "rhythm: 11 %% off differs");
    iterations.rhythm_ns = 109;
    tap_ok(!iteration_rhythm_differs(&iterations), "rhythm: 9 %% off does not");
    iterations.rhythm_ns = 0;
    tap_ok(!iteration_rhythm_differs(&iterations), "rhythm: what is not known does not");
    free(rhythm);
}

int main(void)
{
    defs_make();
    test_even();
    test_in_turn();
    test_slow();
    test_bins();
    test_rhythm();
    defs_free(defs);
    return tap_done();
}
