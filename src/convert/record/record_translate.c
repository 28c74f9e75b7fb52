/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_translate.h"

#include "convert/record/record_counters.h"
#include "convert/record/record_endings.h"
#include "core/bytes.h"
#include "core/payload.h"

#include <string.h>

static void comm_step(struct batch *batch, const struct event *base, enum comm_step step, int32_t comm, int32_t rank)
{
    struct event *event = record_add_event(batch, base, EVENT_COMM_MADE);
    event->value = step;
    event->partner_comm = comm;
    event->tag = rank;
}

static void comm_events(struct record_state *state, const struct record_stream *stream, struct event *base,
                        struct batch *batch)
{
    const struct record_comm *record = (const struct record_comm *)(const void *)stream->record;
    const struct record_comm_place *place = record_stream_comm(state, stream, record->base.comm);
    const struct record_comm_place *parent = record_stream_comm(state, stream, record->parent);
    uint32_t number = record->base.comm;
    if (!place)
        return;
    /* An unknown parent (a communicator of a program that is not in the trace) counts as the world. */
    base->comm = parent ? parent->comm : 0;
    /* As MPE does, at the begin of each process: by how much its clock was corrected. MPE's sign is that of undoing
       it. */
    if (number == RECORD_WORLD) {
        size_t knot = stream->knot;
        int64_t here_ns = record_clock_ns(record_stream_clock(state, stream), &knot, record->base.ticks);
        const struct record_process *process = record_stream_process(state, stream);
        record_add_event(batch, base, EVENT_SHIFT)->value = -record_run_offset(&state->run, process, here_ns);
        /* Communicator 0 is that of all programs together; each program's MPI_COMM_WORLD is another. */
        if (state->run.program_count > 1)
            comm_step(batch, base, COMM_STEP_WORLD, 0, (int32_t)process->rank);
    }
    if (place->inter == EVENT_UNKNOWN) {
        enum comm_step step = COMM_STEP_INTRA;
        if (place->comm == 0)
            step = COMM_STEP_WORLD;
        else if (number == RECORD_SELF)
            step = COMM_STEP_SELF;
        comm_step(batch, base, step, place->comm, record->rank);
        return;
    }
    comm_step(batch, base, COMM_STEP_INTER, place->inter, record->rank);
    comm_step(batch, base, COMM_STEP_LOCAL, place->comm, record->rank);
    comm_step(batch, base, COMM_STEP_REMOTE, place->partner, -1);
}

static void message_event(struct record_state *state, const struct record_stream *stream, const struct defs *defs,
                          struct event *base, struct batch *batch)
{
    const struct record_message *record = (const struct record_message *)(const void *)stream->record;
    const struct record_comm_place *place = record_stream_comm(state, stream, record->base.comm);
    if (!place && state->run.files[stream->file].kept) {
        state->lost_messages++;
        return;
    }
    /* The partner is in a program that is not in the trace: it has no number. */
    if (!place || place->foreign) {
        state->foreign++;
        return;
    }
    bool send = record->base.kind == RECORD_SEND;
    struct event *event = record_add_event(batch, base, send ? EVENT_SEND : EVENT_RECEIVE);
    event->partner_comm = place->partner;
    event->partner = record_partner(defs, place, record->partner);
    event->tag = record->tag;
    if (send)
        event->bytes_sent = record_bytes(record->bytes);
    else
        event->bytes_received = record_bytes(record->bytes);
}

static void set_moved(struct event *event, const struct record_current *current)
{
    event->tag = current->root == -1 ? EVENT_UNKNOWN : current->root;
    event->bytes_sent = record_bytes(current->sent);
    event->bytes_received = record_bytes(current->received);
}

/* Turns the call's last requests into a mark. */
static void request_mark(struct record_state *state, struct record_current *current, const struct event *base,
                         struct batch *batch)
{
    if (current->requests == 0 || !state->run.request_mark)
        return;
    struct event *event = record_add_event(batch, base, EVENT_MARK);
    event->comm = 0;
    event->site = 0;
    event->state = state->run.request_mark - 1;
    event->request = current->request;
    event->requests = current->requests;
    current->requests = 0;
}

