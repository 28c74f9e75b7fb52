/* SPDX-License-Identifier: BSD-3-Clause */
/* CLOG-2 of MPE-2: a merged file, or the local files of one run read one after the other. Two passes: the definitions
   of MPI's states and the communicator table stand at the end. Facts: clog2(5). */
#include "convert/clog2/read_clog2.h"

#include "convert/clog2/clog2_parts.h"
#include "convert/clog2/read_clog2_events.h"
#include "convert/clog2/read_clog2_passes.h"
#include "core/memory.h"
#include "core/payload.h"

#include <string.h>

extern const struct format format_clog2;

static int clog2_probe(const unsigned char *data, size_t size)
{
    if (clog2_is_file(data, size))
        return 100;
    return 0;
}

static bool clog2_can_seek(const struct reader *reader)
{
    return reader->format == &format_clog2 && clog2_pass_can_seek(reader);
}

static enum status clog2_open(struct reader *reader, struct error *err)
{
    struct clog2_state *state = reader->state;
    state->parts = memory_new(sizeof *state->parts);
    state->part_count = 1;
    state->limit = UINT64_MAX;
    if (clog2_file_open(&state->file, reader, reader->input, err) != STATUS_OK)
        return STATUS_FAILED;
    enum status status = clog2_scan(reader, err);
    state->file.quiet = true;
    return status;
}

static void clog2_close(struct reader *reader)
{
    struct clog2_state *state = reader->state;
    for (size_t i = 0; i < state->part_count; i++) {
        free(state->parts[i].path);
        clog2_part_defs_clear(&state->parts[i].defs);
    }
    free(state->parts);
    free(state->found.ranges);
    clog2_defs_clear(&state->defs);
}

static const char *const kind_names[CLOG2_KINDS] = {
    "end of log",         "end of block", "state definition", "event definition", "constant definition", "event",
    "event with payload", "message",      "collective",       "communicator",     "source location",     "clock shift"};

/* What was counted since the last time. */
static void count_records(struct reader *reader)
{
    struct clog2_state *state = reader->state;
    for (size_t kind = 0; kind < CLOG2_KINDS; kind++)
        if (state->kinds[kind])
            reader_count(reader, kind_names[kind], state->kinds[kind]);
    memset(state->kinds, 0, sizeof state->kinds);
}

static void take_counts(struct clog2_state *state)
{
    for (size_t kind = 0; kind < CLOG2_KINDS; kind++)
        state->kinds[kind] += state->file.counts[kind];
    memset(state->file.counts, 0, sizeof state->file.counts);
}

/* The reader was asked for no more, though the trace goes on. */
static enum status part_stops(struct reader *reader)
{
    take_counts(reader->state);
    count_records(reader);
    return STATUS_END;
}

void clog2_count_every_kind(struct reader *reader)
{
    for (size_t kind = 0; reader->format == &format_clog2 && kind < CLOG2_KINDS; kind++)
        reader_count(reader, kind_names[kind], 0);
}

/* Ends the current part; STATUS_OK: the next one has begun. */
static enum status part_finish(struct reader *reader, struct error *err)
{
    struct clog2_state *state = reader->state;
    take_counts(state);
    if (state->current + 1 < state->part_count)
        return clog2_part_start(reader, state->current + 1, err);
    count_records(reader);
    reader->used = state->used;
    reader->total = state->total;
    /* A merged file is whole if it ends; local ones if they all do, and there is one for each process: one whose buffer
       never overflowed wrote no file. */
    bool all = state->ended == state->part_count;
    bool whole = all && (state->part_count == 1 || state->part_count >= reader->defs->processes);
    reader->complete = whole;
    if (all && !whole)
        damage_note(&reader->damage, state->parts[0].path, 0, "the files of %zu of %u processes are missing",
                    (size_t)reader->defs->processes - state->part_count, reader->defs->processes);
    return STATUS_END;
}

static enum status clog2_next(struct reader *reader, struct batch *batch, struct error *err)
{
    struct clog2_state *state = reader->state;
    struct clog2_file *file = &state->file;
    while (batch->count + SAMPLES_AT_ONCE <= BATCH_EVENTS) {
        uint32_t kind;
        if (file->input->offset >= state->limit)
            return part_stops(reader);
        if (file->header_size == CLOG2_HEADER_SIZE && !file->ended) {
            clog2_fast_events(state, batch);
            if (batch->count + SAMPLES_AT_ONCE > BATCH_EVENTS || file->input->offset >= state->limit)
                continue;
        }
        enum status status = clog2_file_next(file, &kind, err);
        if (status == STATUS_END) {
            status = part_finish(reader, err);
            if (status == STATUS_OK)
                continue;
        }
        if (status != STATUS_OK)
            return status;
        if (file->input->offset >= state->limit) /* after the end of a block */
            return part_stops(reader);
        size_t before = batch->count;
        struct event *event = &batch->events[before];
        *event = EVENT_NOTHING;
        batch->count += clog2_record_event(state, kind, file->input->at, batch, event);
        if (!clog2_selects(state, event->process))
            batch->count = before;
        clog2_file_take(file, kind);
    }
    return STATUS_OK;
}

