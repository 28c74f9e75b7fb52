/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/cube_focus.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "search/cube_walk.h"

#include <math.h>
#include <string.h>

struct cube_focus cube_focus_whole(void)
{
    struct cube_focus focus = {0};
    for (int axis = 0; axis < SEARCH_AXIS_COUNT; axis++)
        focus.key[axis] = CUBE_ANY;
    return focus;
}

void cube_focus_clear(struct cube_focus *focus)
{
    free(focus->total.counters);
    focus->total.counters = NULL;
    for (int axis = 0; axis < SEARCH_AXIS_COUNT; axis++) {
        for (size_t i = 0; i < focus->table[axis].count; i++)
            free(focus->table[axis].cells[i].counters);
        free(focus->table[axis].cells);
        focus->table[axis] = (struct cube_table){0};
    }
}

static size_t domain_of(const struct cube *cube, enum search_axis axis)
{
    const struct defs *defs = cube->graph->defs;
    switch (axis) {
    case AXIS_PROCESSES:
        return cube->row_count;
    case AXIS_FUNCTIONS:
    case AXIS_STATES:
        return defs->state_count;
    case AXIS_SITES:
        return defs->site_count;
    case AXIS_COMMUNICATORS:
        return defs->comm_count;
    case AXIS_TAGS:
        return cube->tag_count;
    case AXIS_PHASES:
        return cube->phases.count;
    case AXIS_ITERATIONS:
        return cube->iterations.count;
    default:
        return 0;
    }
}

struct cube_cell *cube_cell_of(struct cube_table *table, enum search_axis axis, uint32_t key)
{
    if (key >= table->domain)
        return NULL;
    if (!table->places[key]) {
        /* Processes are bounded by the trace, and groups of them need all. */
        if (table->count == CUBE_CELLS && axis != AXIS_PROCESSES) {
            table->overflow = true;
            return NULL;
        }
        ARRAY_PUSH(table->cells, table->count, table->capacity, (struct cube_cell){.key = key});
        table->places[key] = (uint32_t)table->count;
    }
    return &table->cells[table->places[key] - 1];
}

/* To be called before its locations are counted. */
static void widen(struct cube_cell *cell, int64_t begin_ns, int64_t end_ns)
{
    if (cell->locations == 0) {
        cell->begin_ns = begin_ns;
        cell->end_ns = end_ns;
    }
    cell->begin_ns = smaller(begin_ns, cell->begin_ns);
    cell->end_ns = larger(end_ns, cell->end_ns);
}

/* The location's time in a part, if any; `again`: the location is already counted. */
static void count_location(const struct cube *cube, struct cube_cell *cell, uint32_t location,
                           const struct cube_cuts *cuts, uint32_t part, bool *again)
{
    int64_t begin_ns, end_ns;
    if (!cell || !cube_time_in(cube, location, cuts, part, &begin_ns, &end_ns))
        return;
    widen(cell, begin_ns, end_ns);
    cell->locations += !*again;
    *again = true;
    time_add(&cell->sums[METRIC_time], time_since(begin_ns, end_ns));
}

/* The part of a location in a focus: its iterations, or its phase, or all. */
static void count_span(const struct cube *cube, const struct cube_focus *focus, struct cube_cell *cell,
                       uint32_t location)
{
    bool again = false;
    /* Spans are counted once for all, not while walking: a location without any call has its time, too. */
    for (size_t i = 0; i < focus->iteration_count; i++)
        count_location(cube, cell, location, &cube->iterations, focus->iterations[i], &again);
    if (!focus->iterations)
        count_location(cube, cell, location, &cube->phases, focus->key[AXIS_PHASES], &again);
}

static void count_parts(const struct cube *cube, struct cube_focus *focus, uint32_t location, enum search_axis axis,
                        const struct cube_cuts *cuts)
{
    for (uint32_t i = 0; focus->wanted[axis] && i < cuts->count; i++) {
        bool again = false;
        /* A constraint may narrow the axis by which the question divides. */
        if (axis == AXIS_PHASES && focus->key[axis] != CUBE_ANY && focus->key[axis] != i)
            continue;
        if (axis == AXIS_ITERATIONS && focus->in_iteration && !focus->in_iteration[i])
            continue;
        count_location(cube, cube_cell_of(&focus->table[axis], axis, i), location, cuts, i, &again);
    }
}

