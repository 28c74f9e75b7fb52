/* SPDX-License-Identifier: BSD-3-Clause */
/* Making an index: one pass over the trace. Following what is open and adding up the pyramid are stages, each in a
   thread of its own if there are several. */
#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"
#include "core/pipeline.h"
#include "timeline/index_builder.h"

#include <string.h>

/* A checkpoint costs bytes of index for each open state and each message in transit; checkpoints are so far apart that
   this is at most 1/COST_SHARE of the trace between them. Rows only cost time. */
enum { LEAST_BYTES = 256 * 1024, COST_SHARE = 30, ROW_COST = 16 };
enum { OPEN_COST = sizeof(struct span) + sizeof(uint32_t), WAITING_COST = sizeof(struct transit) + sizeof(uint32_t) };

/* With several threads so many changes are handed on at once, at least: waking a thread takes as long as noting
   thousands. So many lists are under way, 800 kB each. */
enum { LIST_CHANGES = 1 << 16, LISTS = 3 };

/* The stages: following the rows, and adding up the pyramid, which may be several. */
enum { STAGE_WALK, STAGE_PYRAMID, PYRAMID_STAGES_MOST = 4 };

/* Rows appear while the trace is read. */
static void add_row(struct builder *builder, uint32_t row)
{
    ARRAY_RESERVE(builder->row, builder->row_capacity, (size_t)row + 1);
    builder->row[row] = (struct row_build){
        .state = PYRAMID_NO_STATE, .name = pyramid_note_row(&builder->notes, row, builder->rows.row[row].process)};
}

/* What a part of the trace has, modulo 64: a search skips parts without the bit of what it looks for. */
static uint64_t bit(uint32_t number)
{
    return UINT64_C(1) << (number & 63);
}

static void note_state(struct builder *builder, const struct walk_event *walked, struct timeline_row *about)
{
    const struct state_def *state = &builder->walk.defs->states[walked->event->state];
    struct row_build *row = &builder->row[walked->row];
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

/* The first of a thread says how it ended. */
static void note_ending(struct builder *builder, const struct walk_event *walked, struct timeline_row *about)
{
    const struct event *event = walked->event;
    struct pending pending;
    if (about->ended || strcmp(builder->walk.defs->marks[event->state].name, PENDING_MARK_NAME) != 0)
        return;
    payload_get_pending(walked->arena + event->payload, event->payload_length, &pending);
    if (!pending_ends(pending.what))
        return;
    about->ended = pending.what;
    about->code = pending.tag;
}

static void build_event(void *context, const struct walk_event *walked)
{
    struct builder *builder = context;
    const struct event *event = walked->event;
    struct timeline_row *about = &builder->rows.row[walked->row];
    if (builder->events == 0)
        builder->begin_ns = walked->time_ns;
    if (about->events++ == 0) {
        about->begin_ns = walked->time_ns;
        add_row(builder, walked->row);
    }
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
        pyramid_note(&builder->notes, builder->row[walked->row].name, walked->time_ns, PYRAMID_MESSAGE);
    } else if (event->kind == EVENT_MARK && event->payload_length > 0) {
        note_ending(builder, walked, about);
    } else if (event->kind == EVENT_COUNTER) {
        curves_build_event(&builder->curves, builder->walk.defs, walked->row, event, walked->time_ns, about->begin_ns);
    }
}

static void build_now(void *context, uint32_t row, int64_t time_ns, uint32_t state)
{
    struct builder *builder = context;
    struct row_build *at = &builder->row[row];
    if (state != TIMELINE_NONE)
        state = builder->walk.defs->states[state].first_of_name;
    if (at->state == state) /* as after a message */
        return;
    pyramid_note(&builder->notes, at->name, time_ns, state);
    at->state = state;
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

/* The stages. */
struct passing {
    struct builder *builder;
    struct batch *batch;
    struct pyramid_changes lists[LISTS];
    size_t changes; /* of a list, at least */
    unsigned pyramid_stages;
    enum status status; /* of reading */
    struct error *err;
};

/* Takes the next batch. False: there is none, or no more is to be read. */
static bool walk_batch(struct passing *passing)
{
    struct builder *builder = passing->builder;
    const struct index_order *order = builder->order;
    passing->status = reader_next(builder->reader, passing->batch, passing->err);
    if (passing->status != STATUS_OK)
        return false;
    walk_events(&builder->walk, passing->batch);
    consider_checkpoint(builder);
    if (order->watch && !order->watch(order->watch_context, builder->reader))
        passing->status = STATUS_FAILED;
    return passing->status == STATUS_OK && !builder->unsorted;
}

static bool walk_list(struct passing *passing, struct pyramid_changes *list)
{
    struct builder *builder = passing->builder;
    builder->notes.to = list;
    list->count = 0;
    bool more = passing->status == STATUS_OK && !builder->unsorted;
    while (more && list->count < passing->changes)
        more = walk_batch(passing);
    return list->count > 0;
}

static bool pass(void *context, size_t stage, size_t number)
{
    struct passing *passing = context;
    struct pyramid_changes *list = &passing->lists[number];
    if (stage == STAGE_WALK)
        return walk_list(passing, list);
    pyramid_build_take(passing->builder->pyramid, list, (unsigned)stage - STAGE_PYRAMID, passing->pyramid_stages);
    return true;
}

static enum status read_events(struct builder *builder, struct error *err)
{
    unsigned threads = larger(builder->order->threads, 1U);
    struct passing passing = {.builder = builder, .changes = 1, .pyramid_stages = 1, .err = err};
    struct pipeline pipeline = {.items = 1, .step = pass, .context = &passing};
    /* A single thread adds up each batch while it is in the processor's cache. */
    if (threads > 1) {
        passing.changes = LIST_CHANGES;
        passing.pyramid_stages = smaller(threads - 1, (unsigned)PYRAMID_STAGES_MOST);
        pipeline.items = LISTS;
    }
    pipeline.stages = STAGE_PYRAMID + passing.pyramid_stages;
    passing.batch = memory_new(sizeof *passing.batch);
    /* The first part begins before all times: no window lies before it. */
    builder->now = (struct checkpoint){.offset = builder->reader->input->offset, .time_ns = INT64_MIN};
    (void)pipeline_run(&pipeline, threads);
    spill_add(&builder->table[SECTION_CHECKPOINTS], &builder->now, sizeof builder->now);
    batch_free(passing.batch);
    free(passing.batch);
    for (size_t i = 0; i < LISTS; i++)
        free(passing.lists[i].change);
    if (passing.status == STATUS_FAILED)
        return STATUS_FAILED;
    return builder->unsorted ? STATUS_END : STATUS_OK;
}

static enum status build(struct builder *builder, struct error *err)
{
    for (size_t i = 0; i < SECTION_COUNT; i++)
        if (spill_open(&builder->table[i], err) != STATUS_OK)
            return STATUS_FAILED;
    enum status status = read_events(builder, err);
    if (status != STATUS_OK)
        return status;
    return index_write(builder, err);
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
    if (builder.pyramid) {
        builder.notes.shards = pyramid_build_shards(builder.pyramid);
        status = build(&builder, err);
    }
    pyramid_build_free(builder.pyramid);
    curves_build_clear(&builder.curves);
    for (size_t i = 0; i < SECTION_COUNT; i++)
        spill_close(&builder.table[i]);
    walk_clear(&builder.walk);
    rows_clear(&builder.rows);
    free(builder.row);
    return status;
}
