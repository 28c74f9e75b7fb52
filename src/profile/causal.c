/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/causal.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "replay/sections.h"

#include <math.h>
#include <stdlib.h>

const int causal_percent[CAUSAL_SPEEDS] = {10, 25, 50, 100};

/* Functions with less of the computing than this are left out of the table. */
static const double LEAST = 0.01;

/* Where a sample lies: a stretch of a location, before call `index` or after the last. */
struct where {
    uint32_t location, index; /* GRAPH_NONE: in a call, or nowhere */
};

struct causal {
    const struct graph *graph;
    const struct profile *profile;
    struct map labels;      /* of sections -> number */
    uint32_t **groups;      /* by location and stretch: 1 + its group; 0: nothing is known */
    uint32_t *sample_group; /* by sample: 1 + group; 0: in a call */
    double *weight_ns;      /* by group */
    uint32_t group_count;
};

/* Only while groups are made: how many samples there are, and the groups of those that count together. */
struct counts {
    struct map own, pool; /* by stretch; by location and section, of shorter stretches */
    struct map own_group, pool_group, wide_group;
};

/* The first call that is entered after the time, of a location whose calls are in order. */
static uint32_t call_after(const struct graph *graph, uint32_t location, int64_t time_ns)
{
    size_t low = 0, high = graph->locations[location].count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (graph_call(graph, location, (uint32_t)middle).enter_ns > time_ns)
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)low;
}

/* Locations by process and thread, and the first of each process. */
struct directory {
    struct map threads, processes;
};

static struct where where_is(const struct graph *graph, const struct directory *directory,
                             const struct profile_sample *sample)
{
    const uint64_t *location = map_find(&directory->threads, map_pair(sample->rank, sample->thread));
    /* A thread without calls works for the one that waits for it. */
    if (!location)
        location = map_find(&directory->processes, sample->rank);
    if (!location)
        return (struct where){GRAPH_NONE, 0};
    struct where where = {(uint32_t)*location, call_after(graph, (uint32_t)*location, sample->time_ns)};
    if (where.index > 0 && graph_call(graph, where.location, where.index - 1).leave_ns > sample->time_ns)
        where.location = GRAPH_NONE;
    return where;
}

/* All samples' places; free() them. */
static struct where *find_samples(const struct graph *graph, const struct profile *profile)
{
    struct where *places = memory_new((profile->taken_count + 1) * sizeof *places);
    struct directory directory = {0};
    for (uint32_t i = 0; i < graph->location_count; i++) {
        const struct location *location = &graph->locations[i];
        map_put(&directory.threads, map_pair(location->process, location->thread), i);
        map_put(&directory.processes, location->process, i);
    }
    for (size_t i = 0; i < profile->taken_count; i++)
        places[i] = where_is(graph, &directory, &profile->taken[i]);
    map_clear(&directory.threads);
    map_clear(&directory.processes);
    return places;
}

/* The section of a stretch; that after the last call is one of its own. */
static uint32_t label_of(struct causal *causal, struct where where)
{
    uint64_t label = map_pair(UINT32_MAX, 0);
    if (where.index < causal->graph->locations[where.location].count)
        label = section_label(causal->graph, where.location, where.index);
    return (uint32_t)*map_put(&causal->labels, label, causal->labels.count);
}

static uint64_t count_at(const struct map *counts, uint64_t key)
{
    const uint64_t *count = map_find(counts, key);
    return count ? *count : 0;
}

/* 1 + the group of a key; a new one where it has none yet. */
static uint32_t number_in(struct causal *causal, struct map *groups, uint64_t key)
{
    uint64_t *group = map_put(groups, key, 0);
    if (*group == 0)
        *group = ++causal->group_count;
    return (uint32_t)*group;
}

static uint32_t group_of(struct causal *causal, struct counts *counts, struct where where)
{
    uint64_t stretch = map_pair(where.location, where.index);
    if (count_at(&counts->own, stretch) >= CAUSAL_OWN)
        return number_in(causal, &counts->own_group, stretch);
    uint32_t label = label_of(causal, where);
    uint64_t pool = map_pair(where.location, label);
    if (count_at(&counts->pool, pool) >= CAUSAL_POOL)
        return number_in(causal, &counts->pool_group, pool);
    return number_in(causal, &counts->wide_group, label);
}

static void count_samples(struct causal *causal, struct counts *counts, const struct where *places)
{
    size_t count = causal->profile->taken_count;
    for (size_t i = 0; i < count; i++)
        if (places[i].location != GRAPH_NONE)
            ++*map_put(&counts->own, map_pair(places[i].location, places[i].index), 0);
    for (size_t i = 0; i < count; i++)
        if (places[i].location != GRAPH_NONE &&
            count_at(&counts->own, map_pair(places[i].location, places[i].index)) < CAUSAL_OWN)
            ++*map_put(&counts->pool, map_pair(places[i].location, label_of(causal, places[i])), 0);
}

/* Where a trace does not say for how long samples stand, all stand for as long. */
static double weight_of(const struct causal *causal, size_t sample)
{
    return causal->profile->ns > 0 ? (double)causal->profile->taken[sample].ns : 1;
}

