/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/scene.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/resource_counter.h"
#include "core/text.h"
#include "timeline/statistics.h"

#include <stdio.h>
#include <string.h>

/* The analysis of longer traces takes too long for a picture. */
enum { ANALYSIS_EVENTS = 5000000 };

static double window_ns(const struct scene *scene)
{
    return (double)time_since(scene->view.from_ns, scene->view.to_ns);
}

/* The maximum number of states distinguished in a column. */
enum { COLUMN_STATES = 64 };

static size_t add_part(double *sums, uint16_t met[COLUMN_STATES], size_t count, uint16_t state, double ns)
{
    /* A column with more states than that keeps those that it met first. */
    if (sums[state] <= 0 && ns > 0) {
        if (count == COLUMN_STATES)
            return count;
        met[count++] = state;
    }
    sums[state] += ns;
    return count;
}

/* Takes the parts with most time, and resets the sums to 0. */
static void take_parts(struct scene_cell *into, double *sums, const uint16_t *met, size_t count, double all)
{
    for (size_t part = 0; part < SCENE_PARTS; part++) {
        size_t best = count;
        for (size_t i = 0; i < count; i++)
            if (sums[met[i]] > 0 && (best == count || sums[met[i]] > sums[met[best]]))
                best = i;
        into->part[part] = TIMELINE_ABSENT;
        into->share[part] = 0;
        if (best == count)
            continue;
        into->part[part] = met[best];
        into->share[part] = (float)(sums[met[best]] / all);
        sums[met[best]] = 0;
    }
    into->state = into->part[0];
    /* `sums` has a place for each of 65,536 states: clearing those that were met is enough. */
    for (size_t i = 0; i < count; i++)
        sums[met[i]] = 0;
}

/* Adds up the bins of the tile that lie in a column, each as far as it does. */
static void column_of(const struct timeline_tile *tile, const struct timeline_cell *cells, double from, double to,
                      double *sums, struct scene_cell *into)
{
    double bin_ns = (double)tile->bin_ns, waiting = 0, all = 0;
    uint32_t first = 0;
    if (from > 0)
        first = (uint32_t)(from / bin_ns);
    uint16_t met[COLUMN_STATES];
    size_t count = 0;
    into->messages = 0;
    for (uint32_t bin = first; bin < tile->bins && bin * bin_ns < to; bin++) {
        double low = larger(bin * bin_ns, from);
        double high = smaller((bin + 1) * bin_ns, to);
        /* A bin that the column has in part gives as large a part of its messages. */
        into->messages += (float)(cells[bin].messages * (high - low) / bin_ns);
        /* A process that is not there yet has no share in what its group does. */
        if (cells[bin].state == TIMELINE_ABSENT || high <= low)
            continue;
        all += high - low;
        /* Shares are bytes in a tile: 255 is all of the bin. */
        waiting += (high - low) * cells[bin].waiting / 255;
        count = add_part(sums, met, count, cells[bin].state, (high - low) * cells[bin].share / 255);
        for (size_t i = 0; i < TIMELINE_NEXT && cells[bin].next[i] != TIMELINE_ABSENT; i++)
            count = add_part(sums, met, count, cells[bin].next[i], (high - low) * cells[bin].next_share[i] / 255);
    }
    take_parts(into, sums, met, count, all);
    into->waiting = 0;
    if (all > 0)
        into->waiting = (float)(waiting / all);
}

static void fill_cells(struct scene *scene, const struct timeline_tile *tile)
{
    double *sums = memory_new((UINT16_MAX + 1) * sizeof *sums);
    /* How far the window begins after the tile, whose bins have edges of their own. */
    double shift = (double)(scene->view.from_ns - tile->from_ns), width = window_ns(scene) / scene->columns;
    scene->cells = memory_new((size_t)scene->lines * scene->columns * sizeof *scene->cells);
    for (uint32_t line = 0; line < scene->lines; line++)
        for (uint32_t column = 0; column < scene->columns; column++) {
            struct scene_cell *cell = &scene->cells[line * (size_t)scene->columns + column];
            *cell = (struct scene_cell){.state = TIMELINE_ABSENT};
            for (size_t part = 0; part < SCENE_PARTS; part++)
                cell->part[part] = TIMELINE_ABSENT;
            if (tile->bins > 0)
                column_of(tile, &tile->cells[line * (size_t)tile->bins], shift + column * width,
                          shift + (column + 1) * width, sums, cell);
        }
    free(sums);
}

