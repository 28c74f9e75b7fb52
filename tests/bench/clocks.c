/* SPDX-License-Identifier: BSD-3-Clause */
/* How good --fix-clocks is: runs whose clocks are known (unit/clock_runs.h), before and after, as rows of a table in
   Markdown (docs/accuracy.md). */
#include "unit/clock_runs.h"

#include <stdio.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void measure(struct run_plan plan)
{
    static const char *const patterns[] = {"grid", "one way", "reductions"};
    static const char *const clocks_of_kind[] = {"offsets", "drifts", "wobble"};
    struct clock_run run = run_new(plan);
    int64_t truth_ns = run_waits_ns(&run);
    run_break(&run);
    struct clock_errors before = run_errors(&run);
    int64_t broken_ns = run_waits_ns(&run);
    struct run_distance wrong = run_distance(&run, 0);
    double begin = seconds();
    struct clocks *clocks = run_fix(&run);
    double took = seconds() - begin;
    struct clock_errors after = run_errors(&run);
    struct run_distance left = run_distance(&run, run_reference(clocks));
    int64_t fixed_ns = run_waits_ns(&run);
    printf("| %s | %u | %s%s | %.1f %% | %.2g %% | %ju | %.0f | %.1f | %.1f | %+.0f %% | %+.1f %% | %.2f |\n",
           patterns[plan.pattern], plan.processes, clocks_of_kind[plan.clocks], plan.node ? ", nodes" : "",
           100 * (double)(before.early + before.torn) / (double)(before.messages + before.instances),
           100 * (double)(clocks->aligned.early + clocks->aligned.torn) / (double)(before.messages + before.instances),
           (uintmax_t)(after.early + after.torn), wrong.typical_ns / 1e3, left.typical_ns / 1e3, left.most_ns / 1e3,
           100 * (double)(broken_ns - truth_ns) / (double)truth_ns,
           100 * (double)(fixed_ns - truth_ns) / (double)truth_ns, took);
    fflush(stdout);
    clocks_free(clocks);
    run_free(&run);
}

int main(void)
{
    static const uint32_t sizes[] = {2, 16, 256, 4096};
    printf(
        "| pattern | processes | clocks | out of order | after lines | after all | error (us) | left (us) | at most | "
        "waits | after | s |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int pattern = RUN_GRID; pattern <= RUN_REDUCTIONS; pattern++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int clocks = CLOCKS_OFFSET; clocks <= CLOCKS_WOBBLE; clocks++)
                for (uint32_t node = 0; node <= (clocks == CLOCKS_WOBBLE && sizes[i] > 2 ? 8u : 0u); node += 8)
                    measure((struct run_plan){.processes = sizes[i],
                                              .node = node,
                                              .rounds = sizes[i] > 256 ? 80 : 600,
                                              .work_ns = 100000000,
                                              .pattern = (enum run_pattern)pattern,
                                              .clocks = (enum run_clocks)clocks,
                                              .seed = 1});
    return 0;
}
