/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/pyramid_write.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Time of a state in a cell, in CELL_FINE a row and bin. */
struct part {
    uint32_t state;
    double fine;
};

struct parts {
    struct part *part;
    size_t count, capacity;
};

/* One width of bins. */
struct level {
    struct tape cells, skips;
    struct pyramid_group *groups;
    /* Of the current group: */
    struct pyramid_group *group;
    uint64_t last_end, written; /* bin after the last cell; cells so far */
    struct parts half;          /* the first of a pair of bins, as the wider bin */
    uint64_t half_bin, half_messages;
    bool have_half;
};

struct write {
    const struct pyramid_order *order;
    struct level level[PYRAMID_LEVELS];
    uint32_t *members; /* places of the order's members, by group, then end */
    size_t member_at;
    /* Of the current group: */
    uint32_t rows;     /* how many it has */
    uint32_t ended;    /* of its members, those that end before the current bin */
    struct parts gone; /* of these, the states that they would be in */
    struct parts cell;
    struct pyramid_part out[PYRAMID_PARTS];
    unsigned char *bytes;
    size_t byte_capacity;
};

enum status sorted_cells_next(struct sorted_cells *cells, struct error *err)
{
    cells->status = sorter_next(cells->sorter, &cells->key, &cells->data, &cells->length, err);
    return cells->status;
}

/* Searched from the begin: a cell has a few states. */
static void parts_add(struct parts *parts, uint32_t state, double fine)
{
    for (size_t i = 0; i < parts->count; i++)
        if (parts->part[i].state == state) {
            parts->part[i].fine += fine;
            return;
        }
    ARRAY_PUSH(parts->part, parts->count, parts->capacity, (struct part){state, fine});
}

static const struct pyramid_member *member_of(const struct write *write, uint32_t member)
{
    return &write->order->members[write->members[write->member_at + member]];
}

/* A row that ended: when, in ns after the begin, and in which bin. */
static uint64_t end_of(const struct write *write, uint32_t member)
{
    const struct timeline_row *row = &write->order->rows->row[member_of(write, member)->row];
    return (uint64_t)time_since(write->order->begin_ns, row->end_ns);
}

static uint64_t end_bin(const struct write *write, uint32_t member)
{
    return end_of(write, member) >> write->order->levels[0].shift;
}

static uint32_t end_state(const struct write *write, uint32_t member)
{
    return member_of(write, member)->state;
}

/* Shares of all rows in bytes. Anything present stays visible: the largest part is at least one unit. */
static void make_cell(struct write *write, const struct parts *parts, struct pyramid_cell *cell)
{
    double whole = (double)CELL_FINE * write->rows;
    const struct part *largest = NULL;
    cell->parts = write->out;
    cell->count = 0;
    for (size_t i = 0; i < parts->count && cell->count < PYRAMID_PARTS; i++) {
        const struct part *part = &parts->part[i];
        long units = lround(fmin(part->fine / whole, 1) * PYRAMID_UNITS);
        if (!largest || part->fine > largest->fine)
            largest = part;
        if (units > 0)
            cell->parts[cell->count++] = (struct pyramid_part){part->state, (uint32_t)units};
    }
    if (cell->count == 0 && largest && largest->fine >= 1)
        cell->parts[cell->count++] = (struct pyramid_part){largest->state, 1};
}

static void write_cell(struct write *write, struct level *level, const struct parts *parts, struct pyramid_cell *cell)
{
    make_cell(write, parts, cell);
    if (cell->count == 0 && cell->messages == 0)
        return;
    /* Cells count from the one before them: to begin in the middle, a skip says where the cell there counts from. */
    if (level->written++ % PYRAMID_SKIP == 0) {
        struct pyramid_skip skip = {.at = level->cells.size - level->group->cell_at, .bin = level->last_end};
        tape_add(&level->skips, &skip, sizeof skip);
    }
    ARRAY_RESERVE(write->bytes, write->byte_capacity, pyramid_cell_size(cell));
    tape_add(&level->cells, write->bytes, pyramid_cell_put(write->bytes, cell, level->last_end));
    level->last_end = cell->bin + cell->span;
}

static void put_bins(struct write *write, size_t number, uint64_t bin, uint64_t span, const struct parts *parts,
                     uint64_t messages);

/* The wider bin of which one half or both are known. */
static void end_half(struct write *write, size_t number)
{
    struct level *level = &write->level[number];
    if (!level->have_half)
        return;
    level->have_half = false;
    put_bins(write, number + 1, level->half_bin, 1, &level->half, level->half_messages);
    level->half.count = 0;
    level->half_messages = 0;
}

