/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a .prv in order of time: those of its records merged with those from the sorter. */
#include "convert/paraver/paraver_state.h"

#include "core/event_pack.h"
#include "core/memory.h"
#include "core/varint.h"

#include <string.h>

/* So many ends of messages at one ns are absurd; beyond, their order within the ns is given up instead of memory. */
enum { DUE_MOST = 4096 };

/* A line may have more events than fit into a batch. Once one has queued, all others must queue, too. */
static void push(struct paraver_state *state, struct batch *batch, const struct event *event)
{
    if (batch->count < BATCH_EVENTS && state->queue_count == 0 && !state->holds)
        batch->events[batch->count++] = *event;
    else
        ARRAY_PUSH(state->queue, state->queue_count, state->queue_capacity, *event);
}

void paraver_drain(struct paraver_state *state, struct batch *batch)
{
    if (state->held)
        return;
    while (state->queue_at < state->queue_count && batch->count < BATCH_EVENTS)
        batch->events[batch->count++] = state->queue[state->queue_at++];
    if (state->queue_at == state->queue_count)
        state->queue_at = state->queue_count = 0;
}

bool paraver_release(struct paraver_state *state, struct batch *batch, bool at_end)
{
    if (!state->held || (!at_end && state->record.time_ns <= state->held_ns))
        return true;
    state->held = false;
    paraver_drain(state, batch);
    return state->queue_count == 0;
}

static void unpack_head(struct paraver_state *state, struct sort_key key, const unsigned char *packed)
{
    const unsigned char *at = packed + 1;
    struct event *event = &state->head.event;
    *event = EVENT_NOTHING;
    state->head.is_state = *packed != 0;
    event->process = (uint32_t)varint_get(&at);
    event_unpack(event, at);
    event->time_ns = (int64_t)(key.major ^ UINT64_C(1) << 63);
}

/* Makes the sorter's next event the head. STATUS_END: there is none. Paraver's state records are sorted as they
   come; whether they are wanted is known only at the end of the first pass. */
static enum status fill_head(struct paraver_state *state, struct error *err)
{
    while (!state->has_head && !state->sorted_ended) {
        struct sort_key key;
        const void *data;
        size_t length;
        enum status status = sorter_next(state->sorted, &key, &data, &length, err);
        if (status == STATUS_FAILED)
            return status;
        state->sorted_ended = status == STATUS_END;
        if (state->sorted_ended)
            break;
        unpack_head(state, key, data);
        if (state->head.is_state && state->has_mpi)
            continue;
        if (state->head.is_state)
            state->head.event.state = paraver_state_of(&state->names, 0, state->head.event.state, 0);
        state->has_head = true;
    }
    if (state->has_head)
        return STATUS_OK;
    return STATUS_END;
}

static struct paraver_stack *stack_of(struct paraver_state *state, uint32_t process, uint32_t thread)
{
    uint64_t *index = map_put(&state->stacks, map_pair(process, thread), state->stack_count);
    if (*index == state->stack_count)
        ARRAY_PUSH(state->stack, state->stack_count, state->stack_capacity, (struct paraver_stack){0});
    return &state->stack[*index];
}

/* An end of a message, in the innermost call of MPI that is open, or the state of a trace that has no calls. */
static void push_sorted(struct paraver_state *state, struct batch *batch, const struct event *event)
{
    push(state, batch, event);
    if (event->kind != EVENT_SEND && event->kind != EVENT_RECEIVE)
        return;
    const struct paraver_stack *stack = stack_of(state, event->process, event->thread);
    size_t i = stack->count;
    while (i > 0 && !paraver_type_is_mpi(stack->open[i - 1].type))
        i--;
    if (i == 0)
        return;
    stack->open[i - 1].sent |= event->kind == EVENT_SEND;
    stack->open[i - 1].received |= event->kind == EVENT_RECEIVE;
}

static void flush_due(struct paraver_state *state, struct batch *batch)
{
    for (size_t i = 0; i < state->due_count; i++)
        push_sorted(state, batch, &state->due[i]);
    state->due_count = 0;
}

/* Emits the sorter's events before this time; those at this time become due. STATUS_END: the batch is full, and
   there is more. */
static enum status merge_until(struct paraver_state *state, struct batch *batch, int64_t time_ns, struct error *err)
{
    enum status status;
    /* Nothing at their time can still come. */
    if (state->due_count > 0 && time_ns > state->due_ns)
        flush_due(state, batch);
    while ((status = fill_head(state, err)) == STATUS_OK && state->head.event.time_ns <= time_ns) {
        /* The queue would grow with the trace: millions of messages may lie between two events. */
        if (batch->count == BATCH_EVENTS)
            return STATUS_END;
        state->has_head = false;
        /* At the same time as an event, the order depends on what the event is (flush_call): Extrae's times of a
           message are those of the call that sent or received it. */
        if (state->head.event.time_ns < time_ns || state->due_count >= DUE_MOST) {
            push_sorted(state, batch, &state->head.event);
        } else {
            state->due_ns = time_ns;
            ARRAY_PUSH(state->due, state->due_count, state->due_capacity, state->head.event);
        }
    }
    if (status == STATUS_FAILED)
        return status;
    return STATUS_OK;
}