struct reader *clog2_parts_open(const struct path_list *list, struct error *err)
{
    struct reader *reader = memory_new(sizeof *reader);
    reader->defs = defs_new();
    reader->format = &format_clog2;
    struct clog2_state *state = reader->state = memory_new(sizeof *state);
    state->parts = memory_new(list->count * sizeof *state->parts);
    state->part_count = list->count;
    state->limit = UINT64_MAX;
    for (size_t i = 0; i < list->count; i++)
        state->parts[i].path = memory_copy_string(list->paths[i]);
    bool ready = clog2_part_start(reader, 0, err) == STATUS_OK && clog2_scan(reader, err) == STATUS_OK;
    state->file.quiet = true;
    if (ready)
        return reader;
    reader_close(reader);
    return NULL;
}

struct clog2_known clog2_known(const struct reader *reader)
{
    const struct clog2_state *state = reader->state;
    if (reader->format != &format_clog2)
        return (struct clog2_known){0};
    return (struct clog2_known){state->found.ranges, state->found.count, state->ended > 0};
}

struct reader *clog2_open_known(const char *path, const struct clog2_known *known, struct error *err)
{
    struct reader *reader = memory_new(sizeof *reader);
    struct clog2_state *state = reader->state = memory_new(sizeof *state);
    reader->format = &format_clog2;
    state->defs.defs = reader->defs = defs_new();
    state->parts = memory_new(sizeof *state->parts);
    state->part_count = 1;
    state->limit = UINT64_MAX;
    state->file.quiet = true;
    reader->input = input_open(path, err);
    if (reader->input)
        input_unpack_alone(reader->input);
    if (reader->input && input_keep(reader->input, err) == STATUS_OK &&
        clog2_file_open(&state->file, reader, reader->input, err) == STATUS_OK && clog2_can_seek(reader) &&
        clog2_scan_known(reader, known->ranges, known->count, known->end_of_log, err) == STATUS_OK)
        return reader;
    reader_close(reader);
    return NULL;
}

uint64_t clog2_block_of(const struct reader *reader, uint64_t at)
{
    const struct clog2_state *state = reader->state;
    uint64_t behind = at > CLOG2_PREAMBLE_SIZE ? at - CLOG2_PREAMBLE_SIZE : 0;
    return CLOG2_PREAMBLE_SIZE + behind / state->file.preamble.block_size * state->file.preamble.block_size;
}

static uint64_t clog2_last_block(const struct reader *reader)
{
    const struct clog2_state *state = reader->state;
    return clog2_block_of(reader, state->used ? state->used - 1 : 0);
}

void clog2_define(struct reader *reader, int32_t id)
{
    struct clog2_state *state = reader->state;
    clog2_role(&state->defs, id);
}

/* Records of all processes are mixed, so that nobody knows how many bytes each of them has: equal parts. */
static uint64_t *clog2_process_bytes(const struct reader *reader, size_t *count)
{
    if (!clog2_known(reader).end_of_log || !clog2_can_seek(reader))
        return NULL;
    *count = reader->defs->processes;
    uint64_t *bytes = memory_new((*count + 1) * sizeof *bytes);
    for (size_t i = 0; i < *count; i++)
        bytes[i] = reader_last_place(reader) / *count;
    return bytes;
}

static void clog2_select(struct reader *reader, size_t from, size_t to)
{
    struct clog2_state *state = reader->state;
    state->selecting = true;
    state->first = (uint32_t)from;
    /* There may be more processes than were declared: they go with the last one. */
    state->selected = (to < reader->defs->processes ? (uint32_t)to : UINT32_MAX) - state->first;
}

static const struct format_processes processes = {
    .bytes = clog2_process_bytes, .select = clog2_select, .reads_all = true};

static const struct format_places places = {clog2_can_seek, clog2_pass_seek, clog2_last_block};

const struct format format_clog2 = {.name = "clog2",
                                    .title = "CLOG-2",
                                    .suffix = ".clog2",
                                    .probe = clog2_probe,
                                    .two_passes = true,
                                    .state_size = sizeof(struct clog2_state),
                                    .open = clog2_open,
                                    .next = clog2_next,
                                    .close = clog2_close,
                                    .places = &places,
                                    .processes = &processes};
