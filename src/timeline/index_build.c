/* SPDX-License-Identifier: BSD-3-Clause */
/* Making an index: one pass over the trace. */
#include "core/memory.h"
#include "core/numbers.h"
#include "core/output.h"
#include "timeline/index_format.h"
#include "timeline/pyramid_build.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A checkpoint costs bytes of index for each open state and each message in transit; checkpoints are so far apart that
   this is at most 1/COST_SHARE of the trace between them. Rows only cost time. */
enum { LEAST_BYTES = 256 * 1024, COST_SHARE = 30, ROW_COST = 16 };

/* Up to this many processes have a row each even without events; beyond, only if every other one has events: a damaged
   number of processes must not cost gigabytes. */
enum { SILENT_MOST = 1 << 17 };
enum { OPEN_COST = sizeof(struct span) + sizeof(uint32_t), WAITING_COST = sizeof(struct transit) + sizeof(uint32_t) };

/* Data of a row besides its walk_row. */
struct row_build {
    uint32_t mpi_depth; /* MPI functions open */
    int64_t mpi_since_ns;
};

struct builder {
    const struct index_order *order;
    struct reader *reader;
    struct rows rows;
    struct walk walk;
    struct walk_visitor visitor;
    struct row_build *row;
    size_t row_capacity;
    struct spill table[SECTION_COUNT];
    struct checkpoint now; /* the last checkpoint, while its bits are filled in */
    uint64_t events;
    int64_t last_ns;
    bool unsorted;
    size_t states_defined, marks_defined; /* by definitions of the trace */
    struct pyramid_build *pyramid;
    struct curves_build curves;
    uint64_t next_checkpoint; /* byte */
};

/* Rows appear while the trace is read: the array grows, new ones are 0. */
static struct row_build *row_of(struct builder *builder, uint32_t row)
{
    size_t before = builder->row_capacity;
    if (row >= before) {
        ARRAY_RESERVE(builder->row, builder->row_capacity, (size_t)row + 1);
        memset(&builder->row[before], 0, (builder->row_capacity - before) * sizeof *builder->row);
    }
    return &builder->row[row];
}

/* What a part of the trace has, modulo 64: a search skips parts without the bit of what it looks for. */
static uint64_t bit(uint32_t number)
{
    return UINT64_C(1) << (number & 63);
}

static void note_state(struct builder *builder, const struct walk_event *walked, struct timeline_row *about)
{
    const struct state_def *state = &builder->walk.defs->states[walked->event->state];
    struct row_build *row = row_of(builder, walked->row);
    bool enter = walked->event->kind == EVENT_ENTER;
    if (enter)
        builder->now.states |= bit(state->first_of_name);
    if (!state->is_mpi)
        return;
    if (enter && row->mpi_depth++ == 0)
        row->mpi_since_ns = walked->time_ns;
    if (!enter && --row->mpi_depth == 0)
        time_add(&about->mpi_ns, time_since(row->mpi_since_ns, walked->time_ns));
}

static void build_event(void *context, const struct walk_event *walked)
{
    struct builder *builder = context;
    const struct event *event = walked->event;
    struct timeline_row *about = &builder->rows.row[walked->row];
    if (about->events++ == 0)
        about->begin_ns = walked->time_ns;
    about->end_ns = walked->time_ns;
    /* Windows are found by the times of checkpoints: an event out of order ends building, and a sorted copy is made. */
    if (event->time_ns < builder->last_ns && builder->events > 0)
        builder->unsorted = true;
    builder->last_ns = event->time_ns;
    builder->events++;
    builder->now.rows |= bit(event->process);
    if (event->kind <= EVENT_LEAVE) {
        if (walked->open)
            note_state(builder, walked, about);
    } else if (event->kind <= EVENT_RECEIVE) {
        builder->now.partners |= bit((uint32_t)event->partner);
        builder->now.tags |= bit((uint32_t)event->tag);
        pyramid_build_message(builder->pyramid, walked->row, walked->event->process, walked->time_ns);
    } else if (event->kind == EVENT_COUNTER) {
        curves_build_event(&builder->curves, builder->walk.defs, walked->row, event, walked->time_ns, about->begin_ns);
    }
}

