/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/scan.h"

#include "convert/reader.h"
#include "core/memory.h"
#include "core/numbers.h"

struct scan {
    struct timeline *timeline;
    struct walk walk;
    const struct walk_visitor *visitor;
    const struct checkpoint *from, *to; /* `to` NULL: the trace's end */
};

const struct checkpoint *timeline_checkpoints(const struct timeline *timeline, size_t *count)
{
    return index_section(&timeline->index, SECTION_CHECKPOINTS, count);
}

/* The first checkpoint whose time is at least time_ns; their count if there is none. By halving: checkpoints are in
   order, and a trace of 100 GB has some 10^5. */
static size_t first_at(const struct timeline *timeline, int64_t time_ns)
{
    size_t count, low = 0;
    const struct checkpoint *checkpoints = timeline_checkpoints(timeline, &count);
    for (size_t high = count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (checkpoints[middle].time_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void timeline_scan_range(const struct timeline *timeline, int64_t from_ns, int64_t to_ns, size_t *from, size_t *to)
{
    /* All events before a checkpoint of an earlier time are earlier than the window; all after one at its end's time
       are after it. */
    *from = first_at(timeline, from_ns);
    *from -= *from > 0;
    *to = first_at(timeline, to_ns);
    *to += *to == *from;
}

uint64_t timeline_scan_cost(const struct timeline *timeline, int64_t from_ns, int64_t to_ns)
{
    size_t from, to, count;
    const struct checkpoint *checkpoints = timeline_checkpoints(timeline, &count);
    timeline_scan_range(timeline, from_ns, to_ns, &from, &to);
    uint64_t end = timeline->info.events;
    if (to < count)
        end = checkpoints[to].events;
    return end - checkpoints[from].events;
}

static const struct span *span_of(const struct scan *scan, uint64_t at)
{
    size_t count;
    const uint32_t *open = index_section(&scan->timeline->index, SECTION_OPEN, &count);
    const struct span *spans = index_section(&scan->timeline->index, SECTION_SPANS, &count);
    return &spans[open[at]];
}

static const struct transit *transit_of(const struct scan *scan, uint64_t at)
{
    size_t count;
    const uint32_t *waiting = index_section(&scan->timeline->index, SECTION_WAITING, &count);
    const struct transit *transits = index_section(&scan->timeline->index, SECTION_TRANSITS, &count);
    return &transits[waiting[at]];
}

/* Restores the state of reading up to the checkpoint. */
static void begin(struct scan *scan)
{
    const struct checkpoint *from = scan->from;
    const struct rows *rows = &scan->timeline->rows;
    /* A row's state since its last event before the checkpoint is known, but not when that event was: time counts from
       the checkpoint on. */
    for (size_t i = 0; from->events > 0 && i < rows->count; i++) {
        scan->walk.row[i].seen = rows->row[i].events > 0 && rows->row[i].begin_ns <= from->time_ns;
        scan->walk.row[i].last_ns = from->time_ns;
    }
    /* In the order in which they were entered, row by row: the walk's stacks are as they were. */
    for (uint64_t i = 0; i < from->open; i++) {
        const struct span *span = span_of(scan, from->open_at + i);
        walk_open(&scan->walk, span->row, span->state, span->enter_ns, span->depth, 0);
    }
    for (uint64_t i = 0; i < from->waiting; i++)
        transits_add(&scan->walk.transits, transit_of(scan, from->waiting_at + i));
}

static void report_open(struct scan *scan, uint32_t row, const struct open_state *at, int64_t leave_ns, bool open)
{
    const struct walk_frame *frame = &scan->walk.frames[at->mark];
    struct timeline_state state = {.enter_ns = at->time_ns,
                                   .leave_ns = leave_ns,
                                   .row = row,
                                   .state = at->state,
                                   .depth = frame->depth,
                                   .open = open};
    scan->visitor->state(scan->visitor->context, &state, frame, at->exclusive_ns);
}

/* States that are open at the last checkpoint: the index knows when they are left. They are stored row by row in the
   order of their enters, as the walk has them. */
static void end_states(struct scan *scan)
{
    size_t *next = memory_new(scan->walk.row_count * sizeof *next);
    for (uint64_t i = 0; i < scan->to->open; i++) {
        const struct span *span = span_of(scan, scan->to->open_at + i);
        const struct open_states *open = &scan->walk.row[span->row].open;
        size_t at = next[span->row]++;
        if (at < open->depth)
            report_open(scan, span->row, &open->frames[at], span->leave_ns, span->open);
    }
    free(next);
}

/* States that are open when the trace ends. */
static void end_states_of_trace(struct scan *scan)
{
    const struct rows *rows = &scan->timeline->rows;
    for (uint32_t row = 0; row < scan->walk.row_count; row++)
        for (size_t i = 0; i < scan->walk.row[row].open.depth; i++)
            report_open(scan, row, &scan->walk.row[row].open.frames[i], rows->row[row].end_ns, true);
}

/* Adds the states of rows from their last event up to the last checkpoint. */
static void end_between(struct scan *scan)
{
    const struct rows *rows = &scan->timeline->rows;
    for (uint32_t row = 0; row < scan->walk.row_count; row++) {
        struct walk_row *at = &scan->walk.row[row];
        int64_t end_ns = smaller(rows->row[row].end_ns, scan->to->time_ns);
        if (!at->seen || end_ns <= at->last_ns)
            continue;
        uint32_t state = TIMELINE_NONE;
        if (at->open.depth > 0)
            state = at->open.frames[at->open.depth - 1].state;
        scan->visitor->between(scan->visitor->context, row, state, at->last_ns, end_ns);
    }
}

/* Messages in transit at the last checkpoint: the index knows their other ends, as far as there are any. */
static void end_messages(struct scan *scan)
{
    for (uint64_t i = 0; i < scan->to->waiting; i++) {
        const struct transit *end = transit_of(scan, scan->to->waiting_at + i);
        struct transit other = *end;
        other.time_ns = end->other_ns;
        other.row = end->other_row;
        other.sent = !end->sent;
        other.comm = end->partner_comm;
        const struct transit *known = NULL;
        if (end->other_row != TIMELINE_NONE)
            known = &other;
        struct timeline_message message = walk_message(end, known);
        scan->visitor->message(scan->visitor->context, &message);
    }
}

static void end_transit(void *context, struct transit_node *node)
{
    struct scan *scan = context;
    struct timeline_message message = walk_message(&node->transit, NULL);
    scan->visitor->message(scan->visitor->context, &message);
}

static void end(struct scan *scan)
{
    const struct walk_visitor *visitor = scan->visitor;
    /* From here on reports are not of events that were read: visitors that count events must know. */
    if (visitor->ending)
        visitor->ending(visitor->context);
    if (scan->to) {
        if (visitor->between)
            end_between(scan);
        if (visitor->state)
            end_states(scan);
        if (visitor->message)
            end_messages(scan);
        return;
    }
    if (visitor->state)
        end_states_of_trace(scan);
    if (visitor->message)
        transits_each(&scan->walk.transits, end_transit, scan);
}

static enum status read_batches(struct scan *scan, struct error *err)
{
    struct reader *reader = scan->timeline->reader;
    uint64_t end = UINT64_MAX;
    if (scan->to)
        end = scan->to->offset;
    enum status status = reader_seek(reader, scan->from->offset, end, err);
    struct batch *batch = memory_new(sizeof *batch);
    while (status == STATUS_OK && (status = reader_next(reader, batch, err)) == STATUS_OK)
        walk_events(&scan->walk, batch);
    batch_free(batch);
    free(batch);
    if (status == STATUS_END)
        return STATUS_OK;
    return status;
}

enum status timeline_scan_between(struct timeline *timeline, size_t from, size_t to, const struct walk_visitor *visitor,
                                  struct error *err)
{
    size_t count;
    const struct checkpoint *checkpoints = timeline_checkpoints(timeline, &count);
    struct scan scan = {.timeline = timeline, .visitor = visitor, .from = &checkpoints[from]};
    if (to < count)
        scan.to = &checkpoints[to];
    walk_start(&scan.walk, timeline->info.defs, &timeline->rows, visitor);
    begin(&scan);
    enum status status = read_batches(&scan, err);
    if (status == STATUS_OK)
        end(&scan);
    walk_clear(&scan.walk);
    return status;
}

enum status timeline_scan(struct timeline *timeline, int64_t from_ns, int64_t to_ns, const struct walk_visitor *visitor,
                          struct error *err)
{
    size_t from, to;
    timeline_scan_range(timeline, from_ns, to_ns, &from, &to);
    return timeline_scan_between(timeline, from, to, visitor, err);
}
