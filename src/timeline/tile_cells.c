/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/tile_cells.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "timeline/tile_sums.h"

/* The pyramid's level of this size of groups whose bins are the widest of at most 2^most ns; NULL. The widest are the
   fewest to read; wider ones than the tile's could not be divided. */
static const struct pyramid_level *level_find(const struct timeline *timeline, uint32_t fold, unsigned most)
{
    size_t count;
    const struct pyramid_level *levels = index_section(&timeline->index, SECTION_LEVELS, &count), *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (levels[i].fold == fold && levels[i].shift <= most && (!best || levels[i].shift > best->shift))
            best = &levels[i];
    return best;
}

/* The narrowest bins of this size of groups; 64 where there are none. */
static unsigned finest_of(const struct timeline *timeline, uint32_t fold)
{
    size_t count;
    const struct pyramid_level *levels = index_section(&timeline->index, SECTION_LEVELS, &count);
    unsigned finest = 64;
    for (size_t i = 0; i < count; i++)
        if (levels[i].fold == fold && levels[i].shift < finest)
            finest = levels[i].shift;
    return finest;
}

static uint32_t row_at(const struct timeline_view *view, size_t place)
{
    if (!view->rows)
        return (uint32_t)place;
    return view->rows[place];
}

/* How many rows from `place` on make up exactly one group of 2^fold processes; 0 if they do not. */
static size_t whole_group(const struct timeline *timeline, const struct timeline_view *view, size_t place, size_t end,
                          uint32_t fold)
{
    const struct timeline_row *rows = timeline->rows.row;
    uint32_t first = row_at(view, place), group = rows[first].process >> fold;
    size_t count = timeline->rows.count, length = 0;
    /* The group must begin here: its cells cannot be taken apart. */
    if (first > 0 && rows[first - 1].process >> fold == group)
        return 0;
    while (first + length < count && rows[first + length].process >> fold == group) {
        if (place + length >= end || row_at(view, place + length) != first + length)
            return 0;
        length++;
    }
    return length;
}

/* The sizes of groups that the pyramid has, the smallest first. */
static size_t folds_of(const struct timeline *timeline, uint32_t folds[32])
{
    size_t levels, count = 0;
    const struct pyramid_level *level = index_section(&timeline->index, SECTION_LEVELS, &levels);
    for (size_t i = 0; i < levels && count < 32; i++)
        if (count == 0 || level[i].fold > folds[count - 1])
            folds[count++] = level[i].fold;
    return count;
}

static void cover_add(struct cover *cover, const struct timeline *timeline, struct cover_group group)
{
    /* The tile's bins are as wide as the coarsest part needs. */
    unsigned finest = finest_of(timeline, group.fold);
    cover->finest = larger(finest, cover->finest);
    ARRAY_PUSH(cover->groups, cover->count, cover->capacity, group);
}

bool cover_rows(struct cover *cover, const struct timeline *timeline, const struct timeline_view *view, uint32_t fold)
{
    uint32_t folds[32];
    size_t fold_count = folds_of(timeline, folds);
    *cover = (struct cover){0};
    for (size_t place = 0; fold_count > 0 && place < view->row_count;) {
        uint32_t row = (uint32_t)(place / fold);
        size_t end = smaller(((size_t)row + 1) * fold, view->row_count);
        size_t taken = 0;
        if (row_at(view, place) >= timeline->rows.count) {
            place++;
            continue;
        }
        /* The largest groups first: fewer cells to read. Folds are sorted, and the first is a row each. */
        for (size_t i = fold_count; i-- > 1 && !taken;) {
            taken = whole_group(timeline, view, place, end, folds[i]);
            if (taken)
                cover_add(
                    cover, timeline,
                    (struct cover_group){row, folds[i], timeline->rows.row[row_at(view, place)].process >> folds[i]});
        }
        if (!taken) {
            cover_add(cover, timeline, (struct cover_group){row, 0, row_at(view, place)});
            taken = 1;
        }
        place += taken;
    }
    return fold_count > 0 && cover->finest < 64;
}

void cover_clear(struct cover *cover)
{
    free(cover->groups);
    *cover = (struct cover){0};
}

struct fill {
    const struct timeline *timeline;
    struct timeline_tile *tile;
    struct tile_sums sums;
    unsigned level;
    uint64_t first; /* bin of the tile, of its own width, from the trace's begin */
    struct pyramid_part parts[PYRAMID_PARTS];
};