static void find_groups(struct causal *causal, const struct where *places)
{
    const struct graph *graph = causal->graph;
    struct counts counts = {0};
    count_samples(causal, &counts, places);
    for (uint32_t location = 0; location < graph->location_count; location++) {
        uint32_t stretches = (uint32_t)graph->locations[location].count + 1;
        causal->groups[location] = memory_new(stretches * sizeof **causal->groups);
        for (uint32_t i = 0; i < stretches; i++)
            causal->groups[location][i] = group_of(causal, &counts, (struct where){location, i});
    }
    causal->weight_ns = memory_new((causal->group_count + 1) * sizeof *causal->weight_ns);
    for (size_t i = 0; i < causal->profile->taken_count; i++)
        if (places[i].location != GRAPH_NONE) {
            causal->sample_group[i] = causal->groups[places[i].location][places[i].index];
            causal->weight_ns[causal->sample_group[i] - 1] += weight_of(causal, i);
        }
    struct map *maps[] = {&counts.own, &counts.pool, &counts.own_group, &counts.pool_group, &counts.wide_group};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        map_clear(maps[i]);
}

struct causal *causal_new(const struct graph *graph, const struct profile *profile)
{
    struct causal *causal = memory_new(sizeof *causal);
    *causal = (struct causal){.graph = graph,
                              .profile = profile,
                              .groups = memory_new((graph->location_count + 1) * sizeof *causal->groups),
                              .sample_group = memory_new((profile->taken_count + 1) * sizeof *causal->sample_group)};
    struct where *places = find_samples(graph, profile);
    find_groups(causal, places);
    free(places);
    return causal;
}

void causal_free(struct causal *causal)
{
    if (!causal)
        return;
    for (size_t i = 0; i < causal->graph->location_count; i++)
        free(causal->groups[i]);
    free(causal->groups);
    free(causal->sample_group);
    free(causal->weight_ns);
    map_clear(&causal->labels);
    free(causal);
}

/* Replaying */

struct faster {
    const struct causal *causal;
    const double *compute; /* of the options */
    double *gone;          /* by group: the part of its time that is gone */
};

static int64_t pace(const void *context, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    const struct faster *faster = context;
    uint32_t group = faster->causal->groups[location][index];
    double factor = faster->compute ? faster->compute[location] : 1;
    int64_t ns = time_since(from_ns, to_ns);
    if (ns <= 0)
        return ns;
    return llround((double)ns * factor * (1 - faster->gone[group - 1]));
}

struct replay causal_replay(const struct causal *causal, const uint32_t *row_of, const bool *chosen, double part,
                            struct replay_options options)
{
    struct faster faster = {causal, options.compute, memory_new((causal->group_count + 1) * sizeof *faster.gone)};
    for (size_t i = 0; i < causal->profile->taken_count; i++)
        if (causal->sample_group[i] && chosen[row_of[causal->profile->taken[i].path]])
            faster.gone[causal->sample_group[i] - 1] += weight_of(causal, i);
    for (uint32_t i = 0; i < causal->group_count; i++)
        faster.gone[i] = part * ratio_of(faster.gone[i], causal->weight_ns[i]);
    options.pace = pace;
    options.pace_context = &faster;
    struct replay replay = replay_run(causal->graph, options);
    free(faster.gone);
    return replay;
}

struct filling {
    const struct causal *causal;
    const struct profile_rows *functions;
    struct causal_row *table;
};

static void fill(void *context, size_t index)
{
    const struct filling *filling = context;
    struct causal_row *row = &filling->table[index / CAUSAL_SPEEDS];
    size_t speed = index % CAUSAL_SPEEDS;
    bool *chosen = memory_new((filling->functions->count + 1) * sizeof *chosen);
    chosen[row->row] = true;
    row->end_ns[speed] = causal_replay(filling->causal, filling->functions->row_of, chosen,
                                       causal_percent[speed] / 100.0, (struct replay_options){0})
                             .end_ns;
    free(chosen);
}

static int by_gain(const void *left_row, const void *right_row)
{
    const struct causal_row *left = left_row, *right = right_row;
    if (left->end_ns[CAUSAL_SPEEDS - 1] != right->end_ns[CAUSAL_SPEEDS - 1])
        return order_by(left->end_ns[CAUSAL_SPEEDS - 1], right->end_ns[CAUSAL_SPEEDS - 1]);
    return order_by(left->row, right->row);
}

size_t causal_table(const struct causal *causal, const struct profile_rows *functions, unsigned threads,
                    struct causal_row table[CAUSAL_ROWS])
{
    size_t count = 0;
    /* Rows stand hottest first. */
    for (uint32_t row = 0; row < functions->count && count < CAUSAL_ROWS; row++)
        if (functions->row[row].samples > 0 &&
            (double)functions->row[row].samples >= LEAST * (double)causal->profile->samples)
            table[count++] = (struct causal_row){.row = row};
    struct filling filling = {causal, functions, table};
    parallel_run(threads, count * CAUSAL_SPEEDS, fill, &filling);
    qsort(table, count, sizeof *table, by_gain);
    return count;
}
