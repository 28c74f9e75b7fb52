/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/tile.h"
#include "view/view.h"

#include <math.h>

_Static_assert(VIEW_CELL_BYTES == 4 + 2 * TIMELINE_NEXT, "what the page reads");

static void put_u16(struct output *output, uint32_t value)
{
    unsigned char bytes[2] = {(unsigned char)value, (unsigned char)(value >> 8)};
    output_write(output, bytes, sizeof bytes);
}

static uint8_t slot_of(const struct view *view, uint16_t state)
{
    if (state == TIMELINE_ABSENT)
        return VIEW_ABSENT;
    return state == TIMELINE_OUTSIDE ? VIEW_COMPUTING : view->slot_of_state[state];
}

static uint8_t messages_byte(uint32_t messages)
{
    double level = 16 * log2(1 + (double)messages);
    return level > 255 ? 255 : (uint8_t)lround(level);
}

static void put_cell(struct output *output, const struct view *view, const struct timeline_cell *cell)
{
    unsigned char *at = output_room(output, VIEW_CELL_BYTES);
    at[0] = slot_of(view, cell->state);
    at[1] = cell->share;
    at[2] = cell->waiting;
    at[3] = messages_byte(cell->messages);
    for (size_t i = 0; i < TIMELINE_NEXT; i++) {
        at[4 + 2 * i] = slot_of(view, cell->next[i]);
        at[5 + 2 * i] = cell->next_share[i];
    }
    output->at += VIEW_CELL_BYTES;
}

/* The tile's own bins may be wider than requested, and begin earlier. */
static void put_row(struct output *output, const struct view *view, const struct timeline_tile *tile, uint32_t row,
                    int64_t from_ns, unsigned shift)
{
    static const struct timeline_cell nothing = {
        .state = TIMELINE_ABSENT, .share = 255, .next = {TIMELINE_ABSENT, TIMELINE_ABSENT}};
    for (int64_t i = 0; i < VIEW_TILE_BINS; i++) {
        int64_t bin = tile->bins ? (from_ns + (i << shift) - tile->from_ns) / tile->bin_ns : -1;
        bool there = bin >= 0 && bin < tile->bins;
        put_cell(output, view, there ? &tile->cells[(size_t)row * tile->bins + (size_t)bin] : &nothing);
    }
}

enum status view_write_tile(struct output *output, struct view *view, struct view_tile tile, struct error *err)
{
    const uint32_t *rows = view_rows(view, tile.order, err);
    if (!rows)
        return STATUS_FAILED;
    int64_t span = (int64_t)VIEW_TILE_BINS << tile.shift, from;
    uint64_t first = tile.block * VIEW_TILE_LINES << tile.fold, count = view->info->row_count;
    if (__builtin_mul_overflow(span, (int64_t)tile.index, &from) || from > view_time(view, view->info->end_ns) ||
        first >= count)
        return error_set(err, ERROR_USAGE, "no such tile");
    from += view->info->begin_ns;
    uint64_t lines =
        count - first < (uint64_t)VIEW_TILE_LINES << tile.fold ? count - first : (uint64_t)VIEW_TILE_LINES << tile.fold;
    struct timeline_view area = {.from_ns = from, .rows = rows + first, .row_count = lines};
    if (__builtin_add_overflow(from, span, &area.to_ns))
        area.to_ns = INT64_MAX;
    struct timeline_tile cells;
    struct timeline_tile_options options = {.bins = VIEW_TILE_BINS, .fold = 1u << tile.fold};
    if (timeline_tile(view->timeline, &area, options, &cells, err) != STATUS_OK)
        return STATUS_FAILED;
    uint32_t cell_rows = (uint32_t)((lines + options.fold - 1) >> tile.fold);
    put_u16(output, VIEW_TILE_BINS);
    put_u16(output, cell_rows);
    for (uint32_t row = 0; row < cell_rows; row++)
        put_row(output, view, &cells, row, from, tile.shift);
    timeline_tile_clear(&cells);
    return STATUS_OK;
}
