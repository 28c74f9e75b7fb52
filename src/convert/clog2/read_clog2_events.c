/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/read_clog2_events.h"

#include "convert/clog2/clog2_sites.h"
#include "core/numbers.h"
#include "core/payload.h"

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

bool clog2_record_event(struct clog2_state *state, uint32_t kind, const unsigned char *at, struct batch *batch,
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

/* An event of an id that is near and defined. False: it needs all checks. */
static inline __attribute__((always_inline)) bool fast_event(const struct clog2_state *state, const uint64_t *roles,
                                                             const unsigned char *body, const bool big_endian,
                                                             struct event *event)
{
    uint32_t near = clog2_near(bytes_i32(body, big_endian));
    if (near >= CLOG2_NEAR_COUNT || !roles[near] || (uint8_t)roles[near] == EVENT_SAMPLE + 1)
        return false;
    event->kind = (uint8_t)((uint8_t)roles[near] - 1);
    event->state = (uint32_t)(roles[near] >> 8);
    if (state->defs.near_sites)
        event->site = clog2_site(&state->defs, bytes_u32(body + 4, big_endian));
    return true;
}

/* The fast path: events and messages of known processes in the communicator used last. These are most of a trace, and
   this loop decides the speed of reading. Anything else is left to the slow path. */
static inline __attribute__((always_inline)) void fast_records(struct clog2_state *state, struct batch *batch,
                                                               const bool big_endian, const bool selecting)
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
    const unsigned char *begin = file->input->at, *at = begin, *end = begin + reach;
    struct event nothing = EVENT_NOTHING, *event = &batch->events[batch->count], *full = &batch->events[BATCH_EVENTS];
    nothing.comm = side.comm;
    uint64_t counts[CLOG2_KINDS] = {0};
    while (event < full && at < end) {
        uint32_t kind = bytes_u32(at + 20, big_endian);
        uint32_t rank = bytes_u32(at + 12, big_endian), thread = bytes_u32(at + 16, big_endian);
        if (!clog2_is_plain_event(kind) || bytes_i32(at + 8, big_endian) != side.id || rank >= ranks.count ||
            ranks.world[rank] == UINT32_MAX || thread > CLOG2_THREAD_LIMIT)
            break;
        if (!selecting || clog2_selects(state, ranks.world[rank])) {
            const unsigned char *body = at + CLOG2_HEADER_SIZE;
            *event = nothing;
            if (!time_from_seconds(bytes_f64(at, big_endian) + shift, &event->time_ns) ||
                !(kind == CLOG2_MESSAGE ? fast_message(state, &side, &ranks, body, big_endian, event)
                                        : fast_event(state, roles, body, big_endian, event)))
                break;
            if (kind == CLOG2_CARGO)
                cargo_event(state->defs.defs, body + 8, batch, event);
            event->process = ranks.world[rank];
            event->thread = thread;
            event++;
        }
        counts[kind]++;
        at += file->sizes[kind];
    }
    batch->count = (size_t)(event - batch->events);
    file->block_left -= (uint64_t)(at - begin);
    file->counts[CLOG2_BARE] += counts[CLOG2_BARE];
    file->counts[CLOG2_CARGO] += counts[CLOG2_CARGO];
    file->counts[CLOG2_MESSAGE] += counts[CLOG2_MESSAGE];
    input_consume(file->input, (size_t)(at - begin));
}

void clog2_fast_events(struct clog2_state *state, struct batch *batch)
{
    bool big_endian = state->file.preamble.big_endian;
    if (state->selecting)
        fast_records(state, batch, big_endian, true);
    else if (big_endian)
        fast_records(state, batch, true, false);
    else
        fast_records(state, batch, false, false);
}
