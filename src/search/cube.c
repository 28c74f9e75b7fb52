/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/cube.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* A row is a process with all its threads; ranks may have gaps, rows have none. */
static void find_rows(struct cube *cube)
{
    const struct graph *graph = cube->graph;
    cube->rows = memory_new(graph->location_count * sizeof *cube->rows);
    cube->ranks = memory_new(graph->location_count * sizeof *cube->ranks);
    for (size_t i = 0; i < graph->location_count; i++)
        cube->ranks[i] = graph->locations[i].process;
    if (graph->location_count > 0)
        qsort(cube->ranks, graph->location_count, sizeof *cube->ranks, by_number);
    for (size_t i = 0; i < graph->location_count; i++)
        if (i == 0 || cube->ranks[i] != cube->ranks[cube->row_count - 1])
            cube->ranks[cube->row_count++] = cube->ranks[i];
    for (size_t i = 0; i < graph->location_count; i++) {
        const uint32_t *row =
            bsearch(&graph->locations[i].process, cube->ranks, cube->row_count, sizeof *cube->ranks, by_number);
        cube->rows[i] = (uint32_t)(row - cube->ranks);
    }
}

static int by_tag(const void *a, const void *b)
{
    const int32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Tags are any int, often a counter: numbers from 0 let tables be arrays. */
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
        cube->channel_tags[i] = CUBE_ANY;
        if (*tag != EVENT_UNKNOWN)
            cube->channel_tags[i] = (uint32_t)(tag - cube->tags);
    }
}

static void find_states(struct cube *cube, const struct state_track *states)
{
    struct map locations = {0};
    for (size_t i = 0; states && i < states->count; i++)
        map_put(&locations, map_pair(states->locations[i].process, states->locations[i].thread), i);
    cube->state_locations = memory_new(cube->graph->location_count * sizeof *cube->state_locations);
    for (size_t i = 0; i < cube->graph->location_count; i++) {
        const struct location *location = &cube->graph->locations[i];
        const uint64_t *found = map_find(&locations, map_pair(location->process, location->thread));
        if (found) /* else NULL: memory_new has zeroed it */
            cube->state_locations[i] = &states->locations[*found];
    }
    map_clear(&locations);
}

/* MPI_Initialized may come before MPI_Init, and MPI_Finalized after MPI_Finalize. */
enum { NEAR_THE_END = 8 };

static bool is_finalize(const struct state_def *state)
{
    return strcmp(state->name, "MPI_Finalize") == 0;
}

/* The time from the location's start of MPI to its end. */
static struct cube_span working_span(const struct graph *graph, uint32_t location)
{
    const struct location *where = &graph->locations[location];
    struct cube_span span = {where->begin_ns, where->end_ns};
    uint32_t count = (uint32_t)where->count;
    for (uint32_t i = 0; i < count && i < NEAR_THE_END; i++) {
        struct call call = graph_call(graph, location, i);
        const struct state_def *state = graph_state(graph, &call);
        if (mpi_function_starts_or_ends(state->name) && !is_finalize(state))
            span.begin_ns = call.leave_ns;
    }
    for (uint32_t i = count; i-- > 0 && count - i <= NEAR_THE_END;) {
        struct call call = graph_call(graph, location, i);
        if (is_finalize(graph_state(graph, &call)))
            span.end_ns = call.enter_ns;
    }
    return span;
}

/* For each location the part of its time in which any works: waiting in MPI_Finalize for others that still work counts
   as waiting.
 */
static void find_span(struct cube *cube, bool starting)
{
    const struct graph *graph = cube->graph;
    cube->spans = memory_new(graph->location_count * sizeof *cube->spans);
    for (uint32_t i = 0; i < graph->location_count; i++) {
        struct cube_span span = {graph->locations[i].begin_ns, graph->locations[i].end_ns};
        if (!starting)
            span = working_span(graph, i);
        if (i == 0) {
            cube->begin_ns = span.begin_ns;
            cube->end_ns = span.end_ns;
        }
        cube->begin_ns = smaller(span.begin_ns, cube->begin_ns);
        cube->end_ns = larger(span.end_ns, cube->end_ns);
    }
    /* The same begin and end for all: a process that starts MPI late does not work in the meantime. */
    for (uint32_t i = 0; i < graph->location_count; i++) {
        const struct location *where = &graph->locations[i];
        struct cube_span *span = &cube->spans[i];
        span->begin_ns = larger(where->begin_ns, cube->begin_ns);
        span->end_ns = smaller(where->end_ns, cube->end_ns);
        time_add(&cube->run_ns, time_since(span->begin_ns, span->end_ns));
    }
}

