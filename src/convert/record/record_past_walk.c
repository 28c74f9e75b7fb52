/* SPDX-License-Identifier: BSD-3-Clause */
/* The past of a file, most of it from the differences of its tallies. Read record by record are only those parts that
   have what is needed one by one, the one with the last progress, and the longest ones, for the pauses in them.
   Functions of collectives in other parts are not known. */
#include "convert/record/record_past.h"

#include "convert/record/record_tallies.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/past.h"

#include <stdlib.h>

struct walk {
    struct record_past *past;
    struct record_marks marks;
    uint32_t *wanted; /* by mark: how many parts before it are to be read; a part is named by the mark it begins with */
};

/* What a part of the file has. */
enum part {
    PART_IDLE,   /* failed tests only */
    PART_COUNTS, /* what can be counted */
    PART_POLLS,  /* the same, and tests that may have failed for long */
    PART_EVENTS  /* something that is needed one by one, or what is not understood */
};

/* The function that a row counts calls of; UINT32_MAX: none. */
static uint32_t function_of(const struct walk *walk, const struct record_tally *row)
{
    const struct record_file *file = walk->past->file;
    if (row->base.state == RECORD_ENTER)
        return (uint32_t)row->partner;
    if (row->base.state == RECORD_ENTER_AT && row->site < file->site_count && file->sites[row->site].place)
        return file->sites[row->site].function;
    return UINT32_MAX;
}

static enum part part_of_row(const struct walk *walk, const struct record_tally *row)
{
    switch (row->base.state) {
    case RECORD_SEND:
    case RECORD_RECEIVE:
    case RECORD_REQUESTS:
        return PART_COUNTS;
    case RECORD_ENTER:
    case RECORD_ENTER_AT: {
        uint32_t function = function_of(walk, row);
        if (function >= RECORD_FUNCTIONS_MAX || walk->past->needs[function] & (PAST_EVENTS | PAST_START))
            return PART_EVENTS;
        return walk->past->needs[function] & PAST_TEST ? PART_IDLE : PART_COUNTS;
    }
    default:
        return PART_EVENTS;
    }
}

/* The rows of two tallies side by side. */
struct pair {
    const struct record_tally_rows *from, *to;
    size_t from_at, to_at;
};

/* The next row that has counted something in between, and how much; NULL: no more. `damaged` if there is less than
   before. */
static const struct record_tally *pair_next(struct pair *pair, uint64_t *count, bool *damaged)
{
    while (pair->to_at < pair->to->count) {
        const struct record_tally *row = &pair->to->rows[pair->to_at++], *before = NULL;
        if (pair->from_at < pair->from->count) {
            before = &pair->from->rows[pair->from_at];
            int order = record_tally_order(before, row);
            *damaged |= order < 0;
            before = order == 0 ? before : NULL;
            pair->from_at += order == 0;
        }
        *count = row->count - (before ? before->count : 0);
        *damaged |= before && before->count > row->count;
        if (*damaged)
            return NULL;
        if (*count > 0)
            return row;
    }
    *damaged |= pair->from_at < pair->from->count;
    return NULL;
}

static enum part part_between(const struct walk *walk, const struct record_tally_rows *from,
                              const struct record_tally_rows *to)
{
    struct pair pair = {.from = from, .to = to};
    const struct record_tally *row;
    uint64_t count;
    bool damaged = false, idle = false;
    enum part part = PART_IDLE;
    /* The call that is open where it begins ends in it. */
    if (from->rows &&
        (from->function >= RECORD_FUNCTIONS_MAX || walk->past->needs[from->function] & (PAST_EVENTS | PAST_START)))
        return PART_EVENTS;
    while (part != PART_EVENTS && (row = pair_next(&pair, &count, &damaged))) {
        uint32_t function = function_of(walk, row);
        /* Parallel regions are no progress of MPI. */
        if (function == RECORD_OPENMP_REGION || function == RECORD_OPENMP_WORK)
            continue;
        enum part here = part_of_row(walk, row);
        idle |= here == PART_IDLE;
        part = larger(part, here);
    }
    if (damaged)
        return PART_EVENTS;
    return part == PART_COUNTS && idle ? PART_POLLS : part;
}

static void add_row(struct walk *walk, const struct record_tally *row, uint64_t count)
{
    struct record_past *past = walk->past;
    uint32_t function = function_of(walk, row), comm = row->base.comm;
    if (row->base.state == RECORD_SEND || row->base.state == RECORD_RECEIVE)
        record_past_add_messages(past, row, count);
    if (function >= RECORD_FUNCTIONS_MAX)
        return;
    bool placed = row->base.state == RECORD_ENTER_AT;
    if (placed)
        comm = past->file->sites[row->site].comm;
    /* Calls of a site of any communicator are counted by communicator, too (tag 1). */
    if (past->needs[function] & PAST_COUNT && comm != RECORD_COMM_NONE)
        record_past_add_collectives(past, comm, count);
    if (past->needs[function] & PAST_TEST && (placed || row->tag == 0))
        past->failed += count;
}

