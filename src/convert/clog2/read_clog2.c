/* SPDX-License-Identifier: BSD-3-Clause */
/* CLOG-2 of MPE-2: a merged file, or the local files of one run read one after the other. Two passes: the definitions
   of MPI's states and the communicator table stand at the end. Facts: clog2(5). */
#include "convert/clog2/read_clog2.h"
#include "convert/clog2/clog2_defs.h"
#include "convert/clog2/clog2_file.h"
#include "convert/clog2/clog2_parts.h"
#include "convert/clog2/clog2_scan.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"

#include <string.h>

extern const struct format format_clog2;

/* One file of the trace; a merged trace is one. */
struct clog2_part {
    char *path; /* NULL: the input that the reader was given */
    struct clog2_part_defs defs;
};

struct clog2_state {
    struct clog2_file file; /* of the current part */
    struct clog2_defs defs;
    struct clog2_part *parts;
    size_t part_count, current;
    double shift; /* seconds to add to the times of a local file */
    uint64_t kinds[CLOG2_KINDS];
    size_t ended; /* parts that had their end-of-log record */
    uint64_t used, total;
    uint64_t limit;           /* byte at which reading stops; see clog2_seek */
    struct clog2_found found; /* definitions of the first part */
};

static int clog2_probe(const unsigned char *data, size_t size)
{
    if (clog2_is_file(data, size))
        return 100;
    return 0;
}

/* Goes back to the first record of part `index`. */
static enum status part_start(struct reader *reader, size_t index, struct error *err)
{
    struct clog2_state *state = reader->state;
    struct clog2_part *part = &state->parts[index];
    state->current = index;
    /* Each local file begins with its own clock. */
    state->shift = 0;
    if (part->path) {
        input_close(reader->input);
        reader->input = input_open(part->path, err);
        if (!reader->input)
            return STATUS_FAILED;
        return clog2_file_open(&state->file, reader, reader->input, err);
    }
    return clog2_file_restart(&state->file, reader->input, err);
}

/* A merged file says where its table begins, so that the size of what is missing is known. */
static void part_totals(struct clog2_state *state, const struct input *input)
{
    const struct clog2_preamble *preamble = &state->file.preamble;
    uint64_t declared = preamble->table_at ? preamble->table_at + sizeof(int32_t) : input_size(input);
    state->total += larger(declared, state->file.used);
    state->used += state->file.used;
    state->ended += state->file.end_of_log;
}

/* Handles the record if it describes others. */
static void take_definition(struct clog2_state *state, uint32_t kind)
{
    struct clog2_file *file = &state->file;
    if (clog2_is_plain_event(kind))
        return;
    if (state->current == 0)
        clog2_found_note(&state->found, file->input->offset, file->sizes[kind]);
    clog2_defs_record(&state->defs, &state->parts[state->current].defs, file, kind);
}

/* Damage is noted in this pass only (quiet): the second one meets it again. */
static enum status part_scan(struct reader *reader, struct error *err)
{
    struct clog2_state *state = reader->state;
    struct clog2_file *file = &state->file;
    struct clog2_part_defs *part = &state->parts[state->current].defs;
    clog2_defs_begin_part(&state->defs, part, file);
    uint32_t kind;
    enum status status;
    while (clog2_skip_events(file), (status = clog2_file_next(file, &kind, err)) == STATUS_OK) {
        take_definition(state, kind);
        clog2_file_take(file, kind);
    }
    if (status != STATUS_END)
        return status;
    part_totals(state, reader->input);
    /* Without an end of log there is no telling where the records end and the table begins. */
    if (file->end_of_log && clog2_defs_table(&state->defs, part, file, err) == STATUS_FAILED)
        return STATUS_FAILED;
    clog2_defs_end_part(&state->defs, part, file);
    if (reader->input->fault)
        clog2_file_damage(file, "%s", reader->input->fault);
    return STATUS_OK;
}

/* Local files number communicators by records before, and their clocks shift: they can be read from the begin
   only. */
static bool clog2_can_seek(const struct reader *reader)
{
    const struct clog2_state *state = reader->state;
    return reader->format == &format_clog2 && state->part_count == 1 && !state->parts[0].path &&
           state->file.preamble.finalized && state->file.header_size == CLOG2_HEADER_SIZE &&
           input_can_seek(reader->input);
}