static void build_now(void *context, uint32_t row, int64_t time_ns, uint32_t state)
{
    struct builder *builder = context;
    pyramid_build_state(builder->pyramid, row, builder->rows.row[row].process, time_ns, state);
}

/* States and messages that are open at a checkpoint are in the index once, however many checkpoints they pass; their
   ends are filled in here when the walk comes to them. */
static void span_ended(void *context, uint32_t number, int64_t leave_ns)
{
    struct builder *builder = context;
    struct span *span = (struct span *)(void *)builder->table[SECTION_SPANS].data + number;
    span->leave_ns = leave_ns;
    span->open = 0;
}

static void transit_ended(void *context, uint32_t number, const struct transit *other)
{
    struct builder *builder = context;
    struct transit *transit = (struct transit *)(void *)builder->table[SECTION_TRANSITS].data + number;
    transit->other_ns = other->time_ns;
    transit->other_row = other->row;
    /* The sender's count, if known. */
    if (!(transit->sent && transit->bytes >= 0) && other->sent && other->bytes >= 0)
        transit->bytes = other->bytes;
}

static uint32_t entries(const struct spill *spill, size_t size)
{
    return (uint32_t)(spill->size / size);
}

static void put_open(struct builder *builder, uint32_t row)
{
    const struct open_states *open = &builder->walk.row[row].open;
    for (size_t i = 0; i < open->depth; i++) {
        struct walk_frame *frame = &builder->walk.frames[open->frames[i].mark];
        if (frame->span == TIMELINE_NONE) {
            struct span span = {.enter_ns = open->frames[i].time_ns,
                                .row = row,
                                .state = open->frames[i].state,
                                .depth = frame->depth,
                                .open = 1};
            frame->span = entries(&builder->table[SECTION_SPANS], sizeof span);
            spill_add(&builder->table[SECTION_SPANS], &span, sizeof span);
        }
        spill_add(&builder->table[SECTION_OPEN], &frame->span, sizeof frame->span);
    }
}

static void put_waiting(void *context, struct transit_node *node)
{
    struct builder *builder = context;
    if (node->span == TIMELINE_NONE) {
        node->span = entries(&builder->table[SECTION_TRANSITS], sizeof node->transit);
        spill_add(&builder->table[SECTION_TRANSITS], &node->transit, sizeof node->transit);
    }
    spill_add(&builder->table[SECTION_WAITING], &node->span, sizeof node->span);
}

/* The part after the last checkpoint is complete: writes it, and begins the next. */
static void checkpoint(struct builder *builder)
{
    spill_add(&builder->table[SECTION_CHECKPOINTS], &builder->now, sizeof builder->now);
    builder->now = (struct checkpoint){.offset = builder->reader->input->offset,
                                       .time_ns = builder->last_ns,
                                       .events = builder->events,
                                       .open_at = builder->table[SECTION_OPEN].size / sizeof(uint32_t),
                                       .waiting_at = builder->table[SECTION_WAITING].size / sizeof(uint32_t),
                                       .open = (uint32_t)builder->walk.open,
                                       .waiting = (uint32_t)builder->walk.transits.waiting};
    /* Row by row and in the order of their enters: scan.c gives them back in that order. */
    for (uint32_t row = 0; row < builder->walk.row_count; row++)
        put_open(builder, row);
    transits_each(&builder->walk.transits, put_waiting, builder);
}

static void consider_checkpoint(struct builder *builder)
{
    bool tuned = builder->order->tuning.least_bytes > 0;
    uint64_t least = LEAST_BYTES;
    if (tuned)
        least = builder->order->tuning.least_bytes;
    uint64_t cost = builder->walk.open * OPEN_COST + builder->walk.transits.waiting * WAITING_COST;
    uint64_t apart = cost * COST_SHARE + builder->rows.count * ROW_COST;
    uint64_t passed = builder->reader->input->offset - builder->now.offset;
    /* Entries are numbered with 32 bits. */
    bool room =
        builder->table[SECTION_SPANS].size / sizeof(struct span) + builder->walk.open < UINT32_MAX &&
        builder->table[SECTION_TRANSITS].size / sizeof(struct transit) + builder->walk.transits.waiting < UINT32_MAX;
    if (builder->events > builder->now.events && passed >= least && (tuned || passed >= apart) && room)
        checkpoint(builder);
}