/* Spans of a location in a focus: of its total, its process, and of phases and iterations where it is divided by these.
 */
static void count_spans(const struct cube *cube, struct cube_focus *focus, uint32_t location)
{
    count_span(cube, focus, &focus->total, location);
    if (focus->wanted[AXIS_PROCESSES])
        count_span(cube, focus, cube_cell_of(&focus->table[AXIS_PROCESSES], AXIS_PROCESSES, cube->rows[location]),
                   location);
    count_parts(cube, focus, location, AXIS_PHASES, &cube->phases);
    count_parts(cube, focus, location, AXIS_ITERATIONS, &cube->iterations);
}

static bool *bits_of(const uint32_t *numbers, size_t count, size_t all)
{
    if (!numbers) /* no choice: all */
        return NULL;
    bool *bits = memory_new(all);
    for (size_t i = 0; i < count; i++)
        bits[numbers[i]] = true;
    return bits;
}

void cube_focus_begin(const struct cube *cube, struct cube_focus *focus)
{
    focus->total = (struct cube_cell){.key = CUBE_ANY};
    focus->member = bits_of(focus->rows, focus->row_count, cube->row_count);
    focus->in_iteration = bits_of(focus->iterations, focus->iteration_count, cube->iterations.count);
    focus->location_compute_ns = memory_new(cube->graph->location_count * sizeof *focus->location_compute_ns);
    for (int axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++) {
        struct cube_table *table = &focus->table[axis];
        if (!focus->wanted[axis])
            continue;
        table->domain = domain_of(cube, (enum search_axis)axis);
        table->places = memory_new(table->domain * sizeof *table->places);
    }
    for (uint32_t location = 0; location < cube->graph->location_count; location++)
        if (!focus->member || focus->member[cube->rows[location]])
            count_spans(cube, focus, location);
}

int64_t cube_beyond_mean(int64_t location_ns, int64_t all_ns, size_t locations)
{
    double beyond = (double)location_ns - (double)all_ns / (double)locations;
    return llround(fmin(fmax(beyond, 0), 9e18)); /* converting more than int64 holds is undefined */
}

/* A share starts with the computing of all locations, which the second pass compares with, and else from nothing. */
static struct cube_cell cell_share(const struct cube_cell *cell)
{
    return (struct cube_cell){.key = cell->key, .all_compute_ns = cell->all_compute_ns};
}

static struct cube_table table_share(const struct cube_table *table)
{
    struct cube_table share = {.domain = table->domain, .count = table->count, .capacity = table->count};
    if (table->domain == 0)
        return share;
    share.places = memory_new(table->domain * sizeof *share.places);
    memcpy(share.places, table->places, table->domain * sizeof *share.places);
    /* The same cells in the same places: numbers of cells mean the same in all shares. */
    if (table->count > 0)
        share.cells = memory_new(table->count * sizeof *share.cells);
    for (size_t i = 0; i < table->count; i++)
        share.cells[i] = cell_share(&table->cells[i]);
    return share;
}

struct cube_focus *cube_foci_share(const struct cube_focus *foci, size_t count)
{
    struct cube_focus *shared = memory_new(count * sizeof *shared);
    for (size_t i = 0; i < count; i++) {
        shared[i] = foci[i];
        shared[i].total = cell_share(&foci[i].total);
        for (int axis = 0; axis < SEARCH_AXIS_COUNT; axis++)
            shared[i].table[axis] = table_share(&foci[i].table[axis]);
    }
    return shared;
}

void cube_sum_add(struct cube_cell *cell, unsigned metric, int64_t amount)
{
    int64_t *sum = &cell->sums[metric];
    if (metric == METRIC_bytes && amount > INT64_MAX - *sum)
        *sum = INT64_MAX;
    else
        time_add(sum, amount);
}