/* True if the call, which ends, may have an end of a message at its end. Extrae's messages leave where their call
   begins and arrive where it ends, but others', and times that are rounded, have either at either. */
static bool ends_with(const struct state_def *state, const struct paraver_open *call, uint8_t kind, bool empty)
{
    bool sends = kind == EVENT_SEND;
    if (!state->is_mpi)
        return !sends || empty;
    switch (state->class) {
    case CLASS_P2P:
        if (sends)
            return state->direction == DIRECTION_SEND &&
                   (!call->sent || (empty && strcmp(state->name, "MPI_Startall") == 0));
        return !call->received && (state->direction == DIRECTION_RECEIVE || strstr(state->name, "sendrecv") ||
                                   strstr(state->name, "Sendrecv"));
    case CLASS_PROBE:
    case CLASS_LOCAL:
    case CLASS_SETUP:
    case CLASS_SYNC:
        return false;
    default:
        return !sends || empty;
    }
}

/* A call ends: what of the messages at this time is its own. The others are of a call that begins. */
static void flush_call(const struct reader *reader, struct batch *batch, struct paraver_open *call)
{
    struct paraver_state *state = reader->state;
    const struct state_def *def = &reader->defs->states[call->state];
    bool empty = call->time_ns == state->record.time_ns;
    size_t left = 0;
    for (size_t i = 0; i < state->due_count; i++) {
        const struct event *event = &state->due[i];
        bool here = event->process == state->record.at.process && event->thread == state->record.at.thread;
        bool message = event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE;
        if (here && message && ends_with(def, call, event->kind, empty)) {
            push(state, batch, event);
            call->sent |= event->kind == EVENT_SEND;
            call->received |= event->kind == EVENT_RECEIVE;
        } else {
            state->due[left++] = *event;
        }
    }
    state->due_count = left;
}

static struct event record_event(const struct paraver_record *record, enum event_kind kind)
{
    struct event event = EVENT_NOTHING;
    event.kind = (uint8_t)kind;
    event.process = record->at.process;
    event.thread = record->at.thread;
    event.time_ns = record->time_ns;
    return event;
}

/* The collective operation, of which the record that enters the call has the details. On the record that enters the
   call: sizes, communicator, and the mark of the root. */
static void emit_collective(struct reader *reader, struct batch *batch)
{
    struct paraver_state *state = reader->state;
    struct event event = record_event(&state->record, EVENT_COLLECTIVE);
    bool any = false, root = false;
    int32_t id;
    for (size_t i = 0; i < state->record.pair_count; i++) {
        const struct paraver_pair *pair = &state->record.pairs[i];
        any |= paraver_pair_is_moved(pair);
        if (pair->type == PARAVER_BYTES_SENT && pair->value <= INT64_MAX)
            event.bytes_sent = (int64_t)pair->value;
        else if (pair->type == PARAVER_BYTES_RECEIVED && pair->value <= INT64_MAX)
            event.bytes_received = (int64_t)pair->value;
        else if (pair->type == PARAVER_ROOT)
            /* Only the root says that it is: on other processes the root is unknown, since nobody may look ahead to
               learn it. */
            root = pair->value == 1;
        else if (pair->type == PARAVER_COMM &&
                 paraver_comm_id(paraver_application(&state->header, event.process), pair->value, &id))
            event.comm = event.partner_comm = defs_find_comm(reader->defs, id);
    }
    if (root && event.comm != EVENT_UNKNOWN)
        event.tag = defs_comm_rank(reader->defs, event.comm, event.process);
    if (any)
        push(state, batch, &event);
}

/* The file does not say which is left: it is the innermost of the same type. False: there is none. */
static bool emit_leave(const struct reader *reader, struct batch *batch, const struct paraver_pair *pair)
{
    struct paraver_state *state = reader->state;
    struct paraver_stack *stack = stack_of(state, state->record.at.process, state->record.at.thread);
    struct event event = record_event(&state->record, EVENT_LEAVE);
    size_t i = stack->count;
    while (i > 0 && stack->open[i - 1].type != pair->type)
        i--;
    if (i == 0)
        return false;
    event.state = stack->open[i - 1].state;
    flush_call(reader, batch, &stack->open[i - 1]);
    /* Functions of other types that are open stay so: a user function may end inside a call of MPI. */
    memmove(&stack->open[i - 1], &stack->open[i], (stack->count - i) * sizeof *stack->open);
    stack->count--;
    push(state, batch, &event);
    return true;
}

