/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "core/text.h"
#include "heuristics/shape.h"
#include "search/search_test.h"

#include <stdio.h>
#include <string.h>

/* A part longer than this share of the whole does not show when: "in phase main, 95 % of the run" helps nobody. */
static const double NEARLY_ALL = 0.85;

static double value_of(const struct cube *cube, const struct hypothesis *hypothesis, const struct cube_focus *focus,
                       enum search_axis axis, const struct cube_cell *cell)
{
    double values[METRIC_COUNT], value;
    cube_values(cube, focus, axis, cell, values, NULL);
    if (!expression_value(&hypothesis->value, values, &value))
        return 0;
    return value;
}

static struct search_part *add_part(struct search_parts *parts, uint32_t key)
{
    ARRAY_PUSH(parts->list, parts->count, parts->capacity, (struct search_part){.key = key});
    return &parts->list[parts->count - 1];
}

/* Each value of the axis separately, if it is informative. */
static void add_values(struct search_parts *parts, const struct cube *cube, const struct hypothesis *hypothesis,
                       const struct cube_focus *focus, enum search_axis axis)
{
    const struct cube_table *table = &focus->table[axis];
    for (size_t i = 0; i < table->count; i++) {
        const struct cube_cell *cell = &table->cells[i];
        if (value_of(cube, hypothesis, focus, axis, cell) != 0)
            add_part(parts, cell->key)->cell = *cell;
    }
}

/* Iterations that are true one by one, and those that are not: two parts, however many iterations there are. */
static void add_iterations(struct search_parts *parts, const struct cube *cube, const struct hypothesis *hypothesis,
                           const struct cube_focus *focus)
{
    const struct cube_table *table = &focus->table[AXIS_ITERATIONS];
    struct search_part halves[2] = {{.key = CUBE_ANY}, {.key = CUBE_ANY}};
    for (size_t i = 0; i < table->count; i++) {
        const struct cube_cell *cell = &table->cells[i];
        bool above = value_of(cube, hypothesis, focus, AXIS_ITERATIONS, cell) > hypothesis->threshold;
        struct search_part *part = &halves[above];
        ARRAY_PUSH(part->set, part->set_count, part->set_capacity, cell->key);
        cube_cell_add(AXIS_ITERATIONS, &part->cell, cell);
    }
    for (int above = 1; above >= 0; above--)
        if (halves[above].set_count > 0)
            ARRAY_PUSH(parts->list, parts->count, parts->capacity, halves[above]);
}

/* Processes */

/* The cell of a rank. */
static const struct cube_cell *cell_of_rank(const struct cube *cube, const struct cube_table *table, uint32_t rank)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (cube->ranks[table->cells[middle].key] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return &table->cells[low];
}

static void add_group(struct search_parts *parts, const struct cube *cube, const struct cube_table *table,
                      const uint32_t *ranks, size_t count)
{
    if (count == 0)
        return;
    struct search_part *part = add_part(parts, CUBE_ANY);
    for (size_t i = 0; i < count; i++) {
        const struct cube_cell *cell = cell_of_rank(cube, table, ranks[i]);
        ARRAY_PUSH(part->set, part->set_count, part->set_capacity, cell->key);
        cube_cell_add(AXIS_PROCESSES, &part->cell, cell);
    }
}

static void add_singles(struct search_parts *parts, const struct cube *cube, const struct cube_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        add_group(parts, cube, table, &cube->ranks[table->cells[i].key], 1);
}

/* Four ranges of ranks, if the value grows with the rank: a gradient has no border to divide at. */
static void add_quarters(struct search_parts *parts, const struct cube *cube, const struct cube_table *table,
                         const struct series *series)
{
    for (size_t quarter = 0; quarter < 4; quarter++) {
        size_t begin = series->count * quarter / 4, end = series->count * (quarter + 1) / 4;
        add_group(parts, cube, table, series->rank + begin, end - begin);
    }
}

/* Those above the threshold, and the rest: where values are scattered, the hypothesis itself is the border. */
static void add_halves(struct search_parts *parts, const struct cube *cube, const struct cube_table *table,
                       const struct series *series, double threshold)
{
    uint32_t *ranks[2] = {memory_new(series->count * sizeof **ranks), memory_new(series->count * sizeof **ranks)};
    size_t counts[2] = {0};
    for (size_t i = 0; i < series->count; i++) {
        bool above = series->value[i] > threshold;
        ranks[above][counts[above]++] = series->rank[i];
    }
    add_group(parts, cube, table, ranks[1], counts[1]);
    add_group(parts, cube, table, ranks[0], counts[0]);
    free(ranks[0]);
    free(ranks[1]);
}