static void note_enter(struct record_current *current, uint64_t position, uint32_t comm)
{
    if (current->last.open) {
        if (current->inside < OUTER_CALLS)
            current->outer[current->inside].call = current->last;
        current->inside++;
    }
    current->last = (struct record_last_call){position, comm, true};
}

/* Returns the site of the call that goes on; 0: none, or not known. */
static uint32_t note_leave(struct record_current *current)
{
    if (current->inside == 0) {
        current->last.open = false;
        return 0;
    }
    if (--current->inside >= OUTER_CALLS)
        return 0;
    current->last = current->outer[current->inside].call;
    return current->outer[current->inside].site;
}

static void state_event(struct record_state *state, const struct record_stream *stream, const struct defs *defs,
                        const struct event *base, struct batch *batch)
{
    const struct record_base *record = stream->record;
    uint32_t index = record->state < RECORD_FUNCTIONS_MAX ? state->run.states[record->state] : UINT32_MAX;
    struct record_current *current = &state->current[stream->file];
    bool leave = record->kind == RECORD_LEAVE;
    /* Kept for processes that do not reach MPI_Finalize: what their last call waits for refers to it by its place in
       the file. */
    uint32_t outer_site = 0;
    if (leave)
        outer_site = note_leave(current);
    else
        note_enter(current, record_file_position(&state->run.files[stream->file]), record->comm);
    if (index == UINT32_MAX)
        return;
    /* A function whose leave has no place for requests (MPI_Sendrecv, MPI_Comm_idup) has them as a mark inside. */
    if (leave && !defs->states[index].gives_requests)
        request_mark(state, current, base, batch);
    struct event *event = record_add_event(batch, base, leave ? EVENT_LEAVE : EVENT_ENTER);
    event->state = index;
    /* Of this call and no other: a damaged file may lack the leave in between. */
    if (current->moved && leave && current->state == record->state)
        set_moved(event, current);
    if (leave) {
        event->request = current->requests ? current->request : 0;
        event->requests = current->requests;
        current->site = outer_site;
    }
    current->moved = false;
    current->requests = 0;
}

/* States and events that the program defined through MPE's functions, with ids of its own. */
static void user_event(struct record_state *state, const struct record_stream *stream, const struct event *base,
                       struct batch *batch)
{
    const struct record_base *record = stream->record;
    if (!state->run.files[stream->file].header.user_events)
        return;
    /* The field of the communicator holds the id of the event. */
    struct record_role role = record_run_role(&state->run, record->comm);
    struct event *event = record_add_event(batch, base, (enum event_kind)(role.kind - 1));
    event->comm = 0; /* the world */
    event->state = role.index;
    size_t length = (size_t)record->words * 8 - sizeof *record;
    if (length > 0)
        batch_set_payload(batch, event, record + 1, length);
}

static void note_moved(struct record_state *state, const struct record_stream *stream)
{
    const struct record_collective *record = (const struct record_collective *)(const void *)stream->record;
    struct record_current *current = &state->current[stream->file];
    current->moved = true;
    current->state = record->base.state;
    current->root = record->root;
    current->sent = record->sent;
    current->received = record->received;
}

static void note_requests(struct record_state *state, const struct record_stream *stream, const struct event *base,
                          struct batch *batch)
{
    struct record_current *current = &state->current[stream->file];
    uint32_t first = stream->record->comm, count = stream->record->state;
    request_mark(state, current, base, batch);
    if (first == 0 || first > INT32_MAX - REQUESTS_AT_ONCE_MAX || count > REQUESTS_AT_ONCE_MAX)
        return;
    current->request = first;
    current->requests = count;
}