/* Adds a cell of bins of 2^shift ns, of so many rows, to a row of cells. */
static bool add_cell(struct fill *fill, const struct pyramid_cell *cell, unsigned shift, uint32_t rows, uint32_t row)
{
    const struct defs *defs = fill->timeline->info.defs;
    /* Bins of the tile are 2^wider bins of the cells, aligned: both count from the trace's begin. */
    unsigned wider = fill->level - shift;
    uint64_t begin = fill->first << wider, end = (fill->first + fill->tile->bins) << wider;
    uint64_t from = larger(cell->bin, begin);
    uint64_t to = smaller(cell->bin + cell->span, end);
    double unit_ns = (double)((uint64_t)1 << shift) * rows / PYRAMID_UNITS;
    if (from < to) {
        fill->tile->cells[row * (size_t)fill->tile->bins + ((from >> wider) - fill->first)].messages +=
            (uint32_t)cell->messages;
        fill->tile->messages += cell->messages;
    }
    while (from < to) {
        uint64_t bin = from >> wider, next = (bin + 1) << wider;
        next = smaller(next, to);
        for (size_t i = 0; i < cell->count; i++) {
            /* The index was checked as it was opened, but not the bytes of each cell: that would read all of it. */
            if (cell->parts[i].state != TIMELINE_NONE && cell->parts[i].state >= defs->state_count)
                return false;
            tile_sums_add(&fill->sums, cell->parts[i].state, (uint32_t)(bin - fill->first),
                          cell->parts[i].units * unit_ns * (double)(next - from));
        }
        from = next;
    }
    return true;
}

/* The cell to begin at so that none from `bin` on is missed. */
static const struct pyramid_skip *skip_find(const struct timeline *timeline, const struct pyramid_group *group,
                                            uint64_t bin)
{
    size_t count;
    const struct pyramid_skip *skips = index_section(&timeline->index, SECTION_SKIPS, &count);
    /* The last skip at or before the bin: a cell counts from the end of the one before it, and may span the bin. */
    size_t low = 0, high = group->skips;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (skips[group->skip_at + middle].bin <= bin)
            low = middle;
        else
            high = middle;
    }
    return &skips[group->skip_at + low];
}

static bool add_group(struct fill *fill, const struct cover_group *covered)
{
    const struct timeline *timeline = fill->timeline;
    size_t count, size;
    const struct pyramid_level *level = level_find(timeline, covered->fold, fill->level);
    const struct pyramid_group *groups = index_section(&timeline->index, SECTION_GROUPS, &count);
    const unsigned char *cells = index_section(&timeline->index, SECTION_CELLS, &size);
    if (!level || covered->group >= level->groups)
        return false;
    const struct pyramid_group *group = &groups[level->group_at + covered->group];
    if (group->skips == 0)
        return true;
    uint64_t begin = fill->first << (fill->level - level->shift);
    uint64_t end = (fill->first + fill->tile->bins) << (fill->level - level->shift);
    const struct pyramid_skip *skip = skip_find(timeline, group, begin);
    /* Of the index's numbers this one is checked here: a test of all skips would read them all. */
    if (skip->at > group->cell_end - group->cell_at)
        return false;
    const unsigned char *at = cells + group->cell_at + skip->at, *behind = cells + group->cell_end;
    struct pyramid_cell cell = {.parts = fill->parts};
    uint64_t last_end = skip->bin;
    while (at < behind) {
        at = pyramid_cell_get(at, behind, last_end, &cell);
        /* Bins only go on: damage could otherwise lead in circles. */
        if (!at || cell.bin < last_end)
            return false;
        if (cell.bin >= end)
            return true;
        last_end = cell.bin + cell.span;
        if (last_end > begin && !add_cell(fill, &cell, level->shift, group->rows, covered->row))
            return false;
    }
    return true;
}

bool tile_from_cells(const struct timeline *timeline, const struct cover *cover, unsigned level,
                     struct timeline_tile *tile)
{
    struct fill *fill = memory_new(sizeof *fill); /* too large for a stack */
    fill->timeline = timeline;
    fill->tile = tile;
    fill->level = level;
    fill->first = (uint64_t)time_since(timeline->info.begin_ns, tile->from_ns) >> level;
    tile_sums_start(&fill->sums, timeline->info.defs, tile->bins, (uint64_t)tile->bin_ns);
    bool sound = true;
    size_t next = 0;
    for (uint32_t row = 0; sound && row < tile->rows; row++) {
        for (; sound && next < cover->count && cover->groups[next].row == row; next++)
            sound = add_group(fill, &cover->groups[next]);
        tile_sums_take(&fill->sums, &tile->cells[row * (size_t)tile->bins], tile);
    }
    tile_sums_clear(&fill->sums);
    free(fill);
    return sound;
}