/* A master differs from its workers in nearly everything: without it the workers may be even. */
static void add_master(struct search_parts *parts, const struct cube *cube, const struct cube_table *table,
                       const struct series *series, uint32_t master)
{
    struct series others = series_without(series, master);
    add_group(parts, cube, table, &master, 1);
    add_group(parts, cube, table, others.rank, others.count);
    series_clear(&others);
}

static bool has_rank(const struct series *series, int64_t rank)
{
    for (size_t i = 0; i < series->count; i++)
        if (series->rank[i] == rank)
            return true;
    return false;
}

static void add_groups(struct search_parts *parts, const struct search_input *input, const struct cube *cube,
                       const struct hypothesis *hypothesis, const struct cube_table *table, const struct series *series)
{
    /* The same shapes as in the heuristics, so that both name the same processes. Even ones are not divided. */
    struct measure measure = measure_of(series);
    struct pattern pattern = pattern_of(series, &measure);
    switch (pattern.shape) {
    case SHAPE_UNKNOWN:
    case SHAPE_EVEN:
        break;
    case SHAPE_PAIR:
        add_singles(parts, cube, table);
        break;
    case SHAPE_FEW_HIGH:
    case SHAPE_FEW_LOW:
    case SHAPE_TWO_GROUPS:
    case SHAPE_ALTERNATING:
        add_group(parts, cube, table, pattern.far, pattern.far_count);
        add_group(parts, cube, table, pattern.rest, pattern.rest_count);
        break;
    default:
        if (input->master >= 0 && has_rank(series, input->master))
            add_master(parts, cube, table, series, (uint32_t)input->master);
        else if (pattern.shape == SHAPE_GRADIENT && series->count > SEARCH_SINGLES)
            add_quarters(parts, cube, table, series);
        else
            add_halves(parts, cube, table, series, hypothesis->threshold);
    }
    pattern_clear(&pattern);
}

/* Into groups; in the end, if they are few and differ, into single ones. */
static void add_processes(struct search_parts *parts, const struct search_input *input, const struct cube *cube,
                          const struct hypothesis *hypothesis, const struct cube_focus *focus, bool singles)
{
    const struct cube_table *table = &focus->table[AXIS_PROCESSES];
    if (table->count < 2 || (singles && table->count > SEARCH_SINGLES))
        return;
    struct series series = series_new(table->count);
    for (size_t i = 0; i < table->count; i++) {
        series.value[i] = value_of(cube, hypothesis, focus, AXIS_PROCESSES, &table->cells[i]);
        series.rank[i] = cube->ranks[table->cells[i].key];
    }
    struct measure measure = measure_of(&series);
    if (!singles)
        add_groups(parts, input, cube, hypothesis, table, &series);
    else if (!measure_is_even(&measure))
        add_singles(parts, cube, table);
    series_clear(&series);
}

/* A part of nearly the whole time is not worth naming. */
static bool is_nearly_all(enum search_axis axis, const struct cube *cube, const struct cube_focus *focus,
                          const struct search_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct search_part *part = &parts->list[i];
        double all = (double)cube->iterations.count, own = (double)part->set_count;
        if (axis == AXIS_PHASES) {
            all = (double)focus->total.sums[METRIC_time];
            own = (double)part->cell.sums[METRIC_time];
        }
        if (own > NEARLY_ALL * all)
            return true;
    }
    return false;
}

/* Nor is a communicator or a tag if there is only one; a function or a site is always worth naming. */
static bool worth_reporting(enum search_axis axis, const struct cube *cube, const struct cube_focus *focus,
                            const struct search_parts *parts)
{
    switch (axis) {
    case AXIS_PROCESSES:
        return parts->count > 1;
    case AXIS_COMMUNICATORS:
    case AXIS_TAGS:
        return focus->table[axis].count > 1;
    case AXIS_PHASES:
    case AXIS_ITERATIONS:
        return !is_nearly_all(axis, cube, focus, parts);
    default:
        return true;
    }
}

struct search_parts search_parts_of(const struct search_input *input, const struct cube *cube,
                                    const struct hypothesis *hypothesis, const struct cube_focus *focus,
                                    enum search_axis axis, bool singles)
{
    struct search_parts parts = {0};
    if (axis == AXIS_PROCESSES)
        add_processes(&parts, input, cube, hypothesis, focus, singles);
    else if (axis == AXIS_ITERATIONS)
        add_iterations(&parts, cube, hypothesis, focus);
    else
        add_values(&parts, cube, hypothesis, focus, axis);
    parts.is_reported = worth_reporting(axis, cube, focus, &parts);
    return parts;
}