static enum status clog2_seek(struct reader *reader, uint64_t from, uint64_t to, struct error *err)
{
    struct clog2_state *state = reader->state;
    struct clog2_file *file = &state->file;
    if (from < CLOG2_PREAMBLE_SIZE)
        return error_set(err, ERROR_INPUT, "%s: byte %llu: no records there", reader->input->name,
                         (unsigned long long)from);
    if (input_seek(reader->input, from, err) != STATUS_OK)
        return STATUS_FAILED;
    file->block_left = file->preamble.block_size - (from - CLOG2_PREAMBLE_SIZE) % file->preamble.block_size;
    file->ended = file->end_of_log = reader->ended = false;
    state->limit = to;
    return STATUS_OK;
}

/* As part_scan, for the ranges known to contain definitions. */
static enum status scan_ranges(struct reader *reader, const struct clog2_range *ranges, size_t count, struct error *err)
{
    struct clog2_state *state = reader->state;
    struct clog2_file *file = &state->file;
    uint32_t kind;
    enum status status = STATUS_OK;
    clog2_defs_begin_part(&state->defs, &state->parts[0].defs, file);
    for (size_t i = 0; i < count && status != STATUS_FAILED; i++) {
        status = clog2_seek(reader, ranges[i].from, UINT64_MAX, err);
        while (status == STATUS_OK && reader->input->offset < ranges[i].to &&
               (status = clog2_file_next(file, &kind, err)) == STATUS_OK) {
            take_definition(state, kind);
            clog2_file_take(file, kind);
        }
    }
    return status == STATUS_FAILED ? STATUS_FAILED : STATUS_OK;
}

/* The table at the end, and what the preamble declares. */
static enum status scan_end(struct clog2_state *state, bool has_table, struct error *err)
{
    struct clog2_part_defs *part = &state->parts[0].defs;
    if (has_table && clog2_defs_table(&state->defs, part, &state->file, err) == STATUS_FAILED)
        return STATUS_FAILED;
    clog2_defs_end_part(&state->defs, part, &state->file);
    return STATUS_OK;
}

/* As part_scan of a whole trace in which several threads have found what there is to read: the same in the end. */
static enum status scan_found(struct reader *reader, const struct clog2_found *found, struct error *err)
{
    struct clog2_state *state = reader->state;
    struct clog2_file *file = &state->file;
    if (scan_ranges(reader, found->ranges, found->count, err) != STATUS_OK ||
        input_seek(reader->input, found->used, err) != STATUS_OK)
        return STATUS_FAILED;
    file->used = found->used;
    file->ended = file->end_of_log = true;
    part_totals(state, reader->input);
    return scan_end(state, true, err);
}

