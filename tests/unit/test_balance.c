/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that is shared differently: how many times as long each computes, by hand; and what the runs would save. */
#include "replay/analyse.h"
#include "replay/balance.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

#include <math.h>

static void expect(const double *got, const double *want, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!tap_ok(fabs(got[i] - want[i]) < 1e-12, "%s: location %zu", name, i))
            printf("# %g, not %g\n", got[i], want[i]);
}

static void test_factors(void)
{
    double *factors = balance_factors((double[]){100, 300, 200}, 3);
    expect(factors, (double[]){2, 2.0 / 3, 1}, 3, "all have work");
    free(factors);
    factors = balance_factors((double[]){100, 200, 4}, 3);
    expect(factors, (double[]){1.5, 0.75, 1}, 3, "one has next to none: the others are balanced");
    free(factors);
    factors = balance_factors((double[]){90, 0, 0}, 3);
    expect(factors, (double[]){1.0 / 3, 1, 1}, 3, "one has all");
    free(factors);
    factors = balance_factors((double[]){0, 0}, 2);
    expect(factors, (double[]){1, 1}, 2, "nobody has any");
    free(factors);
}

static void test_shared(void)
{
    double *factors = balance_shared((double[]){100, 200, 4}, 3);
    expect(factors, (double[]){2.0 / 3, 2.0 / 3, 1}, 3, "shared with the third");
    free(factors);
    tap_ok(!balance_shared((double[]){100, 200, 40}, 3), "all have work: none to share with");
    tap_ok(!balance_shared((double[]){90, 0, 0}, 3), "most have none: another problem");
}

/* Two rounds of 90, then a barrier; the third process has nothing to do. */
static void test_idle(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BARRIER, p == 2 ? 0 : 90, 90);
        call(&trace, p, BARRIER, p == 2 ? 90 : 180, 180);
        moment(&trace, p, 180);
    }
    struct graph *graph = graph_of(&trace, 3);
    struct analysis *analysis = analyse(graph);
    tap_equal_int(analysis->idle_saving, 60, "each computes 120 instead of 180");
    tap_equal_int(analysis->balanced_saving, 0, "the others are even");
    analysis_free(analysis);
    graph_free(graph);
}

static void expect_balanced(struct trace *trace, uint32_t processes, int64_t saving, const char *name)
{
    struct graph *graph = graph_of(trace, processes);
    struct analysis *analysis = analyse(graph);
    tap_equal_int(analysis->balanced_saving, saving, "%s", name);
    analysis_free(analysis);
    graph_free(graph);
}

/* Process 1 waits from 10 to 60 for what process 0 sends, but all wait for process 2, which computes 140. The others
   compute 80 and 30. Stretching these to the mean of 83 would make process 1 come to the barrier at 118; it can do the
   additional work while it waits. */
static void test_others_wait(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++)
        moment(&trace, p, 0);
    message(&trace, 0, SEND, 60, 60, 1);
    message(&trace, 1, RECV, 10, 60, 0);
    for (uint32_t p = 0; p < 3; p++) {
        call(&trace, p, BARRIER, p == 2 ? 140 : 80, 140);
        moment(&trace, p, 140);
    }
    expect_balanced(&trace, 3, 140 - 83, "the others do the work of the last while they wait");
}

/* In the second step one process computes 300, else all compute 100: of 500 it keeps the mean, 350. With 0.7 times each
   of its pieces the steps would take 100, 210 and 100. */
static void test_long_piece(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 4; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BARRIER, 100, 100);
        call(&trace, p, BARRIER, p ? 200 : 400, 400);
        call(&trace, p, BARRIER, 500, 500);
        moment(&trace, p, 500);
    }
    expect_balanced(&trace, 4, 150, "the long piece is divided");
}

/* Process 0 computes 30 that the others wait for, and then all compute 10: the mean is 20. The 10 of all stay. */
static void test_alone(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++)
        moment(&trace, p, 0);
    message(&trace, 0, SEND, 30, 30, 1);
    message(&trace, 0, SEND, 30, 30, 2);
    message(&trace, 1, RECV, 0, 30, 0);
    message(&trace, 2, RECV, 0, 30, 0);
    for (uint32_t p = 0; p < 3; p++) {
        call(&trace, p, BARRIER, 40, 40);
        moment(&trace, p, 40);
    }
    expect_balanced(&trace, 3, 20, "what only one computes is shared among all");
}

/* A master computes 25 with the result of each worker, which compute 200 and 400: it takes none of their work. */
static void test_master(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++)
        moment(&trace, p, 0);
    message(&trace, 1, SEND, 200, 200, 0);
    message(&trace, 2, SEND, 400, 400, 0);
    message(&trace, 0, RECV, 0, 200, 1);
    message(&trace, 0, RECV, 225, 400, 2);
    moment(&trace, 0, 425);
    moment(&trace, 1, 200);
    moment(&trace, 2, 400);
    expect_balanced(&trace, 3, 100, "the workers take 300 each");
}

/* Barriers: the first comes at 10, the last at 20; both leave at 32. Then each computes 3, and the next takes 1.
 */
static void test_synchronising(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 2; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BARRIER, p ? 20 : 10, 32);
        call(&trace, p, BARRIER, 35, 36);
        call(&trace, p, ALLREDUCE, 40, 50);
        moment(&trace, p, 50);
    }
    struct graph *graph = graph_of(&trace, 2);
    struct analysis *analysis = analyse(graph);
    tap_equal_int((long long)analysis->synchronisations, 4, "barriers count, a collective of unknown size does not");
    tap_equal_int(analysis->synchronising, 12 + 12 + 1 + 1, "time in them, without waiting");
    tap_equal_int(analysis->before_synchronising, 10 + 20 + 3 + 3, "computing before them");
    analysis_free(analysis);
    for (size_t i = 0; i < graph->instance_count; i++)
        if (graph_collective_of(graph, &graph->instances[i]).wait == WAIT_AT_NXN)
            graph->instances[i].bytes = 8;
    analysis = analyse(graph);
    tap_equal_int((long long)analysis->synchronisations, 6, "an MPI_Allreduce of 8 bytes does");
    tap_equal_int(analysis->synchronising, 26 + 20, "with its time");
    int64_t sum = 0;
    for (size_t bin = 0; bin < COURSE_BINS; bin++)
        sum += analysis->synchronising_course_ns[bin];
    tap_equal_int(sum, analysis->synchronising, "its course adds up");
    analysis_free(analysis);
    graph_free(graph);
}

int main(void)
{
    defs_make();
    test_factors();
    test_shared();
    test_idle();
    test_others_wait();
    test_long_piece();
    test_alone();
    test_master();
    test_synchronising();
    defs_free(defs);
    return tap_done();
}
