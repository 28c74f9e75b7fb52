/* SPDX-License-Identifier: BSD-3-Clause */
/* Roots that the trace does not name: inferred where only one process can be it, and nowhere else. */
#include "unit/hand_trace.h"
#include "unit/tap.h"

enum { PROCESSES = 4, NOBODY = -1 };

/* One collective: when each process enters and leaves it. */
struct shape {
    int64_t enters[PROCESSES], leaves[PROCESSES];
};

/* The process that is root of the first instance of so many collectives of these shapes; NOBODY: not known. */
static int root_of(uint32_t state, const struct shape *shapes, int count)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < PROCESSES; p++) {
        moment(&trace, p, 0);
        for (int i = 0; i < count; i++)
            call(&trace, p, state, 1000 * i + shapes[i].enters[p], 1000 * i + shapes[i].leaves[p]);
    }
    struct graph *graph = graph_of(&trace, PROCESSES);
    uint32_t location = graph->instances[0].root_location, agreed = 0;
    for (size_t i = 0; i < graph->instance_count; i++)
        agreed += graph->instances[i].root_location == location;
    int root = location == GRAPH_NONE ? NOBODY : (int)graph->locations[location].process;
    tap_equal_int(agreed, count, "all instances have the same root, or none");
    graph_free(graph);
    return root;
}

static void test_broadcast(void)
{
    static const struct shape late[] = {{{10, 20, 400, 30}, {410, 420, 405, 430}}},
                              turns[] = {{{10, 20, 400, 30}, {410, 420, 405, 430}},
                                         {{10, 500, 400, 30}, {510, 520, 505, 530}}},
                              one_left[] = {{{10, 20, 30, 400}, {15, 40, 45, 410}},
                                            {{10, 20, 30, 40}, {15, 60, 60, 60}}},
                              early[] = {{{10, 20, 400, 30}, {410, 60, 405, 430}},
                                         {{50, 20, 400, 30}, {410, 60, 405, 430}}};
    tap_equal_int(root_of(BCAST, late, 1), 2, "it comes last, and nobody leaves before it");
    tap_equal_int(root_of(BCAST, turns, 2), NOBODY, "another comes last each time");
    tap_equal_int(root_of(BCAST, one_left, 2), 0, "all others came when someone was done already");
    tap_equal_int(root_of(BCAST, early, 2), NOBODY, "someone leaves before the one that always comes last");
}

static void test_reduction(void)
{
    static const struct shape reduce[] = {{{10, 20, 400, 30}, {12, 410, 405, 31}},
                                          {{10, 20, 30, 400}, {12, 410, 35, 405}}},
                              together[] = {{{10, 20, 400, 30}, {410, 410, 410, 410}}};
    tap_equal_int(root_of(REDUCE, reduce, 2), 1, "the only one that never leaves before the last has come");
    tap_equal_int(root_of(REDUCE, together, 1), NOBODY, "nobody leaves before: any could be it");
}

int main(void)
{
    defs_make();
    test_broadcast();
    test_reduction();
    defs_free(defs);
    return tap_done();
}
