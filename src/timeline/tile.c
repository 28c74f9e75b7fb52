/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/tile.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "timeline/scan.h"
#include "timeline/tile_cells.h"
#include "timeline/tile_sums.h"

#include <string.h>

/* Number of bins of 2^level ns that the window, ns after the trace's begin, lies in. */
static uint64_t bins_of(uint64_t from, uint64_t to, unsigned level)
{
    return ((to - 1) >> level) - (from >> level) + 1;
}

/* The window within the trace, ns after its begin; false where nothing of it is. */
static bool clip(const struct timeline *timeline, const struct timeline_view *view, uint64_t *from, uint64_t *to)
{
    int64_t begin_ns = timeline->info.begin_ns, end_ns = timeline_window_end(timeline);
    if (timeline->info.row_count == 0 || view->to_ns <= view->from_ns || view->to_ns <= begin_ns ||
        view->from_ns >= end_ns)
        return false;
    *from = (uint64_t)time_since(begin_ns, view->from_ns);
    *to = (uint64_t)time_since(begin_ns, smaller(view->to_ns, end_ns));
    return true;
}

/* Adds a row's state from one time to another, in ns after the tile's begin. */
struct piece {
    uint64_t from, to;
    uint32_t row; /* of cells */
    uint32_t state;
};

struct exact {
    struct timeline_tile *tile;
    uint32_t *places;
    struct piece *pieces;
    size_t count, capacity;
    int64_t to_ns; /* of the tile */
};

static void exact_between(void *context, uint32_t row, uint32_t state, int64_t from_ns, int64_t to_ns)
{
    struct exact *exact = context;
    struct timeline_tile *tile = exact->tile;
    if (exact->places[row] == TIMELINE_NONE || to_ns <= tile->from_ns || from_ns >= exact->to_ns)
        return;
    struct piece piece = {.from = (uint64_t)time_since(tile->from_ns, from_ns),
                          .to = (uint64_t)time_since(tile->from_ns, smaller(to_ns, exact->to_ns)),
                          .row = exact->places[row] / tile->fold,
                          .state = state};
    ARRAY_PUSH(exact->pieces, exact->count, exact->capacity, piece);
}

static void exact_event(void *context, const struct walk_event *walked)
{
    struct exact *exact = context;
    struct timeline_tile *tile = exact->tile;
    uint32_t place = exact->places[walked->row];
    if ((walked->event->kind != EVENT_SEND && walked->event->kind != EVENT_RECEIVE) || place == TIMELINE_NONE ||
        walked->time_ns < tile->from_ns || walked->time_ns >= exact->to_ns)
        return;
    size_t bin = (size_t)(time_since(tile->from_ns, walked->time_ns) / tile->bin_ns);
    tile->cells[place / tile->fold * (size_t)tile->bins + bin].messages++;
    tile->messages++;
}

/* Pieces by row of cells; where those of each row begin. A counting sort: it keeps the order of time, and cells of one
   row at a time need the sums of one row only. */
static struct piece *sort_pieces(const struct exact *exact, size_t *begins)
{
    struct piece *sorted = memory_new(exact->count * sizeof *sorted);
    uint32_t rows = exact->tile->rows;
    for (size_t i = 0; i < exact->count; i++)
        begins[exact->pieces[i].row + 1]++;
    for (uint32_t row = 0; row < rows; row++)
        begins[row + 1] += begins[row];
    size_t *next = memory_new(rows * sizeof *next);
    memcpy(next, begins, rows * sizeof *next);
    for (size_t i = 0; i < exact->count; i++)
        sorted[next[exact->pieces[i].row]++] = exact->pieces[i];
    free(next);
    return sorted;
}