/* The calls that make a topology record it: who exchanges with whom in neighbourhood collectives. */
static void neighbours_event(struct record_state *state, const struct record_stream *stream, struct event *base,
                             struct batch *batch)
{
    const struct record_neighbours *record = (const struct record_neighbours *)(const void *)stream->record;
    struct neighbours neighbours = {.way = record->way};
    unsigned char payload[NEIGHBOURS_MARK_SIZE];
    if (!state->run.neighbours_mark || !record_stream_comm(state, stream, record->base.comm))
        return;
    memcpy(neighbours.ranks, record->ranks, sizeof neighbours.ranks);
    payload_put_neighbours(payload, &neighbours);
    struct event *event = record_add_event(batch, base, EVENT_NEIGHBOURS);
    event->state = state->run.neighbours_mark - 1;
    batch_set_payload(batch, event, payload, sizeof payload);
}

static void ranks_event(struct record_state *state, const struct record_stream *stream, const struct event *base,
                        struct batch *batch)
{
    const struct record_ranks *record = (const struct record_ranks *)(const void *)stream->record;
    unsigned char payload[RANKS_MARK_SIZE];
    if (!state->run.ranks_mark)
        return;
    bytes_put_i32(payload, true, record->first);
    bytes_put_i32(payload + 4, true, record->last);
    bytes_put_i32(payload + 8, true, record->step);
    bytes_put_u32(payload + 12, true, record->lock);
    struct event *event = record_add_event(batch, base, EVENT_MARK);
    event->state = state->run.ranks_mark - 1;
    batch_set_payload(batch, event, payload, sizeof payload);
}

bool record_is_whole(const struct record_base *record)
{
    static const uint8_t sizes[] = {[RECORD_ENTER_AT] = sizeof(struct record_enter),
                                    [RECORD_SEND] = sizeof(struct record_message),
                                    [RECORD_RECEIVE] = sizeof(struct record_message),
                                    [RECORD_COLLECTIVE] = sizeof(struct record_collective),
                                    [RECORD_COMM] = sizeof(struct record_comm),
                                    [RECORD_NEIGHBOURS] = sizeof(struct record_neighbours),
                                    [RECORD_RANKS] = sizeof(struct record_ranks),
                                    [RECORD_RESOURCES] = offsetof(struct record_resources, asleep_ns),
                                    [RECORD_MACHINE] = sizeof(struct record_machine),
                                    [RECORD_COUNTER] = sizeof(struct record_counter)};
    return record->kind >= sizeof sizes || (size_t)record->words * 8 >= sizes[record->kind];
}

uint32_t record_site(const struct record_state *state, const struct record_stream *stream)
{
    const struct record_enter *enter = (const struct record_enter *)(const void *)stream->record;
    const struct record_file *file = &state->run.files[stream->file];
    uint32_t place = enter->site < file->site_count ? file->sites[enter->site].place : 0;
    if (place)
        return state->run.places[place - 1].site;
    return 0;
}

/* Only a damaged file has other kinds: they are passed over. */
static inline void record_events(struct record_state *state, const struct record_stream *stream,
                                 const struct defs *defs, struct event *base, struct batch *batch)
{
    switch (stream->record->kind) {
    case RECORD_ENTER:
    case RECORD_ENTER_AT:
    case RECORD_LEAVE:
        if (record_openmp_is(stream->record->state)) {
            record_openmp_events(&state->run, stream->file, stream->record, base, state->openmp, &state->openmp_end,
                                 batch);
            state->current[stream->file].site = 0;
            break;
        }
        state_event(state, stream, defs, base, batch);
        break;
    case RECORD_SEND:
    case RECORD_RECEIVE:
        message_event(state, stream, defs, base, batch);
        break;
    case RECORD_COLLECTIVE:
        note_moved(state, stream);
        break;
    case RECORD_REQUESTS:
        note_requests(state, stream, base, batch);
        break;
    case RECORD_NEIGHBOURS:
        neighbours_event(state, stream, base, batch);
        break;
    case RECORD_RANKS:
        ranks_event(state, stream, base, batch);
        break;
    case RECORD_RESOURCES:
        record_resources_events(state, stream, base, batch);
        break;
    case RECORD_COUNTER:
        record_counter_event(state, stream, base, batch);
        break;
    case RECORD_MACHINE:
        record_machine_events(state, stream, base, batch);
        break;
    case RECORD_SAMPLE:
        record_sample_event(state, stream, defs, base, batch);
        break;
    case RECORD_USER_EVENT:
        user_event(state, stream, base, batch);
        break;
    case RECORD_COMM:
        comm_events(state, stream, base, batch);
        break;
    case RECORD_COMM_FREED:
        record_add_event(batch, base, EVENT_COMM_FREED)->value = COMM_STEP_FREE;
        break;
    default:
        break;
    }
}

