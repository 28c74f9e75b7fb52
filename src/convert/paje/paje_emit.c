/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a line. */
#include "convert/paje/paje_state.h"

#include "core/memory.h"

#include <string.h>

/* A line that sets a state may leave thousands. Once an event has queued, all others must queue, too. */
static inline struct event *place_for_event(struct paje_state *state, struct batch *batch)
{
    if (batch->count < BATCH_EVENTS && state->queue_count == 0)
        return &batch->events[batch->count++];
    ARRAY_RESERVE(state->queue, state->queue_capacity, state->queue_count + 1);
    return &state->queue[state->queue_count++];
}

static void push(struct paje_state *state, struct batch *batch, const struct event *event)
{
    *place_for_event(state, batch) = *event;
}

void paje_drain(struct paje_state *state, struct batch *batch)
{
    while (state->queue_at < state->queue_count && batch->count < BATCH_EVENTS)
        batch->events[batch->count++] = state->queue[state->queue_at++];
    if (state->queue_at == state->queue_count)
        state->queue_at = state->queue_count = 0;
}

static void push_state(struct paje_state *state, struct batch *batch, const struct paje_lane *lane,
                       enum event_kind kind, uint32_t what, int64_t time_ns)
{
    struct event *event = place_for_event(state, batch);
    *event = EVENT_NOTHING;
    event->kind = (uint8_t)kind;
    event->process = state->container[lane->container].process;
    event->thread = lane->thread;
    event->state = what;
    event->time_ns = time_ns;
}

static void leave_all(struct paje_state *state, struct batch *batch, struct paje_lane *lane, int64_t time_ns)
{
    while (lane->count > 0)
        push_state(state, batch, lane, EVENT_LEAVE, lane->open[--lane->count], time_ns);
}

static const char *enter(struct paje_state *state, struct batch *batch, struct paje_lane *lane, uint32_t what,
                         int64_t time_ns)
{
    /* The first pass has made every state; that one is missing now means that definitions changed between the
       passes. */
    if (what == PAJE_NONE)
        return "a state whose value has changed its meaning";
    if (lane->count >= DEPTH_LIMIT)
        return "more than 10,000 states are open at once";
    ARRAY_PUSH(lane->open, lane->count, lane->capacity, what);
    push_state(state, batch, lane, EVENT_ENTER, what, time_ns);
    return NULL;
}

/* Pop and reset end what is open, set replaces it: the format names no state at its end. */
static const char *change_state(struct paje_state *state, struct batch *batch, struct paje_lane *lane, uint32_t what,
                                int64_t time_ns)
{
    switch (state->record.def->kind) {
    case PAJE_PUSH_STATE:
        return enter(state, batch, lane, what, time_ns);
    case PAJE_POP_STATE:
        if (lane->count > 0)
            push_state(state, batch, lane, EVENT_LEAVE, lane->open[--lane->count], time_ns);
        else
            state->stray++;
        return NULL;
    /* The specification: it replaces what is on the stack, all of it. */
    case PAJE_SET_STATE:
        leave_all(state, batch, lane, time_ns);
        return enter(state, batch, lane, what, time_ns);
    default:
        leave_all(state, batch, lane, time_ns);
        return NULL;
    }
}

static const char *emit_state(struct reader *reader, struct batch *batch, uint32_t container, uint32_t type,
                              int64_t time_ns)
{
    struct paje_state *state = reader->state;
    struct paje_lane *lane = paje_lane(state, container, type);
    uint32_t what = PAJE_NONE;
    if (state->record.has & 1u << FIELD_VALUE)
        what = paje_state_of(state, reader->defs, type, state->record.word[FIELD_VALUE]);
    paje_known_keep(&state->known_lines, (uint32_t)(lane - state->lane), what);
    return change_state(state, batch, lane, what, time_ns);
}

/* What is open in a container ends with it; but not a call of MPI, which has not come back. */
static void close_lane(const struct reader *reader, struct batch *batch, struct paje_lane *lane, int64_t time_ns)
{
    struct paje_state *state = reader->state;
    for (; lane->count > 0; lane->count--)
        if (!reader->defs->states[lane->open[lane->count - 1]].is_mpi)
            push_state(state, batch, lane, EVENT_LEAVE, lane->open[lane->count - 1], time_ns);
}

