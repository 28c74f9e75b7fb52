/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/solo.h"

#include "core/heap.h"
#include "core/memory.h"
#include "core/numbers.h"

/* A location's next beginning or end of computing. */
struct runner {
    int64_t time_ns;
    uint32_t location;
    size_t call; /* which the computing comes before; the location's count: after the last */
    bool computes;
};

struct race {
    const struct graph *graph;
    struct solo *solo;
    struct runner *heap; /* the earliest first */
    size_t size;
    size_t computing; /* locations */
    uint64_t sum;     /* of their indices: where it is one, that one */
    int64_t since_ns; /* of the latest change */
};

static bool is_before(const void *context, const void *left, const void *right)
{
    const struct runner *a = left, *b = right;
    (void)context;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    return a->location < b->location;
}

static const struct heap_order BY_TIME = {sizeof(struct runner), is_before, NULL};

/* Moves a runner that has ended computing, or not begun, to its location's next computing. False: there is none. */
static bool find_computing(const struct graph *graph, struct runner *runner, int64_t from_ns)
{
    const struct location *location = &graph->locations[runner->location];
    /* Calls without computing between them are passed at once; one may end after the next begins. */
    for (; runner->call < location->count; runner->call++) {
        struct call call = graph_call(graph, runner->location, (uint32_t)runner->call);
        if (call.enter_ns > from_ns)
            break;
        from_ns = larger(call.leave_ns, from_ns);
    }
    runner->time_ns = from_ns;
    runner->computes = false;
    return runner->call < location->count || location->end_ns > from_ns;
}

static int64_t end_of_computing(const struct graph *graph, const struct runner *runner)
{
    const struct location *location = &graph->locations[runner->location];
    if (runner->call >= location->count)
        return location->end_ns;
    return graph_call(graph, runner->location, (uint32_t)runner->call).enter_ns;
}

static void add_time(struct race *race, uint64_t location, struct solo_time time)
{
    struct solo_location *where = &race->solo->locations[location];
    ARRAY_PUSH(where->times, where->count, where->capacity, time);
}

/* Records the time until this change: one location computed alone, or none did, which is assigned to the one that
   begins. */
static void note_until(struct race *race, const struct runner *runner)
{
    int64_t now_ns = runner->time_ns;
    if (now_ns > race->since_ns && race->computing == 1)
        add_time(race, race->sum, (struct solo_time){race->since_ns, now_ns, 0});
    if (now_ns > race->since_ns && race->computing == 0)
        add_time(race, runner->location, (struct solo_time){now_ns, now_ns, time_since(race->since_ns, now_ns)});
    race->since_ns = larger(now_ns, race->since_ns);
}

static void step(struct race *race)
{
    /* The number and the sum of those that compute suffice: where it is one, the sum is its index. */
    struct runner *runner = &race->heap[0];
    note_until(race, runner);
    if (!runner->computes) {
        race->computing++;
        race->sum += runner->location;
        runner->computes = true;
        runner->time_ns = end_of_computing(race->graph, runner);
    } else {
        race->computing--;
        race->sum -= runner->location;
        if (!find_computing(race->graph, runner, runner->time_ns)) {
            race->size = heap_drop(race->heap, race->size, &BY_TIME, NULL);
            return;
        }
    }
    heap_down(race->heap, race->size, 0, &BY_TIME, NULL);
}

struct solo solo_of(const struct graph *graph, int64_t begin_ns)
{
    struct solo solo = {0};
    if (graph->location_count < 2) /* always alone: nothing to say */
        return solo;
    solo.count = graph->location_count;
    solo.locations = memory_new(solo.count * sizeof *solo.locations);
    struct race race = {.graph = graph, .solo = &solo, .since_ns = begin_ns};
    race.heap = memory_new(graph->location_count * sizeof *race.heap);
    for (uint32_t i = 0; i < graph->location_count; i++) {
        struct runner runner = {.location = i};
        if (find_computing(graph, &runner, graph->locations[i].begin_ns))
            race.heap[race.size++] = runner;
    }
    /* All beginnings and ends in the order of time, without sorting them: O(n log locations), and memory for those at
       hand only. */
    heap_make(race.heap, race.size, &BY_TIME, NULL);
    while (race.size > 0)
        step(&race);
    free(race.heap);
    return solo;
}

void solo_clear(struct solo *solo)
{
    for (size_t i = 0; i < solo->count; i++)
        free(solo->locations[i].times);
    free(solo->locations);
    *solo = (struct solo){0};
}