static enum status read_events(struct builder *builder, struct error *err)
{
    struct batch *batch = memory_new(sizeof *batch);
    enum status status;
    /* The first part begins before all times: no window lies before it. */
    builder->now = (struct checkpoint){.offset = builder->reader->input->offset, .time_ns = INT64_MIN};
    while ((status = reader_next(builder->reader, batch, err)) == STATUS_OK && !builder->unsorted) {
        walk_events(&builder->walk, batch);
        consider_checkpoint(builder);
        if (builder->order->watch && !builder->order->watch(builder->order->watch_context, builder->reader)) {
            status = STATUS_FAILED;
            break;
        }
    }
    spill_add(&builder->table[SECTION_CHECKPOINTS], &builder->now, sizeof builder->now);
    batch_free(batch);
    free(batch);
    if (status == STATUS_FAILED)
        return status;
    if (builder->unsorted)
        return STATUS_END;
    return STATUS_OK;
}

/* Ids that the trace uses without defining them. A reader that begins in the middle meets them in another order; with
   these it numbers states as this pass did. */
static void put_defined(struct builder *builder)
{
    const struct defs *defs = builder->reader->defs;
    for (size_t i = builder->states_defined; i < defs->state_count; i++)
        spill_add(&builder->table[SECTION_DEFINED], &defs->states[i].start, sizeof(int32_t));
    for (size_t i = builder->marks_defined; i < defs->mark_count; i++)
        spill_add(&builder->table[SECTION_DEFINED], &defs->marks[i].id, sizeof(int32_t));
}

static void put_definitions(struct builder *builder)
{
    struct clog2_known known = clog2_known(builder->reader);
    if (known.count > 0)
        spill_add(&builder->table[SECTION_DEFINITIONS], known.ranges, known.count * sizeof *known.ranges);
}

static int row_compare(const void *a, const void *b)
{
    const struct timeline_row *left = a, *right = b;
    if (left->process != right->process)
        return order_by(left->process, right->process);
    return order_by(left->thread, right->thread);
}

/* Appends a row for each process that the trace records without events of it. */
static size_t add_silent(const struct builder *builder, struct timeline_row *rows, size_t count)
{
    uint32_t processes = builder->reader->defs->processes;
    bool *met = memory_new(processes);
    int64_t begin_ns = INT64_MAX;
    for (size_t i = 0; i < builder->rows.count; i++) {
        if (rows[i].process < processes)
            met[rows[i].process] = true;
        begin_ns = smaller(rows[i].begin_ns, begin_ns);
    }
    for (uint32_t process = 0; process < processes; process++)
        if (!met[process])
            rows[count++] = (struct timeline_row){.process = process, .begin_ns = begin_ns, .end_ns = begin_ns};
    free(met);
    return count;
}

/* Sorts rows by rank and thread instead of first occurrence. Returns the new number of each; free() it. */
static uint32_t *sort_rows(struct builder *builder)
{
    size_t count = builder->rows.count;
    uint32_t processes = builder->reader->defs->processes;
    uint32_t *places = memory_new(count * sizeof *places);
    /* A damaged trace may state absurd numbers of processes. */
    bool silent = count > 0 && (processes <= SILENT_MOST || processes / 2 <= count);
    size_t room = count;
    if (silent)
        room += processes;
    struct timeline_row *sorted = memory_new(room * sizeof *sorted);
    if (count > 0)
        memcpy(sorted, builder->rows.row, count * sizeof *sorted);
    if (silent)
        count = add_silent(builder, sorted, count);
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, row_compare);
    for (size_t i = 0; i < count; i++) {
        uint32_t row = rows_find(&builder->rows, sorted[i].process, sorted[i].thread);
        if (row != TIMELINE_NONE)
            places[row] = (uint32_t)i;
    }
    spill_add(&builder->table[SECTION_ROWS], sorted, count * sizeof *sorted);
    free(sorted);
    return places;
}