static const char *destroy(struct reader *reader, struct batch *batch, int64_t time_ns)
{
    struct paje_state *state = reader->state;
    uint32_t container = paje_destroy(state);
    if (container == PAJE_NONE)
        return "the end of a container that is not there";
    const struct paje_container *of = &state->container[container];
    /* Lanes of a container are a chain that begins with its first one. */
    for (uint32_t i = of->lane_type == PAJE_NONE ? PAJE_NONE : of->lane; i != PAJE_NONE; i = state->lane[i].next)
        close_lane(reader, batch, &state->lane[i], time_ns);
    return NULL;
}

static struct event event_at(const struct paje_container *container, enum event_kind kind, int64_t time_ns)
{
    struct event event = EVENT_NOTHING;
    event.kind = (uint8_t)kind;
    event.process = container->process;
    event.thread = container->thread;
    event.time_ns = time_ns;
    return event;
}

static bool take_part(const char **at, const char *end, int64_t *number)
{
    bool negative = text_take(at, end, '-');
    uint64_t size;
    if (!text_take_u64(at, end, &size) || size > INT32_MAX)
        return false;
    *number = negative ? -(int64_t)size : (int64_t)size;
    return true;
}

/* SimGrid's keys are "source_destination_tag_number", with processes counted from 1; what is below 0 is MPI_PROC_NULL
   or a wildcard. */
static void read_simgrid_key(const struct reader *reader, struct paje_word key, struct event *event)
{
    /* SimGrid's own constants, shifted by its counting from 1. -444 and -555 stand for any tag and any source. */
    enum { PROC_NULL = -666, SENT_TO_NULL = -1, SOURCE = 0, DESTINATION, TAG, NUMBER, PARTS };
    int64_t part[PARTS];
    const char *at = key.at, *end = key.at + key.length;
    for (size_t i = 0; i < PARTS; i++)
        if ((i > 0 && !text_take(&at, end, '_')) || !take_part(&at, end, &part[i]))
            return;
    if (at != end)
        return;
    int64_t partner = part[event->kind == EVENT_SEND ? DESTINATION : SOURCE];
    int64_t null = event->kind == EVENT_SEND ? SENT_TO_NULL : PROC_NULL;
    /* The containers of the link's two ends, if both are there, say more than its key. */
    if (event->partner == EVENT_UNKNOWN && partner > 0 && partner <= reader->defs->processes)
        event->partner = (int32_t)partner - 1;
    else if (event->partner == EVENT_UNKNOWN && partner == null)
        event->partner = PARTNER_NONE;
    if (part[TAG] >= 0)
        event->tag = (int32_t)part[TAG];
}

/* The two ends are separate events, each at its own container: a link may begin on one process and end on
   another. */
static void emit_link(struct reader *reader, struct batch *batch, const struct paje_container *container,
                      const struct paje_other_end *other, int64_t time_ns)
{
    struct paje_state *state = reader->state;
    bool starts = state->record.def->kind == PAJE_START_LINK;
    struct event event = event_at(container, starts ? EVENT_SEND : EVENT_RECEIVE, time_ns);
    if (other && state->container[other->container].process != PAJE_NONE)
        event.partner = (int32_t)state->container[other->container].process;
    if (starts)
        event.bytes_sent = paje_link_bytes(&state->record);
    else if (other)
        event.bytes_received = other->bytes;
    if (state->simgrid)
        read_simgrid_key(reader, state->record.word[FIELD_KEY], &event);
    push(state, batch, &event);
}

static const char *emit_mark(struct reader *reader, struct batch *batch, const struct paje_container *container,
                             uint32_t type, int64_t time_ns)
{
    struct paje_state *state = reader->state;
    struct event event = event_at(container, EVENT_MARK, time_ns);
    event.state = paje_mark_of(state, reader->defs, type, state->record.word[FIELD_VALUE]);
    if (event.state == PAJE_NONE)
        return "an event whose value has changed its meaning";
    push(state, batch, &event);
    return NULL;
}