void search_parts_clear(struct search_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        free(parts->list[i].set);
    free(parts->list);
    *parts = (struct search_parts){0};
}

/* Words */

enum { TITLE_SIZE = 400, NAME_BYTES = 300 };

static void named_title(char title[TITLE_SIZE], const char *where, const char *name)
{
    snprintf(title, TITLE_SIZE, "%s %.*s", where, text_beginning(name, NAME_BYTES), name);
}

static void processes_title(char title[TITLE_SIZE], const struct search_input *input, const struct cube *cube,
                            const struct search_part *part)
{
    char text[RANKS_TEXT_SIZE];
    uint32_t *ranks = memory_new(part->set_count * sizeof *ranks);
    for (size_t i = 0; i < part->set_count; i++)
        ranks[i] = cube->ranks[part->set[i]];
    snprintf(title, TITLE_SIZE, "%s %s", text_plural(part->set_count, "process", "processes"),
             ranks_text(text, ranks, part->set_count));
    if (part->set_count == 1 && ranks[0] == input->master)
        text_append(title, TITLE_SIZE, ", the master");
    free(ranks);
}

/* A file's name without its folders. */
static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash && slash[1])
        return slash + 1;
    return path;
}

/* "at sort.c:88", or the function if the trace records no more. */
static void site_title(char title[TITLE_SIZE], const char *where, const struct site_def *site)
{
    if (*site->file || !site->function)
        named_title(title, where, base_of(site->file));
    else
        named_title(title, where, site->function);
    if (*site->file && site->line > 0)
        snprintf(title + strlen(title), 16, ":%d", site->line);
}

static void comm_title(char title[TITLE_SIZE], const struct comm_def *comm)
{
    if (comm->world)
        snprintf(title, TITLE_SIZE, "on MPI_COMM_WORLD");
    else if (comm->self)
        snprintf(title, TITLE_SIZE, "on MPI_COMM_SELF");
    else
        snprintf(title, TITLE_SIZE, "on communicator %d", comm->id);
}

/* The iterations of a part by their numbers, from 0 as everywhere; of blocks all in them. */
static uint32_t *iteration_numbers(const struct cube *cube, size_t all, const struct search_part *part, size_t *count)
{
    uint32_t *numbers = memory_new(part->set_count * cube->block * sizeof *numbers);
    *count = 0;
    for (size_t i = 0; i < part->set_count; i++)
        for (size_t k = 0; k < cube->block && part->set[i] * cube->block + k < all; k++)
            numbers[(*count)++] = (uint32_t)(part->set[i] * cube->block + k);
    return numbers;
}

static void iterations_title(char title[TITLE_SIZE], const struct search_input *input, const struct cube *cube,
                             const struct search_part *part)
{
    char text[RANKS_TEXT_SIZE];
    size_t count, all = input->phases->loops.rows[input->phases->main_loop].matched;
    uint32_t *numbers = iteration_numbers(cube, all, part, &count);
    bool together = numbers[count - 1] - numbers[0] + 1 == count; /* ascending and distinct: no gaps */
    ranks_text(text, numbers, count);
    if (together)
        snprintf(title, TITLE_SIZE, "in iteration%s %s of %s", text_plural(count, "", "s"), text,
                 text_number(all).text);
    else
        snprintf(title, TITLE_SIZE, "in %s of %s iterations: %s", text_number(count).text, text_number(all).text, text);
    free(numbers);
}

char *search_part_title(const struct search_input *input, const struct cube *cube, const struct hypothesis *hypothesis,
                        enum search_axis axis, const struct search_part *part)
{
    char title[TITLE_SIZE];
    const struct defs *defs = cube->graph->defs;
    /* Computing is counted at the call after it (cube_walk.c). */
    bool before = expression_is_of_gaps(&hypothesis->value);
    switch (axis) {
    case AXIS_PROCESSES:
        processes_title(title, input, cube, part);
        break;
    case AXIS_FUNCTIONS:
        named_title(title, before ? "before" : "in", defs->states[part->key].name);
        break;
    case AXIS_SITES:
        site_title(title, before ? "before" : "at", &defs->sites[part->key]);
        break;
    case AXIS_COMMUNICATORS:
        comm_title(title, &defs->comms[part->key]);
        break;
    case AXIS_TAGS:
        snprintf(title, sizeof title, "with tag %d", cube->tags[part->key]);
        break;
    case AXIS_STATES:
        named_title(title, "in state", defs->states[part->key].name);
        break;
    case AXIS_PHASES:
        named_title(title, "in phase:", input->phases->phase[part->key].name);
        break;
    default:
        iterations_title(title, input, cube, part);
    }
    return memory_copy_string(title);
}