/* Waits of the analysis instead of functions that wait. */
static void fill_waits(struct scene *scene)
{
    uint32_t *lines = memory_new(timeline_info(scene->timeline)->row_count * sizeof *lines);
    double width = window_ns(scene) / scene->columns;
    for (size_t i = 0; i < scene->view.row_count; i++)
        /* By row, and one more than the line: 0 is a row that is not shown. */
        lines[scene->rows[i]] = (uint32_t)(i / scene->fold) + 1;
    /* The tile has the time in functions that wait: it is not the same, and is replaced. */
    for (size_t i = 0; i < (size_t)scene->lines * scene->columns; i++)
        scene->cells[i].waiting = 0;
    for (size_t i = 0; i < scene->overlay->wait_count; i++) {
        const struct overlay_wait *wait = &scene->overlay->waits[i];
        if (wait->row == TIMELINE_NONE || !lines[wait->row] || wait->to_ns <= scene->view.from_ns ||
            wait->from_ns >= scene->view.to_ns)
            continue;
        size_t line = lines[wait->row] - 1;
        struct scene_cell *cells = &scene->cells[line * scene->columns];
        /* The last line may have fewer rows. */
        double rows = (double)smaller(scene->view.row_count - line * scene->fold, scene->fold);
        double from = (double)time_since(scene->view.from_ns, wait->from_ns);
        double to = (double)time_since(scene->view.from_ns, wait->to_ns);
        for (uint32_t column = (uint32_t)(from / width); column < scene->columns && column * width < to; column++) {
            double low = larger(column * width, from);
            double high = smaller((column + 1) * width, to);
            cells[column].waiting += (float)((high - low) / width / rows);
        }
    }
    free(lines);
}

static enum status make_cells(struct scene *scene, struct error *err)
{
    struct timeline_tile tile;
    struct timeline_tile_options options = {.bins = TIMELINE_BINS, .fold = scene->fold};
    /* Many lines of many bins take too much memory for a picture that cannot show them. */
    if (scene->lines > 256)
        options.bins = TIMELINE_BINS / 2;
    if (timeline_tile(scene->timeline, &scene->view, options, &tile, err) != STATUS_OK)
        return STATUS_FAILED;
    fill_cells(scene, &tile);
    scene->state_ns = tile.state_ns;
    scene->outside_ns = tile.outside_ns;
    /* The sums are the scene's now. */
    tile.state_ns = NULL;
    timeline_tile_clear(&tile);
    return STATUS_OK;
}

/* Sums of all events in the window instead of those of cells. */
static enum status make_sums(struct scene *scene, struct error *err)
{
    struct timeline_statistics exact;
    if (timeline_cost(scene->timeline, &scene->view) > ANALYSIS_EVENTS)
        return STATUS_OK;
    if (timeline_statistics(scene->timeline, &scene->view, &exact, err) != STATUS_OK)
        return STATUS_FAILED;
    for (size_t state = 0; state < exact.state_count; state++)
        scene->state_ns[state] = (double)exact.states[state].exclusive_ns;
    scene->outside_ns = (double)exact.outside_ns;
    scene->sent_received = exact.sent + exact.received;
    scene->summed = true;
    timeline_statistics_clear(&exact);
    return STATUS_OK;
}

/* The lines that their graphs take are no longer there for rows. */
static enum status make_counters(struct scene *scene, struct scene_options *options, struct error *err)
{
    struct timeline_counter *counters;
    uint32_t bins = smaller(scene->columns, (uint32_t)TIMELINE_CURVE_BINS), half = options->lines / 2;
    if (options->counter_lines == 0)
        return STATUS_OK;
    size_t count = timeline_counters(scene->timeline, &counters);
    enum status status = STATUS_OK;
    scene->counters = memory_new(SCENE_COUNTERS * sizeof *scene->counters);
    for (size_t i = 0; i < count && status == STATUS_OK && scene->counter_count < SCENE_COUNTERS &&
                       (scene->counter_count + 1) * options->counter_lines <= half;
         i++) {
        const struct mark_def *mark = &timeline_info(scene->timeline)->defs->marks[counters[i].mark];
        struct scene_counter counter = {.mark = counters[i].mark, .sum = counters[i].sum};
        if (resource_counter_of(mark) != RESOURCE_COUNTERS)
            continue;
        status = timeline_curve(scene->timeline, &scene->view, counter.mark, bins, &counter.curve, err);
        if (status == STATUS_OK)
            scene->counters[scene->counter_count++] = counter;
    }
    free(counters);
    options->lines -= (uint32_t)scene->counter_count * options->counter_lines;
    return status;
}

