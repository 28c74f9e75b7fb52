/* SPDX-License-Identifier: BSD-3-Clause */
/* What even work between collectives of all, and before each call, would save, by hand. */
#include "replay/analyse.h"
#include "replay/even_steps.h"
#include "replay/even_turns.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

enum { PROCESSES = 4 };

/* `work[step][process]`, a barrier after each step that all leave at once. */
static struct graph *stepped(const int64_t (*work)[PROCESSES], size_t steps)
{
    struct trace trace = {0};
    int64_t begin = 0;
    for (uint32_t p = 0; p < PROCESSES; p++)
        moment(&trace, p, 0);
    for (size_t k = 0; k < steps; k++) {
        int64_t end = 0;
        for (uint32_t p = 0; p < PROCESSES; p++)
            end = begin + work[k][p] > end ? begin + work[k][p] : end;
        for (uint32_t p = 0; p < PROCESSES; p++)
            call(&trace, p, BARRIER, begin + work[k][p], end);
        begin = end;
    }
    for (uint32_t p = 0; p < PROCESSES; p++)
        moment(&trace, p, begin);
    return graph_of(&trace, PROCESSES);
}

static void expect(const int64_t (*work)[PROCESSES], size_t steps, int64_t balanced, int64_t even, int64_t alone,
                   const char *name)
{
    struct graph *graph = stepped(work, steps);
    struct analysis *analysis = analyse(graph);
    tap_equal_int(analysis->balanced_saving, balanced, "%s: even totals", name);
    tap_equal_int(analysis->even_steps_saving, even, "%s: even steps", name);
    tap_equal_int(analysis->alone, alone, "%s: alone", name);
    analysis_free(analysis);
    graph_free(graph);
}

/* `alone`: a location that is left alone; PROCESSES: none. */
static void expect_turns(const int64_t (*work)[PROCESSES], size_t steps, int64_t begin_ns, uint32_t alone,
                         int64_t saving, const char *name)
{
    struct graph *graph = stepped(work, steps);
    int64_t begins_ns[PROCESSES], ends_ns[PROCESSES];
    for (uint32_t p = 0; p < PROCESSES; p++) {
        begins_ns[p] = begin_ns;
        ends_ns[p] = p == alone ? begin_ns - 1 : INT64_MAX;
    }
    tap_equal_int(even_turns_saving(graph, begins_ns, ends_ns), saving, "even turns: %s", name);
    graph_free(graph);
}

int main(void)
{
    defs_make();
    static const int64_t same[][PROCESSES] = {{100, 100, 100, 500}, {100, 100, 100, 500}};
    expect(same, 2, 600, 600, 0, "the same part of each step");
    /* Totals of 500, 100, 100, 100: the 300 that the first computes beyond the mean are of its longest piece. */
    static const int64_t once[][PROCESSES] = {{100, 100, 100, 100}, {400, 0, 0, 0}};
    expect(once, 2, 500 - 200, 400 - 100, 400, "one works alone in a step of its own");
    static const int64_t turns[][PROCESSES] = {
        {300, 100, 100, 100}, {100, 300, 100, 100}, {100, 100, 300, 100}, {100, 100, 100, 300}};
    expect(turns, 4, 0, 4 * (300 - 150), 0, "in turns");
    expect_turns(turns, 4, 0, PROCESSES, 4 * (300 - 150), "each has most once");
    expect_turns(turns, 4, 600, PROCESSES, 2 * (300 - 150), "the last two");
    /* The others' mean is 500 / 3 where one of them has most; the last turn is its own. */
    expect_turns(turns, 4, 0, 3, 3 * (300 - 167), "one is left alone");
    static const int64_t even[][PROCESSES] = {{100, 100, 100, 100}, {50, 50, 50, 50}};
    expect(even, 2, 0, 0, 0, "even");
    static const int64_t idle[][PROCESSES] = {{100, 100, 100, 0}, {100, 100, 100, 0}};
    expect(idle, 2, 0, 0, 0, "one has no work: where it would get some is not known");
    struct trace trace = {0};
    for (uint32_t p = 0; p < PROCESSES; p++) {
        moment(&trace, p, 0);
        moment(&trace, p, 100 * (p + 1));
    }
    struct graph *graph = graph_of(&trace, PROCESSES);
    const int64_t compute[PROCESSES] = {100, 200, 300, 400};
    struct even_steps even_steps;
    struct replay_options options = {0};
    tap_ok(!even_steps_new(graph, compute, &even_steps, &options) && !options.pace, "no collectives: no steps");
    graph_free(graph);
    defs_free(defs);
    return tap_done();
}
