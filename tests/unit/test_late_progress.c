/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking collectives whose members do their part only in MPI: who waits for the last to complete, by hand. */
#include "graph/late_progress.h"
#include "replay/analyse.h"
#include "replay/replay.h"
#include "waits/critical_path.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

enum { PROCESSES = 3, ROUND = 100 };

/* In each of so many rounds all start the collective at 10. Process 0 completes it from 20 on, process 1 from 30 on,
   both until `done`, or until `once` in the first round; process 2 computes, and completes it from `late` on. */
struct plan {
    int rounds;
    int64_t done, once, late;
    bool looks; /* process 2 is in MPI from 21 on until shortly before it completes */
};

static struct graph *run(struct plan plan)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < PROCESSES; p++)
        moment(&trace, p, 0);
    for (int round = 0; round < plan.rounds; round++) {
        int64_t at = ROUND * round, done = at + (round == 0 ? plan.once : plan.done);
        for (uint32_t p = 0; p < PROCESSES; p++)
            requesting(&trace, p, IALLREDUCE, at + 10, at + 11, (uint32_t)round + 1);
        requesting(&trace, 0, WAIT, at + 20, done, (uint32_t)round + 1);
        requesting(&trace, 1, WAIT, at + 30, done, (uint32_t)round + 1);
        if (plan.looks)
            call(&trace, 2, IPROBE, at + 21, at + plan.late - 1);
        requesting(&trace, 2, WAIT, at + plan.late, larger(done, at + plan.late) + 1, (uint32_t)round + 1);
    }
    return graph_of(&trace, PROCESSES);
}

/* So long processes 0 and 1 wait for process 2, all together. */
static void expect(struct plan plan, int64_t first_ns, int64_t second_ns, const char *name)
{
    struct graph *graph = run(plan);
    struct analysis *analysis = analyse(graph);
    const struct wait_sums *sums = &analysis->waits[WAIT_AT_NXN];
    struct critical_path path = critical_path_of(graph);
    tap_equal_int(sums->victims_ns[0], first_ns, "%s: process 0 waits", name);
    tap_equal_int(sums->victims_ns[1], second_ns, "%s: process 1 waits", name);
    tap_equal_int(sums->causes_ns[2], first_ns + second_ns, "%s: for process 2", name);
    tap_equal_int(replay_run(graph, (struct replay_options){0}).end_ns, graph_duration_ns(graph), "%s: replay", name);
    tap_equal_int(path.length_ns, graph_duration_ns(graph), "%s: critical path", name);
    critical_path_clear(&path);
    analysis_free(analysis);
    graph_free(graph);
}

/* Where process 2 computes nothing. */
static void expect_saving(struct plan plan, int64_t saving_ns, const char *name)
{
    struct graph *graph = run(plan);
    double compute[PROCESSES];
    for (size_t i = 0; i < PROCESSES; i++)
        compute[i] = graph->locations[i].process < 2;
    tap_equal_int(replay_saving(graph, (struct replay_options){.compute = compute}), saving_ns, "%s", name);
    graph_free(graph);
}

/* A tree of MPI_Ibcast: process 0, its root, is done at once, process 1 only once process 2 has passed the data on. */
static void expect_tree(int rounds, int64_t done, int64_t waiting_ns, const char *name)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < PROCESSES; p++)
        moment(&trace, p, 0);
    for (int round = 0; round < rounds; round++) {
        int64_t at = ROUND * round;
        for (uint32_t p = 0; p < PROCESSES; p++)
            requesting(&trace, p, IBCAST, at + 10, at + 11, (uint32_t)round + 1);
        requesting(&trace, 0, WAIT, at + 20, at + 21, (uint32_t)round + 1);
        requesting(&trace, 1, WAIT, at + 30, at + done, (uint32_t)round + 1);
        requesting(&trace, 2, WAIT, at + 70, at + 71, (uint32_t)round + 1);
    }
    struct graph *graph = graph_of(&trace, PROCESSES);
    struct analysis *analysis = analyse(graph);
    tap_equal_int(analysis->waits[WAIT_AT_NXN].victims_ns[0], 0, "%s: process 0 does not wait", name);
    tap_equal_int(analysis->waits[WAIT_AT_NXN].victims_ns[1], waiting_ns, "%s: process 1 waits", name);
    tap_equal_int(analysis->waits[WAIT_AT_NXN].causes_ns[2], waiting_ns, "%s: for process 2", name);
    tap_equal_int(analysis->waits[WAIT_LATE_BROADCAST].ns, 0, "%s: nobody waits for the root", name);
    analysis_free(analysis);
    graph_free(graph);
}

int main(void)
{
    defs_make();
    expect_tree(3, 73, 120, "an inner process of a broadcast is late");
    expect_tree(2, 73, 0, "an inner process, twice");
    expect_tree(12, 50, 0, "the last one is a leaf");
    expect_tree(12, 69, 0, "done right before a leaf comes");
    expect((struct plan){3, 73, 73, 70, false}, 150, 120, "the last computes");
    expect((struct plan){2, 73, 73, 70, false}, 0, 0, "twice may be chance");
    expect((struct plan){4, 73, 50, 70, false}, 150, 120, "done once while the last computes");
    expect((struct plan){4, 73, 68, 70, false}, 0, 0, "done once right before it has come: chance");
    expect((struct plan){9, 73, 34, 70, false}, 400, 320, "done once, nearly at once");
    expect((struct plan){12, 50, 73, 70, false}, 0, 0, "done while the last computes, but for once");
    expect((struct plan){3, 78, 78, 70, false}, 0, 0, "never at once after the last");
    expect((struct plan){4, 73, 80, 70, false}, 200, 160, "once not at once");
    expect((struct plan){3, 95, 95, 70, false}, 0, 0, "it takes long after the last");
    expect((struct plan){3, 73, 73, 70, true}, 0, 0, "the last is in MPI");
    expect((struct plan){3, 73, 73, 15, false}, 0, 0, "the last comes before");
    /* Process 1 then completes for 3, after 20, and starts the next after 37: it ends at 153 instead of 273. */
    expect_saving((struct plan){3, 73, 73, 70, false}, 274 - 153, "a last one that does not compute");
    defs_free(defs);
    return tap_done();
}