enum status scene_make(struct scene *scene, struct timeline *timeline, const struct timeline_view *view,
                       struct scene_options options, struct error *err)
{
    const struct timeline_info *info = timeline_info(timeline);
    *scene = (struct scene){.timeline = timeline, .view = *view, .fold = 1, .columns = options.columns};
    scene->rows = memory_new(view->row_count * sizeof *scene->rows);
    for (size_t i = 0; i < view->row_count; i++) {
        scene->rows[i] = (uint32_t)i;
        if (view->rows)
            scene->rows[i] = view->rows[i];
    }
    scene->view.rows = scene->rows;
    if (make_counters(scene, &options, err) != STATUS_OK) {
        scene_clear(scene);
        return STATUS_FAILED;
    }
    while ((view->row_count + scene->fold - 1) / scene->fold > options.lines)
        scene->fold *= 2;
    scene->lines = (uint32_t)((view->row_count + scene->fold - 1) / scene->fold);
    enum status status = make_cells(scene, err);
    if (status == STATUS_OK)
        status = make_sums(scene, err);
    if (status == STATUS_OK && info->events > 0 && info->events <= ANALYSIS_EVENTS) {
        scene->overlay = timeline_overlay(timeline, err);
        /* Without an overlay and without an error there is nothing to overlay. */
        if (err->kind != ERROR_NONE)
            status = STATUS_FAILED;
    }
    if (status == STATUS_OK && scene->overlay)
        fill_waits(scene);
    if (status == STATUS_OK && options.states > 0 && scene->fold == 1 &&
        timeline_cost(timeline, view) <= ANALYSIS_EVENTS) {
        status = timeline_window(timeline, &scene->view, options.states, &scene->window, err);
        /* With more states than can be drawn the cells are shown, not some of the states. */
        scene->exact = status == STATUS_OK && !scene->window.too_many;
    }
    if (status != STATUS_OK)
        scene_clear(scene);
    return status;
}

void scene_clear(struct scene *scene)
{
    free(scene->rows);
    free(scene->cells);
    free(scene->state_ns);
    timeline_window_clear(&scene->window);
    for (size_t i = 0; i < scene->counter_count; i++)
        timeline_curve_clear(&scene->counters[i].curve);
    free(scene->counters);
    *scene = (struct scene){0};
}

char *scene_line_name(const struct scene *scene, uint32_t line, char name[SCENE_NAME_SIZE])
{
    const struct timeline_row *rows = timeline_info(scene->timeline)->rows;
    size_t first = (size_t)line * scene->fold, last = first + scene->fold - 1;
    last = smaller(last, scene->view.row_count - 1);
    const struct timeline_row *low = &rows[scene->rows[first]], *high = &rows[scene->rows[last]];
    char process[TEXT_NUMBER_SIZE], last_process[TEXT_NUMBER_SIZE];
    text_thousands(process, low->process);
    if (low->process != high->process)
        snprintf(name, SCENE_NAME_SIZE, "%s–%s", process, text_thousands(last_process, high->process));
    else if (low->thread > 0 && first == last)
        snprintf(name, SCENE_NAME_SIZE, "%s.%u", process, low->thread);
    else
        snprintf(name, SCENE_NAME_SIZE, "%s", process);
    return name;
}

size_t scene_states(const struct scene *scene, uint32_t *states, size_t most)
{
    size_t count = 0, all = timeline_info(scene->timeline)->defs->state_count, found = 0;
    for (uint32_t state = 0; state < all; state++) {
        if (scene->state_ns[state] <= 0)
            continue;
        found++;
        size_t at = count < most ? count++ : most;
        /* Sorted by insertion into the few that are asked for: traces may define thousands. */
        for (; at > 0 && scene->state_ns[states[at - 1]] < scene->state_ns[state]; at--)
            if (at < most)
                states[at] = states[at - 1];
        if (at < most)
            states[at] = state;
    }
    return found;
}