static enum status scan_parts(struct reader *reader, struct error *err)
{
    struct clog2_state *state = reader->state;
    for (size_t i = 0; i < state->part_count; i++) {
        if (i > 0 && part_start(reader, i, err) != STATUS_OK)
            return STATUS_FAILED;
        if (part_scan(reader, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    return STATUS_OK;
}

static enum status clog2_scan(struct reader *reader, struct error *err)
{
    struct clog2_state *state = reader->state;
    state->defs.defs = reader->defs;
    struct clog2_found found = {0};
    enum status status;
    if (clog2_can_seek(reader) && clog2_scan_parts(&state->file, &found))
        status = scan_found(reader, &found, err);
    else
        status = scan_parts(reader, err);
    free(found.ranges);
    if (status != STATUS_OK)
        return STATUS_FAILED;
    clog2_defs_end(&state->defs);
    if (!state->parts[0].path && input_rewind(reader->input, err) != STATUS_OK)
        return STATUS_FAILED;
    return part_start(reader, 0, err);
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

/* Damage of one record, which is dropped; damage of blocks was noted in the first pass. */
#define record_damage(state, ...) reader_damage((state)->file.reader, (state)->file.input->offset, __VA_ARGS__)

/* Sets the fields that all events take from their record's header. False: the record is damaged and dropped. */
static inline bool record_header(struct clog2_state *state, const unsigned char *at, struct event *event,
                                 const struct clog2_side **side)
{
    bool big_endian = state->file.preamble.big_endian;
    if (!time_from_seconds(bytes_f64(at, big_endian) + state->shift, &event->time_ns)) {
        record_damage(state, "invalid time (%g s, limit 9e9 s)", bytes_f64(at, big_endian));
        return false;
    }
    if (state->file.header_size != CLOG2_HEADER_SIZE) {
        event->process = bytes_u32(at + 12, big_endian);
        *side = NULL;
        if (event->process < PROCESS_LIMIT)
            return true;
        record_damage(state, "invalid process (%d)", (int)event->process);
        return false;
    }
    int32_t rank = bytes_i32(at + 12, big_endian);
    event->thread = bytes_u32(at + 16, big_endian);
    *side = clog2_side(&state->defs, &state->parts[state->current].defs, bytes_i32(at + 8, big_endian));
    int32_t world = *side ? clog2_side_world_rank(&state->defs, (*side)->comm, rank) : EVENT_UNKNOWN;
    if (world < 0 || event->thread > CLOG2_THREAD_LIMIT) {
        record_damage(state, "invalid process or thread (communicator %d, rank %d, thread %d)",
                      (int)bytes_i32(at + 8, big_endian), (int)rank, (int)event->thread);
        return false;
    }
    event->process = (uint32_t)world;
    event->comm = (*side)->comm;
    return true;
}

/* What an id means is not in the record: enter, leave, single event, counter, as its definition says. */
static inline void event_of_id(struct clog2_state *state, int32_t id, struct event *event)
{
    struct clog2_event_role role = clog2_role(&state->defs, id);
    event->kind = role.kind;
    event->state = role.index;
}

static void message_event(struct clog2_state *state, const unsigned char *body, const struct clog2_side *side,
                          struct event *event)
{
    bool big_endian = state->file.preamble.big_endian;
    int32_t type = bytes_i32(body, big_endian), comm = bytes_i32(body + 4, big_endian);
    int32_t rank = bytes_i32(body + 8, big_endian), bytes = bytes_i32(body + 16, big_endian);
    event->kind = type == CLOG2_SEND ? EVENT_SEND : EVENT_RECEIVE;
    event->tag = bytes_i32(body + 12, big_endian);
    if (type == CLOG2_SEND)
        event->bytes_sent = bytes;
    else
        event->bytes_received = bytes;
    if (!side) { /* before version 02.30: type, tag, partner, communicator, size */
        event->tag = comm;
        if (rank < PROCESS_LIMIT)
            event->partner = rank < 0 ? PARTNER_NONE : rank;
        event->comm = event->partner_comm = defs_find_comm(state->defs.defs, bytes_i32(body + 12, big_endian));
        return;
    }
    event->partner_comm = side->partner_comm;
    /* A merged file names the partner's communicator, which on an inter-communicator is the remote group; a local
       file leaves that to the reader. */
    if (comm != side->id && comm != CLOG2_NO_COMM) {
        int32_t index = defs_find_comm(state->defs.defs, comm);
        if (index != EVENT_UNKNOWN)
            event->partner_comm = index;
    }
    /* Only after the communicator: MPI_PROC_NULL's value may be a rank in no communicator. */
    if (rank == state->defs.proc_null)
        event->partner = PARTNER_NONE;
    else
        event->partner = clog2_side_world_rank(&state->defs, event->partner_comm, rank);
}

static void comm_event(struct clog2_state *state, const unsigned char *body, struct event *event)
{
    bool big_endian = state->file.preamble.big_endian;
    struct clog2_part_defs *part = &state->parts[state->current].defs;
    int32_t step = bytes_i32(body, big_endian);
    if (state->file.header_size != CLOG2_HEADER_SIZE) {
        event->comm = defs_find_comm(state->defs.defs, bytes_i32(body + 4, big_endian));
        event->partner_comm = defs_find_comm(state->defs.defs, bytes_i32(body + 8, big_endian));
        event->value = clog2_early_step(step);
    } else {
        event->value = step;
        event->tag = bytes_i32(body + 8, big_endian);
        event->partner_comm = clog2_comm_of_record(&state->defs, part, bytes_i32(body + 4, big_endian));
    }
    event->kind = event->value == COMM_STEP_FREE ? EVENT_COMM_FREED : EVENT_COMM_MADE;
    if (event->kind == EVENT_COMM_FREED)
        event->partner_comm = EVENT_UNKNOWN;
}

static unsigned words_of(const struct defs *defs, const struct event *event)
{
    if (event->kind == EVENT_MARK)
        return defs->marks[event->state].gives_words;
    if (event->kind <= EVENT_LEAVE)
        return defs->states[event->state].gives_words;
    return 0;
}

/* An event's integer and text, from ALOG or CLOG. */
static void words_event(unsigned words, const unsigned char *cargo, struct batch *batch, struct event *event)
{
    const unsigned char *text = cargo + (words & PAYLOAD_HAS_VALUE ? 8 : 0);
    if (words & PAYLOAD_HAS_VALUE)
        event->value = (int64_t)bytes_u64(cargo, true);
    if (!(words & PAYLOAD_HAS_TEXT))
        return;
    size_t length = (size_t)text[0] << 8 | text[1], room = payload_words_room(words, CLOG2_CARGO_SIZE);
    batch_set_payload(batch, event, text + 2, smaller(length, room));
    event->flags |= length > 0 ? EVENT_PAYLOAD_TEXT : 0;
}

/* Moves the payload of an event into its fields, if the definition says that it has them. */
static void cargo_event(const struct defs *defs, const unsigned char *cargo, struct batch *batch, struct event *event)
{
    bool leave = event->kind == EVENT_LEAVE;
    bool requests = (leave && defs->states[event->state].gives_requests) ||
                    (event->kind == EVENT_MARK && defs->marks[event->state].gives_requests);
    if (leave && defs->states[event->state].gives_moved)
        payload_get_moved(cargo, event);
    else if (requests)
        payload_get_requests(cargo, CLOG2_CARGO_SIZE, event);
    else if (words_of(defs, event))
        words_event(words_of(defs, event), cargo, batch, event);
    else if (event->kind == EVENT_COUNTER) /* cargo is big-endian in files of either order */
        event->value = (int64_t)bytes_u64(cargo, true);
    else
        batch_set_payload(batch, event, cargo, CLOG2_CARGO_SIZE);
}

/* The samples of a record become events, one after the other; `event` stands at the end of the batch and has what they
   share. The last one is left to the caller. False: there is none. */
static bool samples_event(const struct defs *defs, const unsigned char *cargo, struct batch *batch, struct event *event)
{
    struct samples samples;
    struct event base = *event;
    payload_get_samples(cargo, CLOG2_CARGO_SIZE, &samples);
    size_t first = batch->count;
    for (uint32_t i = 0; i < samples.count; i++) {
        if (samples.path[i] > defs->path_count)
            continue;
        struct event *sample = &batch->events[batch->count++];
        *sample = base;
        sample->time_ns = base.time_ns - samples.before_ns[i];
        sample->state = samples.path[i] - 1;
        sample->site = defs->paths[sample->state].site;
        sample->value = samples.ns;
    }
    if (batch->count == first)
        return false;
    batch->count--;
    return true;
}

static bool shift_event(struct clog2_state *state, const unsigned char *body, struct event *event)
{
    double shift = bytes_f64(body, state->file.preamble.big_endian);
    if (!time_from_seconds(shift, &event->value)) {
        record_damage(state, "invalid clock shift (%g s)", shift);
        return false;
    }
    if (!state->file.preamble.finalized) {
        /* A local file's times must still be shifted; a merged file states the negative of the shift applied. */
        state->shift = shift;
        event->value = -event->value;
    }
    event->kind = EVENT_SHIFT;
    return true;
}

/* Translates the record; false if it gives no event. */
static bool record_event(struct clog2_state *state, uint32_t kind, const unsigned char *at, struct batch *batch,
                         struct event *event)
{
    const unsigned char *body = at + state->file.header_size;
    bool big_endian = state->file.preamble.big_endian;
    struct clog2_part_defs *part = &state->parts[state->current].defs;
    const struct clog2_side *side = NULL;
    /* Before the header: the shift is that of the record itself, too. */
    if (kind == CLOG2_SHIFT && !shift_event(state, body, event))
        return false;
    if (!record_header(state, at, event, &side))
        return false;
    if (kind == CLOG2_SHIFT)
        return true;
    if (side && clog2_site_at[kind])
        event->site = clog2_site(&state->defs, bytes_u32(body + clog2_site_at[kind], big_endian));
    switch (kind) {
    case CLOG2_BARE:
        event_of_id(state, bytes_i32(body, big_endian), event);
        /* Samples without cargo: there is none. */
        return event->kind != EVENT_SAMPLE;
    case CLOG2_CARGO:
        event_of_id(state, bytes_i32(body, big_endian), event);
        if (event->kind == EVENT_SAMPLE)
            return samples_event(state->defs.defs, body + 8, batch, event);
        cargo_event(state->defs.defs, body + 8, batch, event);
        return true;
    case CLOG2_MESSAGE:
        if (bytes_i32(body, big_endian) != CLOG2_SEND && bytes_i32(body, big_endian) != CLOG2_RECEIVE) {
            record_damage(state, "message record is neither send nor receive (%d)", (int)bytes_i32(body, big_endian));
            return false;
        }
        message_event(state, body, side, event);
        return true;
    case CLOG2_COLLECTIVE:
        event->kind = EVENT_COLLECTIVE;
        event->value = bytes_i32(body, big_endian);
        /* -1 is our writer's word for what it does not know; MPE has no such records. */
        if (bytes_i32(body + 4, big_endian) != -1)
            event->tag = bytes_i32(body + 4, big_endian);
        if (bytes_i32(body + 8, big_endian) >= 0)
            event->bytes_sent = bytes_i32(body + 8, big_endian);
        return true;
    case CLOG2_COMM:
        comm_event(state, body, event);
        return true;
    case CLOG2_SITE:
        if (clog2_line_is_other(bytes_i32(body + 4, big_endian)))
            return false;
        /* fall through */
    default:
        event->kind = EVENT_DEFINITION;
        return clog2_defs_next_definition(part, kind, event);
    }
}

/* Ends the current part; STATUS_OK: the next one has begun. */
static enum status part_finish(struct reader *reader, struct error *err)
{
    struct clog2_state *state = reader->state;
    for (size_t kind = 0; kind < CLOG2_KINDS; kind++)
        state->kinds[kind] += state->file.counts[kind];
    if (state->current + 1 < state->part_count)
        return part_start(reader, state->current + 1, err);
    static const char *const names[CLOG2_KINDS] = {
        "end of log",          "end of block", "state definition",   "event definition",
        "constant definition", "event",        "event with payload", "message",
        "collective",          "communicator", "source location",    "clock shift"};
    for (size_t kind = 0; kind < CLOG2_KINDS; kind++)
        if (state->kinds[kind])
            reader_count(reader, names[kind], state->kinds[kind]);
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

/* A plain message in the current communicator. False: it is another record, which needs all checks. */
static inline __attribute__((always_inline)) bool
fast_message(const struct clog2_state *state, const struct clog2_side *side, const struct clog2_ranks *ranks,
             const unsigned char *body, const bool big_endian, struct event *event)
{
    int32_t id = bytes_i32(body, big_endian), comm = bytes_i32(body + 4, big_endian);
    uint32_t partner = bytes_u32(body + 8, big_endian);
    if ((id != CLOG2_SEND && id != CLOG2_RECEIVE) || (comm != side->id && comm != CLOG2_NO_COMM) ||
        side->partner_comm != side->comm || partner >= ranks->count || ranks->world[partner] == UINT32_MAX)
        return false;
    event->kind = id == CLOG2_SEND ? EVENT_SEND : EVENT_RECEIVE;
    event->partner_comm = side->comm;
    event->partner = (int32_t)ranks->world[partner];
    event->tag = bytes_i32(body + 12, big_endian);
    *(id == CLOG2_SEND ? &event->bytes_sent : &event->bytes_received) = bytes_i32(body + 16, big_endian);
    if (state->defs.near_sites)
        event->site = clog2_site(&state->defs, bytes_u32(body + 20, big_endian));
    return true;
}

/* The fast path: events and messages of known processes in the communicator used last. These are most of a trace, and
   this loop decides the speed of reading. Anything else is left to the slow path. */
static inline __attribute__((always_inline)) void fast_records(struct clog2_state *state, struct batch *batch,
                                                               const bool big_endian)
{
    struct clog2_file *file = &state->file;
    struct clog2_part_defs *part = &state->parts[state->current].defs;
    size_t room = smaller(input_available(file->input), file->block_left);
    if (!part->have_last || room <= CLOG2_RECORD_MAX)
        return;
    uint64_t before_limit = state->limit - file->input->offset;
    size_t reach = room - CLOG2_RECORD_MAX < before_limit ? room - CLOG2_RECORD_MAX : (size_t)before_limit;
    /* Copies, since the compiler cannot know that storing events does not change them. */
    const struct clog2_ranks ranks = state->defs.ranks[part->last.comm];
    const uint64_t *roles = state->defs.near_roles;
    const struct clog2_side side = part->last;
    const double shift = state->shift;
    const bool sites = state->defs.near_sites != NULL;
    const unsigned char *begin = file->input->at, *at = begin, *end = begin + reach;
    struct event nothing = EVENT_NOTHING, *event = &batch->events[batch->count], *full = &batch->events[BATCH_EVENTS];
    nothing.comm = side.comm;
    uint64_t bare = 0, cargo = 0, messages = 0;
    while (event < full && at < end) {
        uint32_t kind = bytes_u32(at + 20, big_endian);
        uint32_t rank = bytes_u32(at + 12, big_endian), thread = bytes_u32(at + 16, big_endian);
        if (bytes_i32(at + 8, big_endian) != side.id || rank >= ranks.count || ranks.world[rank] == UINT32_MAX ||
            thread > CLOG2_THREAD_LIMIT)
            break;
        int64_t time_ns;
        if (!time_from_seconds(bytes_f64(at, big_endian) + shift, &time_ns))
            break;
        const unsigned char *body = at + CLOG2_HEADER_SIZE;
        int32_t id = bytes_i32(body, big_endian);
        if (kind == CLOG2_BARE || kind == CLOG2_CARGO) {
            uint32_t near = clog2_near(id);
            if (near >= CLOG2_NEAR_COUNT || !roles[near] || (uint8_t)roles[near] == EVENT_SAMPLE + 1)
                break;
            *event = nothing;
            event->kind = (uint8_t)((uint8_t)roles[near] - 1);
            event->state = (uint32_t)(roles[near] >> 8);
            if (sites)
                event->site = clog2_site(&state->defs, bytes_u32(body + 4, big_endian));
            if (kind == CLOG2_CARGO)
                cargo_event(state->defs.defs, body + 8, batch, event);
            at += CLOG2_HEADER_SIZE + (kind == CLOG2_CARGO ? 8 + CLOG2_CARGO_SIZE : 8);
            *(kind == CLOG2_CARGO ? &cargo : &bare) += 1;
        } else if (kind == CLOG2_MESSAGE) {
            *event = nothing;
            if (!fast_message(state, &side, &ranks, body, big_endian, event))
                break;
            at += CLOG2_HEADER_SIZE + 24;
            messages++;
        } else {
            break;
        }
        event->time_ns = time_ns;
        event->process = ranks.world[rank];
        event->thread = thread;
        event++;
    }
    batch->count = (size_t)(event - batch->events);
    file->block_left -= (uint64_t)(at - begin);
    file->counts[CLOG2_BARE] += bare;
    file->counts[CLOG2_CARGO] += cargo;
    file->counts[CLOG2_MESSAGE] += messages;
    input_consume(file->input, (size_t)(at - begin));
}

static enum status clog2_next(struct reader *reader, struct batch *batch, struct error *err)
{
    struct clog2_state *state = reader->state;
    struct clog2_file *file = &state->file;
    while (batch->count + SAMPLES_AT_ONCE <= BATCH_EVENTS) {
        uint32_t kind;
        if (file->input->offset >= state->limit)
            return STATUS_END;
        if (file->header_size == CLOG2_HEADER_SIZE && !file->ended) {
            if (file->preamble.big_endian)
                fast_records(state, batch, true);
            else
                fast_records(state, batch, false);
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
            return STATUS_END;
        struct event *event = &batch->events[batch->count];
        *event = EVENT_NOTHING;
        batch->count += record_event(state, kind, file->input->at, batch, event);
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
    bool ready = part_start(reader, 0, err) == STATUS_OK && clog2_scan(reader, err) == STATUS_OK;
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

static enum status scan_known(struct reader *reader, const struct clog2_known *known, struct error *err)
{
    struct clog2_state *state = reader->state;
    if (scan_ranges(reader, known->ranges, known->count, err) != STATUS_OK ||
        scan_end(state, known->end_of_log, err) != STATUS_OK)
        return STATUS_FAILED;
    clog2_defs_end(&state->defs);
    if (input_rewind(reader->input, err) == STATUS_OK)
        return part_start(reader, 0, err);
    return STATUS_FAILED;
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
        scan_known(reader, known, err) == STATUS_OK)
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

static const struct format_places places = {clog2_can_seek, clog2_seek, clog2_last_block};

const struct format format_clog2 = {.name = "clog2",
                                    .title = "CLOG-2",
                                    .suffix = ".clog2",
                                    .probe = clog2_probe,
                                    .two_passes = true,
                                    .state_size = sizeof(struct clog2_state),
                                    .open = clog2_open,
                                    .next = clog2_next,
                                    .close = clog2_close,
                                    .places = &places};