/* Rows are numbered as they are met while the trace is read, and by rank in the index. States that nothing closes end
   with their row. */
static void renumber(struct builder *builder, const uint32_t *places)
{
    struct span *span = (struct span *)(void *)builder->table[SECTION_SPANS].data;
    for (size_t i = 0; i < builder->table[SECTION_SPANS].size / sizeof *span; i++) {
        if (span[i].open)
            span[i].leave_ns = builder->rows.row[span[i].row].end_ns;
        span[i].row = places[span[i].row];
    }
    struct transit *transit = (struct transit *)(void *)builder->table[SECTION_TRANSITS].data;
    for (size_t i = 0; i < builder->table[SECTION_TRANSITS].size / sizeof *transit; i++) {
        transit[i].row = places[transit[i].row];
        if (transit[i].other_row != TIMELINE_NONE)
            transit[i].other_row = places[transit[i].other_row];
    }
}

/* Time in MPI functions that the trace does not close, up to the row's last event. */
static void end_rows(struct builder *builder)
{
    for (uint32_t i = 0; i < builder->rows.count; i++) {
        struct timeline_row *row = &builder->rows.row[i];
        if (row_of(builder, i)->mpi_depth > 0)
            time_add(&row->mpi_ns, time_since(builder->row[i].mpi_since_ns, row->end_ns));
    }
}

static int curve_compare(const void *a, const void *b)
{
    const struct counter_growing *left = a, *right = b;
    if (left->curve.mark != right->curve.mark)
        return order_by(left->curve.mark, right->curve.mark);
    return order_by(left->curve.row, right->curve.row);
}

/* Curves are numbered by rows as they were met, as spans are. */
static void put_curves(struct builder *builder, const uint32_t *places)
{
    struct curves_build *curves = &builder->curves;
    curves_build_end(curves, builder->walk.defs, builder->rows.row);
    for (size_t i = 0; i < curves->count; i++)
        curves->list[i].curve.row = places[curves->list[i].curve.row];
    if (curves->count > 0)
        qsort(curves->list, curves->count, sizeof *curves->list, curve_compare);
    for (size_t i = 0; i < curves->count; i++) {
        struct counter_growing *curve = &curves->list[i];
        curve->curve.step_at = builder->table[SECTION_STEPS].size / sizeof *curve->step;
        spill_add(&builder->table[SECTION_CURVES], &curve->curve, sizeof curve->curve);
        spill_add(&builder->table[SECTION_STEPS], curve->step, curve->curve.steps * sizeof *curve->step);
    }
}

static void fill_header(const struct builder *builder, struct index_header *header)
{
    const struct index_order *order = builder->order;
    /* A copy is always complete: the damage is that of the trace it was made from. */
    const struct trace_end *end = order->end ? order->end : &builder->reader->end;
    const struct timeline_row *rows = builder->rows.row;
    *header = (struct index_header){.version = INDEX_VERSION,
                                    .size = sizeof *header,
                                    .identity = order->identity,
                                    .trace_size = input_size(builder->reader->input),
                                    .stored = order->stored,
                                    .complete = end->complete,
                                    .events = builder->events,
                                    .damages = end->damage.count,
                                    .damage_byte = end->damage.first_byte,
                                    .used = end->used,
                                    .total = end->total,
                                    .end_of_log = clog2_known(builder->reader).end_of_log,
                                    .clocks = order->clocks};
    memcpy(header->magic, index_magic, sizeof header->magic);
    snprintf(header->format, sizeof header->format, "%s", order->format ? order->format : "clog2");
    memcpy(header->damage, end->damage.first, sizeof header->damage);
    for (size_t i = 0; i < builder->rows.count; i++) {
        if (i == 0) {
            header->begin_ns = rows[i].begin_ns;
            header->end_ns = rows[i].end_ns;
        }
        header->begin_ns = smaller(rows[i].begin_ns, header->begin_ns);
        header->end_ns = larger(rows[i].end_ns, header->end_ns);
    }
}

