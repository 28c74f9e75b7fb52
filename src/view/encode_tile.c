/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "core/numbers.h"
#include "timeline/tile.h"
#include "view/view.h"

#include <math.h>
#include <stdlib.h>

_Static_assert(VIEW_CELL_BYTES == 4 + 2 * TIMELINE_NEXT, "what the page reads");

static void put_u16(struct output *output, uint32_t value)
{
    /* Little-endian, as the page reads it with a DataView. */
    unsigned char bytes[2] = {(unsigned char)value, (unsigned char)(value >> 8)};
    output_write(output, bytes, sizeof bytes);
}

static uint8_t slot_of(const struct view *view, uint16_t state)
{
    if (state == TIMELINE_ABSENT)
        return VIEW_ABSENT;
    if (state == TIMELINE_OUTSIDE)
        return VIEW_COMPUTING;
    return view->slot_of_state[state];
}

static uint8_t messages_byte(uint32_t messages)
{
    /* A byte for 1 to 60,000 messages, to 4 %: as exact as a shade of grey can be. */
    double level = 16 * log2(1 + (double)messages);
    return (uint8_t)lround(fmin(level, 255));
}

static void put_cell(struct output *output, const struct view *view, const struct timeline_cell *cell)
{
    /* Room for the cell is asked for once: it is written byte by byte, millions of times. */
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

/* Adds the waits of a row to the bins of its line, in ns. */
static void add_waits(double *bins, const struct timeline_overlay *overlay, uint32_t row,
                      const struct timeline_view *area, unsigned shift)
{
    for (size_t i = view_first_wait(overlay, row, area->from_ns);
         i < overlay->wait_count && overlay->waits[i].row == row && overlay->waits[i].from_ns < area->to_ns; i++) {
        int64_t from = time_since(area->from_ns, overlay->waits[i].from_ns);
        int64_t to = time_since(area->from_ns, overlay->waits[i].to_ns);
        int64_t bin = 0;
        if (from > 0)
            bin = from >> shift;
        for (; bin < VIEW_TILE_BINS && bin << shift < to; bin++) {
            /* The end of the last bin may be beyond 64 bits: as double it is not. */
            double low = fmax((double)(bin << shift), (double)from),
                   high = fmin(ldexp((double)(bin + 1), (int)shift), (double)to);
            bins[bin] += high - low;
        }
    }
}

/* The overlay's waits instead of functions that wait: a share of each cell of `tile`, row by row; NULL: none. */
static double *waits_of(const struct timeline_overlay *overlay, const struct timeline_view *area, struct view_tile tile,
                        uint32_t lines)
{
    if (!overlay)
        return NULL;
    double *waits = memory_new((size_t)lines * VIEW_TILE_BINS * sizeof *waits);
    size_t *rows = memory_new(lines * sizeof *rows); /* of each line: the last may have fewer, a host any number */
    for (size_t i = 0; i < area->row_count; i++) {
        if (area->rows[i] == TIMELINE_NONE)
            continue;
        rows[i >> tile.fold]++;
        add_waits(&waits[(i >> tile.fold) * VIEW_TILE_BINS], overlay, area->rows[i], area, tile.shift);
    }
    for (size_t i = 0; i < (size_t)lines * VIEW_TILE_BINS; i++)
        /* A share of the time of all rows of the line; overlapping waits of threads do not exceed it. */
        waits[i] = fmin(1, ldexp(waits[i], -(int)tile.shift) / (double)larger(rows[i / VIEW_TILE_BINS], (size_t)1));
    free(rows);
    return waits;
}

/* The tile's own bins may be wider than requested, and begin earlier. */
static void put_row(struct output *output, const struct view *view, const struct timeline_tile *tile, uint32_t row,
                    int64_t from_ns, unsigned shift, const double *waits)
{
    static const struct timeline_cell nothing = {
        .state = TIMELINE_ABSENT, .share = 255, .next = {TIMELINE_ABSENT, TIMELINE_ABSENT}};
    /* Tiles that reach beyond the run have their full width: the page finds a time in them by division. */
    for (int64_t i = 0; i < VIEW_TILE_BINS; i++) {
        int64_t bin = -1;
        if (tile->bins > 0)
            bin = (from_ns + (i << shift) - tile->from_ns) / tile->bin_ns;
        struct timeline_cell cell = nothing;
        if (bin >= 0 && bin < tile->bins)
            cell = tile->cells[(size_t)row * tile->bins + (size_t)bin];
        if (waits)
            cell.waiting = (uint8_t)lround(255 * waits[(size_t)row * VIEW_TILE_BINS + (size_t)i]);
        put_cell(output, view, &cell);
    }
}

enum status view_write_tile(struct output *output, struct view *view, struct view_tile tile,
                            const struct timeline_overlay *overlay, struct error *err)
{
    const struct view_lines *in_order = view_lines(view, tile.order, err);
    if (!in_order)
        return STATUS_FAILED;
    int64_t span = (int64_t)VIEW_TILE_BINS << tile.shift, from;
    uint64_t first = tile.block * VIEW_TILE_LINES << tile.fold, count = in_order->count;
    /* Addresses come from the network: an index may be any number. */
    if (__builtin_mul_overflow(span, (int64_t)tile.index, &from) || from > view_time(view, view->info->end_ns) ||
        first >= count)
        return error_set(err, ERROR_USAGE, "no such tile");
    from += view->info->begin_ns;
    uint64_t lines = smaller(count - first, (uint64_t)VIEW_TILE_LINES << tile.fold);
    struct timeline_view area = {.from_ns = from, .rows = in_order->rows + first, .row_count = lines};
    /* The last tile of a very long run ends beyond the clock. */
    if (__builtin_add_overflow(from, span, &area.to_ns))
        area.to_ns = INT64_MAX;
    struct timeline_tile cells;
    struct timeline_tile_options options = {.bins = VIEW_TILE_BINS, .fold = 1u << tile.fold};
    if (timeline_tile(view->timeline, &area, options, &cells, err) != STATUS_OK)
        return STATUS_FAILED;
    uint32_t cell_rows = (uint32_t)((lines + options.fold - 1) >> tile.fold);
    double *waits = waits_of(overlay, &area, tile, cell_rows);
    put_u16(output, VIEW_TILE_BINS);
    put_u16(output, cell_rows);
    for (uint32_t row = 0; row < cell_rows; row++)
        put_row(output, view, &cells, row, from, tile.shift, waits);
    free(waits);
    timeline_tile_clear(&cells);
    return STATUS_OK;
}
