/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs whose clocks are known, corrected: nothing is out of order, and times and waits are near the truth. The bounds
   are about twice what is reached (docs/accuracy.md, tests/bench/clocks.c). */
#include "clock_runs.h"
#include "tap.h"

struct bounds {
    double typical_us, most_us; /* distance from the truth */
    double waits;               /* of all waiting */
    double early;               /* of messages and collectives, after lines alone */
};

static void check(struct run_plan plan, struct bounds bounds, const char *name)
{
    struct clock_run run = run_new(plan);
    double truth_ns = (double)run_waits_ns(&run);
    struct clock_errors clean = run_errors(&run);
    run_break(&run);
    struct clock_errors before = run_errors(&run);
    struct clocks *clocks = run_fix(&run);
    struct clock_errors after = run_errors(&run);
    struct run_distance left = run_distance(&run, run_reference(clocks));
    double waits = (double)run_waits_ns(&run) / truth_ns - 1;
    double early =
        (double)(clocks->aligned.early + clocks->aligned.torn) / (double)(before.messages + before.instances);
    tap_ok(clean.early + clean.torn == 0 && before.early + before.torn > 0, "%s: the clocks put it out of order", name);
    tap_ok(after.early + after.torn == 0, "%s: corrected, all is in order", name);
    tap_ok(early <= bounds.early, "%s: %.3g %% is left to the logical clock", name, 100 * early);
    tap_ok(left.typical_ns <= bounds.typical_us * 1e3, "%s: times are off by %.2f us", name, left.typical_ns / 1e3);
    tap_ok(left.most_ns <= bounds.most_us * 1e3, "%s: and by %.2f us at most", name, left.most_ns / 1e3);
    tap_ok(fabs(waits) <= bounds.waits, "%s: waiting is off by %.3f %%", name, 100 * waits);
    clocks_free(clocks);
    run_free(&run);
}

#define PLAN(processes, node, pattern, clocks)                                                                         \
    ((struct run_plan){processes, node, (processes) > 256 ? 40 : 300, 100000000, pattern, clocks, 3})

int main(void)
{
    check(PLAN(2, 0, RUN_GRID, CLOCKS_OFFSET), (struct bounds){2, 3, 0.001, 0}, "2, offsets");
    check(PLAN(2, 0, RUN_GRID, CLOCKS_DRIFT), (struct bounds){2, 3, 0.001, 0}, "2, drifts");
    check(PLAN(2, 0, RUN_GRID, CLOCKS_WOBBLE), (struct bounds){4, 10, 0.001, 0.12}, "2, wobble");
    check(PLAN(16, 0, RUN_GRID, CLOCKS_OFFSET), (struct bounds){1, 2, 0.001, 0}, "16, offsets");
    check(PLAN(16, 0, RUN_GRID, CLOCKS_DRIFT), (struct bounds){1, 2, 0.001, 0}, "16, drifts");
    check(PLAN(16, 0, RUN_GRID, CLOCKS_WOBBLE), (struct bounds){4, 12, 0.001, 0.05}, "16, wobble");
    check(PLAN(16, 8, RUN_GRID, CLOCKS_WOBBLE), (struct bounds){4, 12, 0.001, 0.05}, "16 on two nodes, wobble");
    check(PLAN(256, 0, RUN_GRID, CLOCKS_DRIFT), (struct bounds){8, 15, 0.001, 0.001}, "256, drifts");
    check(PLAN(256, 8, RUN_GRID, CLOCKS_WOBBLE), (struct bounds){4, 15, 0.001, 0.03}, "256 on 32 nodes, wobble");
    check(PLAN(256, 0, RUN_REDUCTIONS, CLOCKS_DRIFT), (struct bounds){40, 50, 0.001, 0.1}, "256, reductions only");
    check(PLAN(4096, 0, RUN_REDUCTIONS, CLOCKS_DRIFT), (struct bounds){60, 300, 0.001, 1}, "4,096, reductions only");
    check(PLAN(4096, 0, RUN_GRID, CLOCKS_WOBBLE), (struct bounds){10, 50, 0.001, 0.01}, "4,096, wobble");
    return tap_done();
}