/* Very many iterations are combined: every block-th border. */
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
            cube->own_borders[row * (blocks + 1) + i] = borders[row * (count + 1) + smaller(i * cube->block, count)];
    cube->iterations = (struct cube_cuts){blocks, cube->own_borders};
}

struct cube *cube_new(const struct graph *graph, const struct state_track *states, const struct phases *phases,
                      bool solo, bool starting)
{
    struct cube *cube = memory_new(sizeof *cube);
    cube->graph = graph;
    cube->starting = starting;
    find_rows(cube);
    number_tags(cube);
    find_states(cube, states);
    find_span(cube, starting);
    if (phases) {
        cube->phases = (struct cube_cuts){phases->count, phases->begins};
        if (phases->main_loop != PHASE_NONE)
            find_iterations(cube, phases);
    }
    if (solo)
        cube->solo = solo_of(graph, cube->begin_ns);
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
    free(cube->state_locations);
    free(cube->own_borders);
    free(cube->spans);
    solo_clear(&cube->solo);
    free(cube);
}

static bool add_doubts(const struct cube_focus *focus, const struct cube_cell *cell, double doubts[METRIC_COUNT])
{
    /* The values if everything that the trace leaves open were waiting: a test whose answer is the same with both is
       certain in spite of what is missing. */
    double waits = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++) {
        doubts[METRIC_WAITS + kind] += (double)cell->doubt_ns[kind] / 1e9;
        waits += (double)cell->doubt_ns[kind] / 1e9;
    }
    doubts[METRIC_waiting] += waits;
    bool whole = cell == &focus->total && !focus->rows && !focus->iterations;
    for (int axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++)
        whole &= focus->key[axis] == CUBE_ANY;
    /* Nobody knows which part has caused a wait without known cause: of the whole run it is all. */
    if (whole)
        doubts[METRIC_caused] += waits;
    doubts[METRIC_small_time] += (double)cell->doubt_size_ns / 1e9;
    doubts[METRIC_small_messages] += (double)cell->doubt_messages;
    /* An unknown value has no bounds. */
    if (cell->doubt_messages > 0)
        doubts[METRIC_bytes] = INFINITY;
    return waits > 0 || cell->doubt_messages > 0 || cell->doubt_size_ns > 0;
}

bool cube_values(const struct cube *cube, const struct cube_focus *focus, enum search_axis axis,
                 const struct cube_cell *cell, double values[METRIC_COUNT], double doubts[METRIC_COUNT])
{
    bool own_span = axis == AXIS_PROCESSES || axis == AXIS_PHASES || axis == AXIS_ITERATIONS;
    /* A process, a phase and an iteration have a time of their own; a function has that of its focus. */
    const struct cube_cell *span = &focus->total;
    if (own_span)
        span = cell;
    bool part =
        axis == AXIS_PHASES || axis == AXIS_ITERATIONS || focus->key[AXIS_PHASES] != CUBE_ANY || focus->iterations;
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++)
        values[metric] = (double)cell->sums[metric];
    values[METRIC_run] = (double)cube->run_ns;
    values[METRIC_time] = (double)span->sums[METRIC_time];
    values[METRIC_processes] = (double)span->locations;
    values[METRIC_duration] = (double)time_since(cube->begin_ns, cube->end_ns);
    if (part)
        values[METRIC_duration] = (double)time_since(span->begin_ns, span->end_ns);
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++)
        if (metric_unit(metric).seconds)
            values[metric] /= 1e9;
    if (!doubts)
        return false;
    memcpy(doubts, values, METRIC_COUNT * sizeof *doubts);
    return add_doubts(focus, cell, doubts);
}
