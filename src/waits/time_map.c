/* SPDX-License-Identifier: BSD-3-Clause */
#include "waits/time_map.h"

#include "core/memory.h"
#include "core/numbers.h"

/* A program uses some tens of functions. With more than this, labels by pairs are not worth their memory. */
enum { MANY_FUNCTIONS = 512 };

/* Sums of a location's steps before every n-th call: step i is the computing before call i, and the call. */
struct location_sums {
    uint32_t *labels; /* of the location */
    double *ns;       /* rows of these */
    size_t label_count, row_count;
    size_t every; /* 0: not made */
};

/* The least number of calls, in total and per label, between two rows. */
enum { CALLS_BETWEEN = 64, CALLS_FOR_LABEL = 4 };

struct time_maps time_maps_of(const struct sync_points *points)
{
    const struct graph *graph = points->graph;
    const struct defs *defs = graph->defs;
    struct time_maps maps = {.points = points, .function_count = 1, .begin_ns = graph_begin_ns(graph)};
    maps.functions = memory_new(defs->state_count * sizeof *maps.functions);
    maps.states = memory_new((defs->state_count + 1) * sizeof *maps.states);
    for (size_t i = 0; i < graph->kind_count; i++) {
        uint32_t state = graph->kinds[i].state, first = defs->states[state].first_of_name;
        if (!maps.functions[first]) {
            maps.states[maps.function_count] = first;
            maps.functions[first] = (uint32_t)maps.function_count++;
        }
        maps.functions[state] = maps.functions[first];
    }
    maps.fine = maps.function_count <= MANY_FUNCTIONS;
    maps.label_count = maps.function_count * (maps.fine ? maps.function_count + 1 : 2);
    maps.sums = memory_new(graph->location_count * sizeof *maps.sums);
    maps.scratch = time_map_new(&maps);
    return maps;
}

void time_maps_clear(struct time_maps *maps)
{
    for (size_t i = 0; i < maps->points->graph->location_count; i++) {
        free(maps->sums[i].labels);
        free(maps->sums[i].ns);
    }
    free(maps->sums);
    free(maps->functions);
    free(maps->states);
    time_map_free(&maps->scratch);
}

struct time_map time_map_new(const struct time_maps *maps)
{
    struct time_map map = {0};
    map.ns = memory_new(maps->label_count * sizeof *map.ns);
    map.labels = memory_new(maps->label_count * sizeof *map.labels);
    return map;
}

void time_map_free(struct time_map *map)
{
    free(map->ns);
    free(map->labels);
}

static void time_map_empty(struct time_map *map)
{
    for (size_t i = 0; i < map->count; i++)
        map->ns[map->labels[i]] = 0;
    map->count = 0;
}

static void add(struct time_map *map, uint32_t label, double ns)
{
    if (!(ns > 0))
        return;
    if (map->ns[label] == 0)
        map->labels[map->count++] = label;
    map->ns[label] += ns;
}

/* Computing before a call. */
static void add_gap(const struct time_maps *maps, struct time_map *map, uint32_t location, size_t index)
{
    const struct graph *graph = maps->points->graph;
    struct call call = graph_call(graph, location, (uint32_t)index), last = {.leave_ns = maps->begin_ns};
    uint32_t before = 0;
    if (index > 0) {
        last = graph_call(graph, location, (uint32_t)index - 1);
        before = maps->fine ? maps->functions[last.state] : 0;
    }
    size_t label = maps->function_count * (1 + (size_t)before) + maps->functions[call.state];
    add(map, (uint32_t)label, (double)time_since(last.leave_ns, call.enter_ns));
}

static void add_steps(const struct time_maps *maps, struct time_map *map, uint32_t where, size_t from, size_t to)
{
    const struct graph *graph = maps->points->graph;
    size_t wait = waits_before(graph, where, from);
    for (size_t i = from; i < to; i++) {
        struct call call = graph_call(graph, where, (uint32_t)i);
        double ns = (double)time_since(call.enter_ns, call.leave_ns);
        add_gap(maps, map, where, i);
        if (wait_table_marks(graph, where, i))
            ns -= (double)wait_ns(graph, where, wait++);
        add(map, maps->functions[call.state], ns);
    }
}

static void make_sums(struct time_maps *maps, uint32_t where)
{
    struct location_sums *sums = &maps->sums[where];
    struct time_map *map = &maps->scratch;
    size_t count = maps->points->graph->locations[where].count;
    time_map_empty(map);
    add_steps(maps, map, where, 0, count);
    sums->label_count = map->count;
    sums->labels = memory_new(map->count * sizeof *sums->labels);
    for (size_t i = 0; i < map->count; i++)
        sums->labels[i] = map->labels[i];
    sums->every = CALLS_FOR_LABEL * map->count;
    if (sums->every < CALLS_BETWEEN)
        sums->every = CALLS_BETWEEN;
    sums->row_count = count / sums->every + 1;
    sums->ns = memory_new(sums->row_count * sums->label_count * sizeof *sums->ns);
    time_map_empty(map);
    for (size_t row = 1; row < sums->row_count; row++) {
        add_steps(maps, map, where, (row - 1) * sums->every, row * sums->every);
        for (size_t i = 0; i < sums->label_count; i++)
            sums->ns[row * sums->label_count + i] = map->ns[sums->labels[i]];
    }
}

void time_map_fill(struct time_maps *maps, struct time_map *map, const struct interval *interval)
{
    const struct graph *graph = maps->points->graph;
    struct location_sums *sums = &maps->sums[interval->location];
    size_t from = (size_t)(interval->first + 1), to = larger(interval->end, from);
    time_map_empty(map);
    if (interval->first >= 0)
        add(map, maps->functions[graph_call(graph, interval->location, (uint32_t)interval->first).state],
            interval->opening_ns);
    if (to - from > 2 * CALLS_BETWEEN && !sums->every)
        make_sums(maps, interval->location);
    if (sums->every && to - from >= 2 * sums->every) {
        size_t first = (from + sums->every - 1) / sums->every, last = to / sums->every;
        const double *low = sums->ns + first * sums->label_count, *high = sums->ns + last * sums->label_count;
        add_steps(maps, map, interval->location, from, first * sums->every);
        for (size_t i = 0; i < sums->label_count; i++)
            add(map, sums->labels[i], high[i] - low[i]);
        from = last * sums->every;
    }
    add_steps(maps, map, interval->location, from, to);
    if (to < graph->locations[interval->location].count)
        add_gap(maps, map, interval->location, to);
}

struct time_label time_label_of(const struct time_maps *maps, uint32_t label)
{
    size_t before = label / maps->function_count, function = label % maps->function_count;
    uint32_t state = maps->states[function];
    if (before == 0)
        return (struct time_label){TIME_IN_CALL, state};
    if (!maps->fine)
        return (struct time_label){TIME_FROM_ANY, state};
    return (struct time_label){before == 1 ? TIME_FROM_BEGIN : maps->states[before - 1], state};
}