static void add_half(struct write *write, size_t number, uint64_t bin, const struct parts *parts, uint64_t messages)
{
    struct level *level = &write->level[number];
    if (level->have_half && level->half_bin != bin >> 1)
        end_half(write, number);
    level->have_half = true;
    level->half_bin = bin >> 1;
    level->half_messages += messages;
    /* The same time is half the share of a bin twice as wide. */
    for (size_t i = 0; i < parts->count; i++)
        parts_add(&level->half, parts->part[i].state, parts->part[i].fine / 2);
    if (bin & 1)
        end_half(write, number);
}

/* Bins in which the rows do the same: written, and paired to wider ones. */
static void put_bins(struct write *write, size_t number, uint64_t bin, uint64_t span, const struct parts *parts,
                     uint64_t messages)
{
    struct pyramid_cell cell = {.bin = bin, .span = span, .messages = messages};
    write_cell(write, &write->level[number], parts, &cell);
    if (number + 1 == write->order->level_count)
        return;
    /* Pairs begin at even bins: an odd first bin and an odd last one are halves of a pair each, and the even number of
       bins between them is half as many wider ones, still in one cell. */
    if (bin & 1) {
        add_half(write, number, bin, parts, messages);
        bin++;
        span--;
        messages = 0;
    }
    if (span > 1) {
        end_half(write, number);
        put_bins(write, number + 1, bin >> 1, span / 2, parts, 0);
    }
    if (span & 1)
        add_half(write, number, bin + span - 1, parts, messages);
}

/* The same without the rows that have ended. The pass over the trace does not know when a row ends and counts its last
   state to the end of the run. */
static void put_present(struct write *write, uint64_t bin, uint64_t span, const struct parts *all, uint64_t messages)
{
    unsigned shift = write->order->levels[0].shift;
    uint64_t length = (uint64_t)1 << shift;
    write->cell.count = 0;
    for (size_t i = 0; i < all->count; i++)
        parts_add(&write->cell, all->part[i].state, all->part[i].fine);
    for (size_t i = 0; i < write->gone.count; i++)
        parts_add(&write->cell, write->gone.part[i].state, -write->gone.part[i].fine);
    for (uint32_t i = write->ended; i < write->rows && end_bin(write, i) == bin; i++) {
        uint64_t behind = ((bin + 1) << shift) - end_of(write, i);
        parts_add(&write->cell, end_state(write, i), -(double)behind / (double)length * CELL_FINE);
    }
    /* What rounding leaves of a difference is dropped. */
    size_t kept = 0;
    for (size_t i = 0; i < write->cell.count; i++)
        if (write->cell.part[i].fine > 1)
            write->cell.part[kept++] = write->cell.part[i];
    write->cell.count = kept;
    if (kept > 0 || messages > 0)
        put_bins(write, 0, bin, span, &write->cell, messages);
}

/* Cuts bins in which the rows do the same where rows end. */
static void put_run(struct write *write, uint64_t bin, uint64_t span, const struct parts *parts, uint64_t messages)
{
    while (span > 0) {
        while (write->ended < write->rows && end_bin(write, write->ended) < bin)
            parts_add(&write->gone, end_state(write, write->ended++), CELL_FINE);
        if (write->ended == write->rows)
            return;
        /* Up to the bin in which the next row ends, or that bin alone. */
        uint64_t length = larger(end_bin(write, write->ended) - bin, UINT64_C(1));
        length = smaller(length, span);
        put_present(write, bin, length, parts, messages);
        bin += length;
        span -= length;
    }
}

/* The sorted cell at hand and what follows it. */
static bool take_cell(struct write *write, struct parts *in_bin, struct parts *behind)
{
    const struct sorted_cells *cells = write->order->cells;
    const unsigned char *at = cells->data, *end = at + cells->length;
    uint64_t run, messages, count, state, fine, rows;
    in_bin->count = behind->count = 0;
    /* A temporary file may decay, too: its numbers are not trusted. */
    if (!(at = varint_get(at, end, &run)) || !(at = varint_get(at, end, &messages)) ||
        !(at = varint_get(at, end, &count)))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!(at = varint_get(at, end, &state)) || !(at = varint_get(at, end, &fine)) ||
            !(at = varint_get(at, end, &rows)))
            return false;
        parts_add(in_bin, (uint32_t)state - 1, (double)fine);
        if (rows > 0)
            parts_add(behind, (uint32_t)state - 1, (double)rows * CELL_FINE);
    }
    put_run(write, cells->key.minor, 1, in_bin, messages);
    put_run(write, cells->key.minor + 1, run, behind, 0);
    return true;
}