/* Variables are given as they are after the change. Events have counters as they are after the change, whatever the
   trace gives: set, added or subtracted. */
static const char *emit_variable(struct reader *reader, struct batch *batch, uint32_t container, uint32_t type,
                                 int64_t time_ns)
{
    struct paje_state *state = reader->state;
    struct event event = event_at(&state->container[container], EVENT_COUNTER, time_ns);
    double number, total;
    if (!paje_number(state->record.word[FIELD_VALUE], &number))
        return "a variable whose value is no number";
    uint64_t *bits = map_put(&state->totals, map_pair(container, type), 0);
    memcpy(&total, bits, sizeof total);
    uint8_t kind = state->record.def->kind;
    if (kind == PAJE_SET_VARIABLE)
        total = number;
    else
        total += kind == PAJE_ADD_VARIABLE ? number : -number;
    if (!isfinite(total))
        return "a variable that leaves all numbers";
    memcpy(bits, &total, sizeof total);
    event.state = paje_counter_of(state, reader->defs, type);
    event_set_double(&event, total);
    if (!state->type[type].fraction)
        /* llrint of more is undefined. */
        event.value = total >= -9e18 && total <= 9e18 ? llrint(total) : 0;
    push(state, batch, &event);
    return NULL;
}

static const char *emit_at(struct reader *reader, struct batch *batch, const struct paje_place *place, int64_t time_ns)
{
    struct paje_state *state = reader->state;
    const struct paje_container *container = &state->container[place->container];
    switch (place->what) {
    case PAJE_HAS_STATES:
        return emit_state(reader, batch, place->container, place->type, time_ns);
    case PAJE_HAS_EVENTS:
        return emit_mark(reader, batch, container, place->type, time_ns);
    case PAJE_HAS_VARIABLES:
        return emit_variable(reader, batch, place->container, place->type, time_ns);
    default:
        return NULL;
    }
}

enum status paje_emit(struct reader *reader, struct batch *batch, const char **wrong, struct error *err)
{
    struct paje_state *state = reader->state;
    uint8_t kind = state->record.def->kind;
    struct paje_place place;
    int64_t time_ns;
    *wrong = NULL;
    if (kind <= PAJE_DESTROY)
        paje_known_forget(&state->known_lines);
    if (kind <= PAJE_LINK_TYPE)
        *wrong = paje_define_type(state);
    else if (kind == PAJE_VALUE)
        *wrong = paje_define_value(state);
    if (kind <= PAJE_VALUE || kind == PAJE_OTHER)
        return STATUS_OK;
    if (!paje_time(state->record.word[FIELD_TIME], &time_ns)) {
        *wrong = "a time that is no number of seconds";
        return STATUS_OK;
    }
    if (state->known && kind < PAJE_START_LINK) {
        *wrong = change_state(state, batch, &state->lane[state->known->lane], state->known->state, time_ns);
        return STATUS_OK;
    }
    if (kind == PAJE_CREATE || kind == PAJE_DESTROY) {
        *wrong = kind == PAJE_CREATE ? paje_create(state) : destroy(reader, batch, time_ns);
        return STATUS_OK;
    }
    if (state->known)
        place = (struct paje_place){.what = PAJE_HAS_LINKS, .type = PAJE_NONE, .container = state->known->lane};
    else if ((*wrong = paje_place(state, &place)))
        return STATUS_OK;
    else if (place.what == PAJE_HAS_LINKS)
        paje_known_keep_link(&state->known_lines, &state->record, place.container, paje_link_begin(&state->record));
    const struct paje_other_end *other = NULL;
    /* In the order of the file: the sorter gives the other ends in that order, too. */
    if (place.what == PAJE_HAS_LINKS && paje_links_next(&state->links, state->byte, &other, err) != STATUS_OK)
        return STATUS_FAILED;
    /* Variables and events of containers above processes (a machine's load) belong to no process. */
    if (state->container[place.container].process == PAJE_NONE)
        state->homeless++;
    else if (place.what == PAJE_HAS_LINKS)
        emit_link(reader, batch, &state->container[place.container], other, time_ns);
    else
        *wrong = emit_at(reader, batch, &place, time_ns);
    return STATUS_OK;
}