static void add_sums(struct cube_cell *sum, const struct cube_cell *cell)
{
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++)
        cube_sum_add(sum, metric, cell->sums[metric]);
    for (int kind = 0; kind < WAIT_KIND_COUNT; kind++)
        time_add(&sum->doubt_ns[kind], cell->doubt_ns[kind]);
    time_add(&sum->doubt_size_ns, cell->doubt_size_ns);
    time_add(&sum->doubt_messages, cell->doubt_messages);
}

static void cell_join(struct cube_cell *cell, const struct cube_cell *shared, bool second)
{
    if (second) { /* which adds nothing else */
        time_add(&cell->sums[METRIC_overload], shared->sums[METRIC_overload]);
        return;
    }
    add_sums(cell, shared);
    time_add(&cell->all_compute_ns, shared->all_compute_ns);
    cell->most_compute_ns = larger(shared->most_compute_ns, cell->most_compute_ns);
}

void cube_foci_join(struct cube_focus *foci, struct cube_focus *shared, size_t count, bool second)
{
    for (size_t i = 0; i < count; i++) {
        cell_join(&foci[i].total, &shared[i].total, second);
        for (int axis = 0; axis < SEARCH_AXIS_COUNT; axis++) {
            struct cube_table *from = &shared[i].table[axis];
            for (size_t k = 0; k < from->count; k++) {
                struct cube_cell *cell = cube_cell_of(&foci[i].table[axis], (enum search_axis)axis, from->cells[k].key);
                if (cell)
                    cell_join(cell, &from->cells[k], second);
            }
            free(from->places);
            free(from->touched);
        }
        cube_focus_clear(&shared[i]);
    }
    free(shared);
}

static int by_key(const void *a, const void *b)
{
    const struct cube_cell *left = a, *right = b;
    return (left->key > right->key) - (left->key < right->key);
}

/* N (max - mean) = N max - sum: the time that all locations together would wait for the slowest. */
static void book_imbalance(struct cube_cell *cell, uint64_t locations)
{
    double ns = (double)cell->most_compute_ns * (double)locations - (double)cell->sums[METRIC_compute];
    cell->sums[METRIC_imbalance] = llround(fmin(fmax(ns, 0), 9e18));
}

void cube_focus_end(const struct cube *cube, struct cube_focus *focus)
{
    size_t locations = cube->graph->location_count;
    book_imbalance(&focus->total, focus->total.locations);
    /* The total needs no second pass: it has the computing of each location. */
    for (size_t i = 0; i < locations; i++)
        time_add(&focus->total.sums[METRIC_overload],
                 cube_beyond_mean(focus->location_compute_ns[i], focus->total.all_compute_ns, locations));
    for (int axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++) {
        struct cube_table *table = &focus->table[axis];
        /* A location that does not compute in a function at all makes it uneven: all count, except in a process. */
        for (size_t i = 0; i < table->count; i++) {
            uint64_t all = focus->total.locations;
            if (axis == AXIS_PROCESSES)
                all = table->cells[i].locations;
            book_imbalance(&table->cells[i], all);
        }
        if (table->count > 0)
            qsort(table->cells, table->count, sizeof *table->cells, by_key);
        free(table->places);
        free(table->touched);
        table->places = table->touched = NULL;
        table->touched_capacity = 0;
    }
    free(focus->location_compute_ns);
    free(focus->member);
    free(focus->in_iteration);
    focus->location_compute_ns = NULL;
    focus->member = focus->in_iteration = NULL;
}

void cube_cell_add(enum search_axis axis, struct cube_cell *sum, const struct cube_cell *cell)
{
    widen(sum, cell->begin_ns, cell->end_ns);
    add_sums(sum, cell);
    /* Parts of an axis other than processes have the same locations: they are not added up. */
    if (axis != AXIS_PROCESSES) {
        sum->locations = larger(cell->locations, sum->locations);
        return;
    }
    sum->locations += cell->locations;
    sum->most_compute_ns = larger(cell->most_compute_ns, sum->most_compute_ns);
    book_imbalance(sum, sum->locations);
}
