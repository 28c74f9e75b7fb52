/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/cube.h"

#include "core/memory.h"

#include <math.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void find_rows(struct cube *cube)
{
    const struct graph *graph = cube->graph;
    cube->rows = memory_new(graph->lane_count * sizeof *cube->rows);
    cube->ranks = memory_new(graph->lane_count * sizeof *cube->ranks);
    for (size_t i = 0; i < graph->lane_count; i++)
        cube->ranks[i] = graph->lanes[i].process;
    if (graph->lane_count > 0)
        qsort(cube->ranks, graph->lane_count, sizeof *cube->ranks, by_number);
    for (size_t i = 0; i < graph->lane_count; i++)
        if (i == 0 || cube->ranks[i] != cube->ranks[cube->row_count - 1])
            cube->ranks[cube->row_count++] = cube->ranks[i];
    for (size_t i = 0; i < graph->lane_count; i++) {
        const uint32_t *row =
            bsearch(&graph->lanes[i].process, cube->ranks, cube->row_count, sizeof *cube->ranks, by_number);
        cube->rows[i] = (uint32_t)(row - cube->ranks);
    }
}

static int by_tag(const void *a, const void *b)
{
    const int32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void number_tags(struct cube *cube)
{
    const struct graph *graph = cube->graph;
    size_t count = graph->channel_count;
    cube->tags = memory_new(count * sizeof *cube->tags);
    cube->channel_tags = memory_new(count * sizeof *cube->channel_tags);
    for (size_t i = 0; i < count; i++)
        cube->tags[i] = graph->channels[i].tag;
    if (count > 0)
        qsort(cube->tags, count, sizeof *cube->tags, by_tag);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || cube->tags[i] != cube->tags[cube->tag_count - 1])
            cube->tags[cube->tag_count++] = cube->tags[i];
    for (size_t i = 0; i < count; i++) {
        const int32_t *tag = bsearch(&graph->channels[i].tag, cube->tags, cube->tag_count, sizeof *cube->tags, by_tag);
        cube->channel_tags[i] = *tag == EVENT_UNKNOWN ? (uint32_t)CUBE_ANY : (uint32_t)(tag - cube->tags);
    }
}

static void find_states(struct cube *cube, const struct state_track *states)
{
    struct map lanes = {0};
    for (size_t i = 0; states && i < states->count; i++)
        map_put(&lanes, map_pair(states->lanes[i].process, states->lanes[i].thread), i);
    cube->state_lanes = memory_new(cube->graph->lane_count * sizeof *cube->state_lanes);
    for (size_t i = 0; i < cube->graph->lane_count; i++) {
        const struct lane *lane = &cube->graph->lanes[i];
        const uint64_t *found = map_find(&lanes, map_pair(lane->process, lane->thread));
        cube->state_lanes[i] = found ? &states->lanes[*found] : NULL;
    }
    map_clear(&lanes);
}

static void find_span(struct cube *cube)
{
    const struct graph *graph = cube->graph;
    for (size_t i = 0; i < graph->lane_count; i++) {
        const struct lane *lane = &graph->lanes[i];
        cube->begin_ns = i == 0 || lane->begin_ns < cube->begin_ns ? lane->begin_ns : cube->begin_ns;
        cube->end_ns = i == 0 || lane->end_ns > cube->end_ns ? lane->end_ns : cube->end_ns;
        time_add(&cube->run_ns, time_since(lane->begin_ns, lane->end_ns));
    }
}

/* Very many iterations are taken together: every block-th border. */
static void find_iterations(struct cube *cube, const struct phases *phases)
{
    size_t count = phases->loops.rows[phases->main_loop].matched, rows = phases->loops.process_count;
    const int64_t *borders = phases->loops.starts[phases->main_loop];
    cube->block = (count + CUBE_ITERATIONS - 1) / CUBE_ITERATIONS;
    cube->iterations = (struct cube_cuts){count, borders};
    if (cube->block < 2)
        return;
    size_t blocks = (count + cube->block - 1) / cube->block;
    cube->own_borders = memory_new(rows * (blocks + 1) * sizeof *cube->own_borders);
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i <= blocks; i++)
            cube->own_borders[row * (blocks + 1) + i] =
                borders[row * (count + 1) + (i < blocks ? i * cube->block : count)];
    cube->iterations = (struct cube_cuts){blocks, cube->own_borders};
}

struct cube *cube_new(const struct graph *graph, const struct state_track *states, const struct phases *phases,
                      bool solo)
{
    struct cube *cube = memory_new(sizeof *cube);
    cube->graph = graph;
    find_rows(cube);
    number_tags(cube);
    find_states(cube, states);
    find_span(cube);
    if (phases) {
        cube->phases = (struct cube_cuts){phases->count, phases->begins};
        if (phases->main_loop != PHASE_NONE)
            find_iterations(cube, phases);
    }
    if (solo)
        cube->solo = solo_of(graph);
    return cube;
}

void cube_free(struct cube *cube)
{
    if (!cube)
        return;
    free(cube->rows);
    free(cube->ranks);
    free(cube->tags);
    free(cube->channel_tags);
    free(cube->state_lanes);
    free(cube->own_borders);
    solo_clear(&cube->solo);
    free(cube);
}

static bool add_doubts(const struct cube_focus *focus, const struct cube_cell *cell, double doubts[METRIC_COUNT])
{
    double waits = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++) {
        doubts[METRIC_WAITS + kind] += (double)cell->doubt_ns[kind] / 1e9;
        waits += (double)cell->doubt_ns[kind] / 1e9;
    }
    doubts[METRIC_waiting] += waits;
    bool whole = cell == &focus->total && !focus->rows && !focus->iterations;
    for (int axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++)
        whole &= focus->key[axis] == CUBE_ANY;
    doubts[METRIC_caused] += whole ? waits : 0;
    doubts[METRIC_small_time] += (double)cell->doubt_size_ns / 1e9;
    doubts[METRIC_small_messages] += (double)cell->doubt_messages;
    /* Nothing bounds what is not told. */
    if (cell->doubt_messages > 0)
        doubts[METRIC_bytes] = INFINITY;
    return waits > 0 || cell->doubt_messages > 0 || cell->doubt_size_ns > 0;
}

bool cube_values(const struct cube *cube, const struct cube_focus *focus, enum search_axis axis,
                 const struct cube_cell *cell, double values[METRIC_COUNT], double doubts[METRIC_COUNT])
{
    bool own_span = axis == AXIS_PROCESSES || axis == AXIS_PHASES || axis == AXIS_ITERATIONS;
    const struct cube_cell *span = own_span ? cell : &focus->total;
    bool part =
        axis == AXIS_PHASES || axis == AXIS_ITERATIONS || focus->key[AXIS_PHASES] != CUBE_ANY || focus->iterations;
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++)
        values[metric] = (double)cell->sums[metric];
    values[METRIC_run] = (double)cube->run_ns;
    values[METRIC_time] = (double)span->sums[METRIC_time];
    values[METRIC_processes] = (double)span->lanes;
    values[METRIC_duration] =
        part ? (double)time_since(span->begin_ns, span->end_ns) : (double)time_since(cube->begin_ns, cube->end_ns);
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++)
        values[metric] /= metric_unit(metric).seconds ? 1e9 : 1;
    if (!doubts)
        return false;
    memcpy(doubts, values, METRIC_COUNT * sizeof *doubts);
    return add_doubts(focus, cell, doubts);
}