static void write_sections(const struct builder *builder, struct output *output, struct index_header *header)
{
    static const char zeros[8];
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        const struct spill *table = &builder->table[i];
        /* The sections are used in place, through mmap: structs need their alignment. */
        output_write(output, zeros, (8 - output_position(output) % 8) % 8);
        header->section[i].at = output_position(output);
        header->section[i].count = table->size / index_sizes[i];
        header->section[i].checksum = index_checksum(table->data, table->size);
        for (size_t at = 0; at < table->size; at += INDEX_PIECE) {
            size_t size = smaller(table->size - at, (size_t)INDEX_PIECE);
            output_write(output, table->data + at, size);
            index_give_back(table->data + at, size);
        }
    }
    header->file_size = output_position(output);
}

static enum status write_file(const struct builder *builder, struct error *err)
{
    struct index_header header;
    struct output_options how = {.replace = true, .private = true, .patchable = true};
    for (size_t i = 0; i < SECTION_COUNT; i++)
        if (spill_check(&builder->table[i], err) != STATUS_OK)
            return STATUS_FAILED;
    struct output *output = output_open(builder->order->path, how, err);
    if (!output)
        return STATUS_FAILED;
    /* Written twice: places and checksums of the sections are known at the end. The file gets its name only when it is
       closed, so that no other process sees half of it. */
    fill_header(builder, &header);
    output_write(output, &header, sizeof header);
    write_sections(builder, output, &header);
    header.checksum = checksum_add(CHECKSUM_START, &header, offsetof(struct index_header, checksum));
    output_patch(output, 0, &header, sizeof header);
    return output_close(output, true, err);
}

static enum status build(struct builder *builder, struct error *err)
{
    for (size_t i = 0; i < SECTION_COUNT; i++)
        if (spill_open(&builder->table[i], err) != STATUS_OK)
            return STATUS_FAILED;
    enum status status = read_events(builder, err);
    if (status != STATUS_OK)
        return status;
    end_rows(builder);
    put_defined(builder);
    put_definitions(builder);
    /* These are read below, so they must be whole; the others are checked before they are written. */
    uint32_t *places = sort_rows(builder);
    if (spill_check(&builder->table[SECTION_ROWS], err) != STATUS_OK ||
        spill_check(&builder->table[SECTION_SPANS], err) != STATUS_OK ||
        spill_check(&builder->table[SECTION_TRANSITS], err) != STATUS_OK) {
        free(places);
        return STATUS_FAILED;
    }
    renumber(builder, places);
    put_curves(builder, places);
    status = pyramid_build_end(builder->pyramid, &builder->rows, places, builder->table, err);
    free(places);
    if (status != STATUS_OK)
        return status;
    return write_file(builder, err);
}

enum status index_build(struct reader *reader, const struct index_order *order, struct error *err)
{
    struct builder builder = {.order = order,
                              .reader = reader,
                              .states_defined = reader->defs->state_count,
                              .marks_defined = reader->defs->mark_count};
    builder.visitor = (struct walk_visitor){.context = &builder, .event = build_event, .now = build_now};
    walk_start(&builder.walk, reader->defs, &builder.rows, &builder.visitor);
    curves_build_begin(&builder.curves, CURVE_STEPS, CURVES_STEPS);
    builder.walk.growing = true;
    builder.walk.index = &builder;
    builder.walk.span_ended = span_ended;
    builder.walk.transit_ended = transit_ended;
    builder.pyramid = pyramid_build_new(reader, order->tuning.cells, err);
    enum status status = STATUS_FAILED;
    if (builder.pyramid)
        status = build(&builder, err);
    pyramid_build_free(builder.pyramid);
    curves_build_clear(&builder.curves);
    for (size_t i = 0; i < SECTION_COUNT; i++)
        spill_close(&builder.table[i]);
    walk_clear(&builder.walk);
    rows_clear(&builder.rows);
    free(builder.row);
    return status;
}