/* The group of a member. */
static uint32_t group_of(const struct pyramid_order *order, uint32_t member)
{
    if (order->fold == 0)
        return member;
    return order->members[member].process >> order->fold;
}

/* Where a group is in the index: rows are sorted there, groups of processes are by rank anyway. */
static uint32_t place_of(const struct pyramid_order *order, uint32_t group)
{
    if (order->fold == 0)
        return order->places[order->members[group].row];
    return group;
}

static int by_group(const void *a, const void *b, void *context)
{
    const struct pyramid_order *order = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    uint32_t left_group = group_of(order, left), right_group = group_of(order, right);
    if (left_group != right_group)
        return order_by(left_group, right_group);
    int64_t left_ns = order->rows->row[order->members[left].row].end_ns;
    int64_t right_ns = order->rows->row[order->members[right].row].end_ns;
    return (left_ns > right_ns) - (left_ns < right_ns);
}

static void begin_group(struct write *write, uint32_t group)
{
    size_t count = write->order->member_count;
    while (write->member_at < count && group_of(write->order, write->members[write->member_at]) < group)
        write->member_at++;
    write->rows = 0;
    while (write->member_at + write->rows < count &&
           group_of(write->order, write->members[write->member_at + write->rows]) == group)
        write->rows++;
    write->ended = 0;
    write->gone.count = 0;
    uint32_t place = place_of(write->order, group);
    for (size_t i = 0; i < write->order->level_count; i++) {
        struct level *level = &write->level[i];
        level->last_end = level->written = 0;
        level->group = &level->groups[place];
        *level->group = (struct pyramid_group){.skip_at = level->skips.size / sizeof(struct pyramid_skip),
                                               .rows = write->rows,
                                               .cell_at = level->cells.size};
    }
}

static void end_group(struct write *write)
{
    for (size_t i = 0; i + 1 < write->order->level_count; i++)
        end_half(write, i);
    for (size_t i = 0; i < write->order->level_count; i++) {
        struct level *level = &write->level[i];
        struct pyramid_group *at = level->group;
        at->skips = (uint32_t)(level->skips.size / sizeof(struct pyramid_skip) - at->skip_at);
        at->cell_end = level->cells.size;
    }
}

static enum status write_groups(struct write *write, struct error *err)
{
    struct sorted_cells *cells = write->order->cells;
    struct parts in_bin = {0}, behind = {0};
    enum status status = STATUS_OK;
    while (status == STATUS_OK && cells->status == STATUS_OK && cells->key.major >> 32 == write->order->fold_number) {
        uint64_t major = cells->key.major;
        begin_group(write, (uint32_t)major);
        while (status == STATUS_OK && cells->status == STATUS_OK && cells->key.major == major) {
            if (!take_cell(write, &in_bin, &behind))
                status = error_set(err, ERROR_OUTPUT, "a temporary file was damaged");
            else if (sorted_cells_next(cells, err) == STATUS_FAILED)
                status = STATUS_FAILED;
        }
        end_group(write);
    }
    free(in_bin.part);
    free(behind.part);
    return status;
}

/* Appends the tapes of a width. */
static enum status append_level(const struct pyramid_order *order, size_t number, struct level *level,
                                struct error *err)
{
    order->bases[number] =
        (struct pyramid_base){order->to_cells->size, order->to_skips->size / sizeof(struct pyramid_skip)};
    if (tape_append(order->to_skips, &level->skips, err) != STATUS_OK)
        return STATUS_FAILED;
    return tape_append(order->to_cells, &level->cells, err);
}

static void start(struct write *write)
{
    const struct pyramid_order *order = write->order;
    /* Rows of a group stand together, by when they end: those that are gone in a bin are the first. */
    write->members = memory_new(order->member_count * sizeof *write->members);
    for (uint32_t i = 0; i < order->member_count; i++)
        write->members[i] = i;
    if (order->member_count > 0)
        qsort_r(write->members, order->member_count, sizeof *write->members, by_group, (void *)(uintptr_t)order);
    for (size_t i = 0; i < order->level_count; i++)
        write->level[i].groups = &order->groups[order->levels[i].group_at];
}

enum status pyramid_write(const struct pyramid_order *order, struct error *err)
{
    struct write *write = memory_new(sizeof *write);
    write->order = order;
    start(write);
    enum status status = write_groups(write, err);
    for (size_t i = 0; i < order->level_count; i++) {
        struct level *level = &write->level[i];
        if (status == STATUS_OK)
            status = append_level(order, i, level, err);
        tape_clear(&level->cells);
        tape_clear(&level->skips);
        free(level->half.part);
    }
    free(write->members);
    free(write->gone.part);
    free(write->cell.part);
    free(write->bytes);
    free(write);
    return status;
}