static void emit_enter(struct reader *reader, struct batch *batch, const struct paraver_pair *pair)
{
    struct paraver_state *state = reader->state;
    if (paraver_type_is_mpi(pair->type) ? state->replaces : paraver_labelled_replaces(&state->labelled, pair->type))
        emit_leave(reader, batch, pair);
    struct paraver_stack *stack = stack_of(state, state->record.at.process, state->record.at.thread);
    struct event event = record_event(&state->record, EVENT_ENTER);
    event.state = paraver_state_of(&state->names, pair->type, pair->value, event.thread);
    if (paraver_type_is_mpi(pair->type))
        event.site = paraver_caller_of(&state->places, &state->labels, reader->defs, &state->record);
    if (stack->count >= DEPTH_LIMIT) {
        reader_damage(reader, reader->input->offset, "more than %d functions are open at once", DEPTH_LIMIT);
        return;
    }
    ARRAY_PUSH(stack->open, stack->count, stack->capacity,
               (struct paraver_open){.type = pair->type, .state = event.state, .time_ns = event.time_ns});
    push(state, batch, &event);
    if (paraver_type_is_mpi(pair->type))
        emit_collective(reader, batch);
}

static void emit_counter(struct paraver_state *state, struct batch *batch, const struct paraver_pair *pair)
{
    struct event event = record_event(&state->record, EVENT_COUNTER);
    event.state = (uint32_t)*map_find(&state->names.counters, pair->type);
    /* Counters are unsigned in the file; defs say COUNTER_UINT64, and whoever prints takes the bits for that. */
    event.value = (int64_t)pair->value;
    push(state, batch, &event);
}

/* A pair whose type is known by the labels of its values, or a counter. */
static void emit_other(struct reader *reader, struct batch *batch, const struct paraver_pair *pair)
{
    struct paraver_state *state = reader->state;
    if (!paraver_labelled_is(&state->labelled, pair))
        emit_counter(state, batch, pair);
    else if (pair->value != 0)
        emit_enter(reader, batch, pair);
    else
        emit_leave(reader, batch, pair); /* of nothing, where a program says again and again that it is in none */
}

/* Extrae writes the callers of some calls on a record of their own, which follows at the same time: the call is still
   held then. */
static void take_callers(struct reader *reader)
{
    struct paraver_state *state = reader->state;
    uint32_t site = paraver_caller_of(&state->places, &state->labels, reader->defs, &state->record);
    for (size_t i = state->queue_count; i > state->queue_at && site > 0; i--) {
        struct event *event = &state->queue[i - 1];
        if (event->kind != EVENT_ENTER || event->process != state->record.at.process ||
            event->thread != state->record.at.thread || !reader->defs->states[event->state].is_mpi)
            continue;
        if (event->site == 0 && event->time_ns == state->record.time_ns)
            event->site = site;
        return;
    }
}

static bool is_in_mpi(struct paraver_state *state)
{
    const struct paraver_stack *stack = stack_of(state, state->record.at.process, state->record.at.thread);
    for (size_t i = 0; i < stack->count; i++)
        if (paraver_type_is_mpi(stack->open[i].type))
            return true;
    return false;
}

/* Samples say what the program computes: those of a timer of real time are also taken while it waits. */
static void emit_sample(struct reader *reader, struct batch *batch)
{
    struct paraver_state *state = reader->state;
    struct event event = record_event(&state->record, EVENT_SAMPLE);
    uint32_t path = paraver_sample_of(&state->places, &state->labels, reader->defs, &state->record, &event.site);
    event.state = path - 1;
    if (path > 0 && is_in_mpi(state))
        reader_count(reader, "sample inside MPI, not read", 1);
    else if (path > 0)
        push(state, batch, &event);
}

/* In the order of the pairs: a record may leave one function and enter another at the same time. */
static void emit_pairs(struct reader *reader, struct batch *batch)
{
    struct paraver_state *state = reader->state;
    bool enters_mpi = false;
    for (size_t i = 0; i < state->record.pair_count; i++) {
        const struct paraver_pair *pair = &state->record.pairs[i];
        if (!paraver_pair_is_state(pair)) {
            if (!paraver_pair_is_detail(pair))
                emit_other(reader, batch, pair);
        } else if (pair->value != 0) {
            enters_mpi |= paraver_type_is_mpi(pair->type);
            emit_enter(reader, batch, pair);
        } else if (!emit_leave(reader, batch, pair)) {
            /* Extrae may switch on in the middle of a call. */
            reader_count(reader, "end of a call without its begin", 1);
        }
    }
    if (!enters_mpi && state->apart)
        take_callers(reader);
    emit_sample(reader, batch);
}

enum status paraver_emit_record(struct reader *reader, struct batch *batch, struct error *err)
{
    struct paraver_state *state = reader->state;
    enum status status = merge_until(state, batch, state->record.time_ns, err);
    state->has_record = status == STATUS_END;
    if (status != STATUS_OK)
        return status == STATUS_END ? STATUS_OK : status;
    state->holds = state->apart;
    emit_pairs(reader, batch);
    state->held = state->apart && state->queue_count > 0;
    state->held_ns = state->record.time_ns;
    state->holds = false;
    return STATUS_OK;
}

enum status paraver_emit_rest(struct reader *reader, struct batch *batch, struct error *err)
{
    struct paraver_state *state = reader->state;
    flush_due(state, batch);
    enum status status = fill_head(state, err);
    if (status == STATUS_OK) {
        state->has_head = false;
        push(state, batch, &state->head.event);
        /* STATUS_END would end the trace with events in the queue. */
    } else if (status == STATUS_END && state->queue_count > 0) {
        return STATUS_OK;
    }
    return status;
}