/* What is between two tallies, without reading it. */
static void add_between(struct walk *walk, size_t low, size_t high, const struct record_tally_rows *from,
                        const struct record_tally_rows *to, enum part part)
{
    struct record_past *past = walk->past;
    struct pair pair = {.from = from, .to = to};
    const struct record_tally *row;
    uint64_t count;
    bool damaged = false;
    while ((row = pair_next(&pair, &count, &damaged)))
        add_row(walk, row, count);
    past->ticks = walk->marks.marks[high].ticks;
    if (part == PART_IDLE)
        return;
    past->progress(past->context, walk->marks.marks[low].ticks, past->ticks);
    past->last_ticks = past->ticks;
    past->failed = 0;
}

static bool read_between(struct walk *walk, size_t low, size_t high, const struct record_tally_rows *from)
{
    struct record_past *past = walk->past;
    past->ticks = walk->marks.marks[low].ticks;
    past->function = (uint16_t)from->function;
    past->site = from->site;
    return record_past_span(past, walk->marks.marks[low].end, walk->marks.marks[high].at);
}

/* True: all parts from one mark to the other are as the tallies say, and none is to be read. */
static bool is_counted(const struct walk *walk, size_t low, size_t high, enum part part)
{
    int64_t ticks = walk->marks.marks[high].ticks - walk->marks.marks[low].ticks;
    if (part == PART_IDLE)
        return true;
    if (part == PART_EVENTS || walk->wanted[low] != walk->wanted[high])
        return false;
    return part == PART_COUNTS || high - low == 1 || ticks < walk->past->progress_ticks;
}

static bool pass(struct walk *walk, size_t low, size_t high, const struct record_tally_rows *from,
                 const struct record_tally_rows *to)
{
    enum part part = part_between(walk, from, to);
    size_t middle = low + (high - low) / 2;
    struct record_tally_rows between;
    if (is_counted(walk, low, high, part)) {
        add_between(walk, low, high, from, to, part);
        return true;
    }
    if (high - low == 1 || !record_tally_load(&between, walk->past->file, &walk->marks.marks[middle]))
        return read_between(walk, low, high, from);
    bool whole = pass(walk, low, middle, from, &between) && pass(walk, middle, high, &between, to);
    record_tally_clear(&between);
    return whole;
}

/* The part after which there are only failed tests, up to the last tally: the one with the last progress. */
static size_t last_busy(const struct walk *walk, const struct record_tally_rows *last)
{
    size_t low = 0, high = walk->marks.count - 1; /* from `high` on all is idle; not so from `low` on */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        struct record_tally_rows rows;
        if (!record_tally_load(&rows, walk->past->file, &walk->marks.marks[middle]))
            break;
        bool idle = part_between(walk, &rows, last) == PART_IDLE;
        record_tally_clear(&rows);
        if (idle)
            high = middle;
        else
            low = middle;
    }
    return low;
}

struct part_time {
    int64_t ticks;
    size_t part;
};

static int by_time(const void *left, const void *right)
{
    const struct part_time *a = left, *b = right;
    if (a->ticks != b->ticks)
        return a->ticks > b->ticks ? -1 : 1;
    return a->part < b->part ? -1 : a->part > b->part;
}

/* Only parts that took long can have pauses: as many of the longest are read as there is room for. */
static void want_pauses(struct walk *walk, uint8_t *want)
{
    size_t parts = walk->marks.count - 1, count = 0;
    uint64_t room = larger(walk->past->pause_bytes / walk->past->file->header.block_size, UINT64_C(1));
    struct part_time *times = memory_new(larger(parts, (size_t)1) * sizeof *times);
    for (size_t i = 0; i < parts; i++) {
        int64_t ticks = walk->marks.marks[i + 1].ticks - walk->marks.marks[i].ticks;
        if (ticks >= 2 * walk->past->progress_ticks)
            times[count++] = (struct part_time){ticks, i};
    }
    qsort(times, count, sizeof *times, by_time);
    for (size_t i = 0; i < count && i < room; i++)
        want[times[i].part] = 1;
    free(times);
}

static void want_parts(struct walk *walk, const struct record_tally_rows *last)
{
    size_t count = walk->marks.count;
    uint8_t *want = memory_new(count);
    walk->wanted = memory_new(count * sizeof *walk->wanted);
    want[last_busy(walk, last)] = 1;
    want_pauses(walk, want);
    for (size_t i = 1; i < count; i++)
        walk->wanted[i] = walk->wanted[i - 1] + want[i - 1];
    free(want);
}

bool record_past_read(struct record_past *past, const struct record_file *file)
{
    struct walk walk = {.past = past};
    uint64_t to = file->skipped_to;
    past->file = file;
    past->progress_at = INT64_MIN;
    struct record_tally_rows begin = {0}, last = {0};
    record_marks_find(&walk.marks, file, to);
    /* The last one must be whole. */
    while (walk.marks.count > 1 && !record_tally_load(&last, file, &walk.marks.marks[walk.marks.count - 1]))
        walk.marks.count--;
    size_t high = walk.marks.count - 1;
    bool whole = true;
    if (high > 0) {
        want_parts(&walk, &last);
        whole = pass(&walk, 0, high, &begin, &last);
    }
    past->ticks = walk.marks.marks[high].ticks;
    past->function = (uint16_t)last.function;
    past->site = last.site;
    whole = whole && record_past_span(past, walk.marks.marks[high].end, to);
    record_tally_clear(&last);
    record_marks_free(&walk.marks);
    free(walk.wanted);
    return whole;
}
