/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/solo.h"

#include "core/memory.h"

/* A lane's next beginning or end of computing. */
struct runner {
    int64_t time_ns;
    uint32_t lane;
    size_t call; /* which the computing comes before; the lane's count: behind the last */
    bool computes;
};

struct race {
    const struct graph *graph;
    struct solo *solo;
    struct runner *heap; /* the earliest first */
    size_t size;
    size_t computing; /* lanes */
    uint64_t sum;     /* of their indices: where it is one, that one */
    int64_t since_ns; /* of the latest change */
};

static bool is_before(const struct runner *a, const struct runner *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->lane < b->lane;
}

static void sink_down(struct race *race, size_t at)
{
    struct runner *heap = race->heap, runner = heap[at];
    for (size_t child; (child = 2 * at + 1) < race->size; at = child) {
        child += child + 1 < race->size && is_before(&heap[child + 1], &heap[child]);
        if (!is_before(&heap[child], &runner))
            break;
        heap[at] = heap[child];
    }
    heap[at] = runner;
}

/* Moves a runner that has ended computing, or not begun, to where its lane computes next. False: nowhere. */
static bool find_computing(const struct graph *graph, struct runner *runner, int64_t from_ns)
{
    const struct lane *lane = &graph->lanes[runner->lane];
    for (; runner->call < lane->count; runner->call++) {
        struct call call = graph_call(graph, runner->lane, (uint32_t)runner->call);
        if (call.enter_ns > from_ns)
            break;
        from_ns = call.leave_ns > from_ns ? call.leave_ns : from_ns;
    }
    runner->time_ns = from_ns;
    runner->computes = false;
    return runner->call < lane->count || lane->end_ns > from_ns;
}

static int64_t end_of_computing(const struct graph *graph, const struct runner *runner)
{
    const struct lane *lane = &graph->lanes[runner->lane];
    return runner->call < lane->count ? graph_call(graph, runner->lane, (uint32_t)runner->call).enter_ns : lane->end_ns;
}

static void add_time(struct race *race, uint64_t lane, struct solo_time time)
{
    struct solo_lane *where = &race->solo->lanes[lane];
    ARRAY_PUSH(where->times, where->count, where->capacity, time);
}

/* What was until this change: one that computes alone, or none, which goes to who begins. */
static void note_until(struct race *race, const struct runner *runner)
{
    int64_t now_ns = runner->time_ns;
    if (now_ns > race->since_ns && race->computing == 1)
        add_time(race, race->sum, (struct solo_time){race->since_ns, now_ns, 0});
    if (now_ns > race->since_ns && race->computing == 0)
        add_time(race, runner->lane, (struct solo_time){now_ns, now_ns, time_since(race->since_ns, now_ns)});
    race->since_ns = now_ns > race->since_ns ? now_ns : race->since_ns;
}

static void step(struct race *race)
{
    struct runner *runner = &race->heap[0];
    note_until(race, runner);
    if (!runner->computes) {
        race->computing++;
        race->sum += runner->lane;
        runner->computes = true;
        runner->time_ns = end_of_computing(race->graph, runner);
    } else {
        race->computing--;
        race->sum -= runner->lane;
        if (!find_computing(race->graph, runner, runner->time_ns))
            race->heap[0] = race->heap[--race->size];
    }
    if (race->size > 0)
        sink_down(race, 0);
}

struct solo solo_of(const struct graph *graph)
{
    struct solo solo = {0};
    if (graph->lane_count < 2)
        return solo;
    solo.count = graph->lane_count;
    solo.lanes = memory_new(solo.count * sizeof *solo.lanes);
    struct race race = {.graph = graph, .solo = &solo, .since_ns = INT64_MAX};
    race.heap = memory_new(graph->lane_count * sizeof *race.heap);
    for (uint32_t i = 0; i < graph->lane_count; i++) {
        struct runner runner = {.lane = i};
        race.since_ns = graph->lanes[i].begin_ns < race.since_ns ? graph->lanes[i].begin_ns : race.since_ns;
        if (find_computing(graph, &runner, graph->lanes[i].begin_ns))
            race.heap[race.size++] = runner;
    }
    for (size_t i = race.size; i-- > 0;)
        sink_down(&race, i);
    while (race.size > 0)
        step(&race);
    free(race.heap);
    return solo;
}

void solo_clear(struct solo *solo)
{
    for (size_t i = 0; i < solo->count; i++)
        free(solo->lanes[i].times);
    free(solo->lanes);
    *solo = (struct solo){0};
}