static void fill_cells(const struct exact *exact, const struct defs *defs)
{
    struct timeline_tile *tile = exact->tile;
    size_t *begins = memory_new(((size_t)tile->rows + 1) * sizeof *begins);
    struct piece *pieces = sort_pieces(exact, begins);
    struct tile_sums sums;
    tile_sums_start(&sums, defs, tile->bins, (uint64_t)tile->bin_ns);
    for (uint32_t row = 0; row < tile->rows; row++) {
        for (size_t i = begins[row]; i < begins[row + 1]; i++)
            tile_sums_add_span(&sums, pieces[i].state, pieces[i].from, pieces[i].to);
        tile_sums_take(&sums, &tile->cells[(size_t)row * tile->bins], tile);
    }
    tile_sums_clear(&sums);
    free(pieces);
    free(begins);
}

static enum status exact_tile(struct timeline *timeline, const struct timeline_view *view, struct timeline_tile *tile,
                              struct error *err)
{
    struct exact exact = {.tile = tile, .places = timeline_places(timeline, view)};
    const struct walk_visitor visitor = {.context = &exact, .between = exact_between, .event = exact_event};
    /* The last bin may reach beyond what a time can be. */
    int64_t whole;
    bool beyond = __builtin_mul_overflow(tile->bin_ns, (int64_t)tile->bins, &whole) ||
                  __builtin_add_overflow(tile->from_ns, whole, &exact.to_ns);
    if (beyond)
        exact.to_ns = INT64_MAX;
    enum status status = timeline_scan(timeline, tile->from_ns, exact.to_ns, &visitor, err);
    if (status == STATUS_OK)
        fill_cells(&exact, timeline->info.defs);
    free(exact.places);
    free(exact.pieces);
    return status;
}

/* Aligns the bins of 2^level ns with the window, which is from..to in ns after the trace's begin. */
static void lay_bins(const struct timeline *timeline, struct timeline_tile *tile, uint64_t from, uint64_t to,
                     unsigned level)
{
    tile->bin_ns = (int64_t)1 << level;
    tile->bins = (uint32_t)bins_of(from, to, level);
    tile->from_ns = timeline->info.begin_ns + (int64_t)(from >> level << level);
    tile->cells = memory_new((size_t)tile->rows * tile->bins * sizeof *tile->cells);
}

static enum status make_tile(struct timeline *timeline, const struct timeline_view *view, struct timeline_tile *tile,
                             uint64_t from, uint64_t to, unsigned level, struct error *err)
{
    struct cover cover = {0};
    /* Few events: exactly. Else from cells, the time of which does not depend on the number of events; their bins may
       be wider than asked for. */
    uint64_t cost = timeline_scan_cost(timeline, view->from_ns, view->to_ns);
    if (cost <= timeline->exact_events || !cover_rows(&cover, timeline, view, tile->fold)) {
        cover_clear(&cover);
        lay_bins(timeline, tile, from, to, level);
        return exact_tile(timeline, view, tile, err);
    }
    level = larger(level, cover.finest);
    lay_bins(timeline, tile, from, to, level);
    bool sound = tile_from_cells(timeline, &cover, level, tile);
    cover_clear(&cover);
    if (!sound)
        return error_set(err, ERROR_INPUT, "%s: damaged: remove it", timeline->cache.index);
    return STATUS_OK;
}

enum status timeline_tile(struct timeline *timeline, const struct timeline_view *view,
                          struct timeline_tile_options options, struct timeline_tile *tile, struct error *err)
{
    uint64_t from, to;
    uint32_t most = larger(smaller(options.bins, TIMELINE_BINS), 1U);
    *tile = (struct timeline_tile){.from_ns = view->from_ns, .fold = larger(options.fold, 1U)};
    tile->state_ns = memory_new(timeline->info.defs->state_count * sizeof *tile->state_ns);
    tile->rows = (uint32_t)((view->row_count + tile->fold - 1) / tile->fold);
    if (!clip(timeline, view, &from, &to))
        return STATUS_OK;
    unsigned level = 0;
    while (level < 62 && bins_of(from, to, level) > most)
        level++;
    enum status status = make_tile(timeline, view, tile, from, to, level, err);
    if (status != STATUS_OK)
        timeline_tile_clear(tile);
    return status;
}

void timeline_tile_clear(struct timeline_tile *tile)
{
    free(tile->cells);
    free(tile->state_ns);
    *tile = (struct timeline_tile){0};
}