/* Seconds since the run began, with what is left out. */
static double gap_time(const struct record_state *state, const struct record_stream *stream, int64_t ticks)
{
    const struct record_process *process = &state->run.processes[state->run.process_of[stream->file]];
    size_t knot = 0;
    int64_t here_ns = record_clock_ns(record_stream_clock(state, stream), &knot, ticks);
    return (double)(here_ns + record_run_offset(&state->run, process, here_ns) - state->begin_ns) / 1e9;
}

/* Something is left out before this record. */
static void gap_event(struct record_state *state, const struct record_stream *stream, const struct event *base,
                      struct batch *batch)
{
    struct record_kept_stream *kept = state->run.files[stream->file].kept;
    if (!kept || !kept->gap || kept->outside)
        return;
    kept->gap = false;
    state->current[stream->file] = (struct record_current){0};
    if (!state->run.gap_mark)
        return;
    unsigned char payload[GAP_MARK_SIZE];
    struct record_gap gap = record_kept_gap(kept);
    bytes_put_u64(payload, true, gap.events);
    bytes_put_f64(payload + 8, true, gap_time(state, stream, gap.from_ticks));
    bytes_put_f64(payload + 16, true, gap_time(state, stream, gap.to_ticks));
    struct event *event = record_add_event(batch, base, EVENT_MARK);
    event->comm = 0;
    event->state = state->run.gap_mark - 1;
    batch_set_payload(batch, event, payload, sizeof payload);
}

static void ended_event(struct record_state *state, const struct record_stream *stream, const struct event *base,
                        struct batch *batch)
{
    uint32_t mark = state->run.ended_marks[state->run.files[stream->file].header.reason];
    if (mark)
        record_add_event(batch, base, EVENT_MARK)->state = mark - 1;
}

void record_translate(struct reader *reader, const struct record_stream *stream, struct batch *batch)
{
    struct record_state *state = reader->state;
    const struct record_base *record = stream->record;
    struct event base = EVENT_NOTHING;
    base.time_ns = stream->time_ns;
    base.process = state->run.files[stream->file].process;
    base.thread = state->run.files[stream->file].header.thread;
    const struct record_comm_place *place = record_stream_comm(state, stream, record ? record->comm : 0);
    base.comm = place ? place->comm : 0;
    if (!record) {
        ended_event(state, stream, &base, batch);
        record_died_events(state, stream, reader->defs, batch);
        return;
    }
    if (!record_is_whole(record))
        return;
    gap_event(state, stream, &base, batch);
    /* Messages and the leave happen at the place of the call that is open. */
    struct record_current *current = &state->current[stream->file];
    bool enters = record->kind == RECORD_ENTER || record->kind == RECORD_ENTER_AT;
    /* In a callback: the call that it is in goes on at its place afterwards. */
    if (enters && !record_openmp_is(record->state) && current->last.open && current->inside < OUTER_CALLS)
        current->outer[current->inside].site = current->site;
    if (record->kind == RECORD_ENTER_AT)
        current->site = record_site(state, stream);
    else if (record->kind == RECORD_ENTER)
        current->site = 0;
    if (record->kind <= RECORD_RECEIVE)
        base.site = current->site;
    record_events(state, stream, reader->defs, &base, batch);
}
