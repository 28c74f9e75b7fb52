/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/walk.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"

#include <string.h>

enum { MARK_TEXT = 400 }; /* of a payload as text; longer ones are cut */

void walk_start(struct walk *walk, const struct defs *defs, struct rows *rows, const struct walk_visitor *visitor)
{
    *walk = (struct walk){.defs = defs, .rows = rows, .visitor = visitor};
    /* Following states takes most of the time of a walk. */
    walk->only_messages = visitor->message && !visitor->state && !visitor->between && !visitor->event && !visitor->now;
    walk->plain =
        visitor->plain && visitor->state && !visitor->between && !visitor->event && !visitor->now && !visitor->message;
    walk->row_count = rows->count;
    ARRAY_RESERVE(walk->row, walk->row_capacity, rows->count + 1);
    memset(walk->row, 0, walk->row_capacity * sizeof *walk->row);
}

void walk_clear(struct walk *walk)
{
    for (size_t i = 0; i < walk->row_count; i++)
        open_states_free(&walk->row[i].open);
    free(walk->row);
    free(walk->frames);
    transits_clear(&walk->transits);
    *walk = (struct walk){0};
}

/* Frames of left states are used again, through a list: a walk over 10^8 events needs as many as states are open. Their
   numbers are marks of open states, which the array's growing does not change. */
static uint32_t frame_new(struct walk *walk, uint32_t depth, uint32_t span)
{
    uint32_t frame = walk->free_frame;
    if (frame) {
        walk->free_frame = walk->frames[frame - 1].next_free;
    } else {
        ARRAY_PUSH(walk->frames, walk->frame_count, walk->frame_capacity, (struct walk_frame){0});
        frame = (uint32_t)walk->frame_count;
    }
    walk->frames[frame - 1] = (struct walk_frame){.depth = depth, .span = span};
    return frame - 1;
}

static void frame_free(struct walk *walk, uint32_t frame)
{
    walk->frames[frame].next_free = walk->free_frame;
    walk->free_frame = frame + 1;
}

void walk_open(struct walk *walk, uint32_t row, uint32_t state, int64_t enter_ns, uint32_t depth, uint32_t span)
{
    struct open_state *frame = open_states_enter(&walk->row[row].open, state, enter_ns);
    if (!frame) /* too deep: see DEPTH_LIMIT */
        return;
    frame->mark = frame_new(walk, depth, span);
    walk->open++;
}

static inline struct open_state *top_of(struct walk_row *row)
{
    return row->open.depth ? &row->open.frames[row->open.depth - 1] : NULL;
}

/* The state that a row is in. */
static inline uint32_t state_in(struct walk_row *row)
{
    const struct open_state *top = top_of(row);
    return top ? top->state : TIMELINE_NONE;
}

static void enter(struct walk *walk, struct walk_row *row, uint32_t state, int64_t time_ns)
{
    /* Not the number of open states: MPE states may be left in another order than they were entered, and the others
       keep their depth, which is where they are drawn. */
    struct open_state *top = top_of(row);
    uint32_t depth = 0;
    if (top)
        depth = walk->frames[top->mark].depth + 1;
    struct open_state *frame = open_states_enter(&row->open, state, time_ns);
    if (!frame)
        return;
    frame->mark = frame_new(walk, depth, TIMELINE_NONE);
    walk->open++;
}

static void report_state(struct walk *walk, uint32_t row, const struct open_state *open, int64_t leave_ns)
{
    const struct walk_frame *frame = &walk->frames[open->mark];
    struct timeline_state state = {
        .enter_ns = open->time_ns, .leave_ns = leave_ns, .row = row, .state = open->state, .depth = frame->depth};
    walk->visitor->state(walk->visitor->context, &state, frame, open->exclusive_ns);
}

static void leave(struct walk *walk, uint32_t number, struct walk_row *row, ptrdiff_t at, int64_t time_ns)
{
    /* A copy: removing it moves the states above it down. */
    struct open_state closed = row->open.frames[at];
    if (walk->frames[closed.mark].span != TIMELINE_NONE && walk->span_ended)
        walk->span_ended(walk->index, walk->frames[closed.mark].span, time_ns);
    open_states_remove(&row->open, at);
    walk->open--;
    if (walk->visitor->state)
        report_state(walk, number, &closed, time_ns);
    frame_free(walk, closed.mark);
}

struct timeline_message walk_message(const struct transit *end, const struct transit *other)
{
    const struct transit *send = other, *receive = end;
    if (end->sent) {
        send = end;
        receive = other;
    }
    /* One end alone knows the partner and its communicator, but neither its time nor its thread. */
    struct timeline_message message = {.send_ns = end->time_ns,
                                       .receive_ns = end->time_ns,
                                       .bytes = -1,
                                       .send_row = TIMELINE_NONE,
                                       .receive_row = TIMELINE_NONE,
                                       .send_process = end->partner,
                                       .receive_process = end->process,
                                       .comm = end->partner_comm,
                                       .tag = end->tag};
    if (end->sent) {
        message.send_process = end->process;
        message.receive_process = end->partner;
    }
    if (receive) {
        message.receive_ns = receive->time_ns;
        message.receive_row = receive->row;
        message.bytes = receive->bytes;
    }
    if (send) {
        message.send_ns = send->time_ns;
        message.send_row = send->row;
        message.comm = send->comm;
        /* The sender's count, if known: a receive may have had room for more. */
        if (send->bytes >= 0)
            message.bytes = send->bytes;
    }
    return message;
}

static void message(struct walk *walk, uint32_t row, const struct event *event, int64_t time_ns)
{
    if (event->partner < 0) /* MPI_PROC_NULL, or not known: nothing to match */
        return;
    bool sent = event->kind == EVENT_SEND;
    struct transit end = {.time_ns = time_ns,
                          .other_ns = time_ns,
                          .bytes = sent ? event->bytes_sent : event->bytes_received,
                          .row = row,
                          .other_row = TIMELINE_NONE,
                          .process = event->process,
                          .partner = (uint32_t)event->partner,
                          .comm = event->comm,
                          .partner_comm = event->partner_comm,
                          .tag = event->tag,
                          .sent = sent};
    struct transit_node other;
    uint32_t node;
    if (!transits_match(&walk->transits, &end, &other, &node))
        return;
    /* The end that waited was stored at a checkpoint in between: the index gets the one that has now come. */
    if (other.span != TIMELINE_NONE && walk->transit_ended)
        walk->transit_ended(walk->index, other.span, &end);
    if (walk->visitor->message) {
        struct timeline_message whole = walk_message(&other.transit, &end);
        walk->visitor->message(walk->visitor->context, &whole);
    }
}

/* The time since the row's last event belongs to its latest entered open state. */
static inline void advance(struct walk *walk, uint32_t number, struct walk_row *row, int64_t time_ns)
{
    struct open_state *top = top_of(row);
    if (row->seen && time_ns > row->last_ns) {
        if (top)
            time_add(&top->exclusive_ns, time_since(row->last_ns, time_ns));
        if (walk->visitor->between)
            walk->visitor->between(walk->visitor->context, number, state_in(row), row->last_ns, time_ns);
    }
    row->seen = true;
    row->last_ns = time_ns;
}

static inline uint32_t row_of(struct walk *walk, const struct event *event)
{
    /* With an index all rows are known: an event of another is from a trace that has changed, and is left out. */
    uint32_t number;
    if (event->thread == 0 && event->process < walk->rows->main_count && walk->rows->main[event->process] != 0)
        return walk->rows->main[event->process] - 1; /* nearly all events, without a call */
    number = rows_find(walk->rows, event->process, event->thread);
    if (number != TIMELINE_NONE || !walk->growing)
        return number;
    number = rows_of(walk->rows, event->process, event->thread);
    size_t before = walk->row_capacity;
    ARRAY_RESERVE(walk->row, walk->row_capacity, (size_t)number + 1);
    memset(&walk->row[before], 0, (walk->row_capacity - before) * sizeof *walk->row);
    walk->row_count = (size_t)number + 1;
    return number;
}

static inline void take(struct walk *walk, const struct event *event, const unsigned char *arena)
{
    uint32_t number = row_of(walk, event);
    if (number == TIMELINE_NONE)
        return;
    struct walk_row *row = &walk->row[number];
    const struct walk_visitor *visitor = walk->visitor;
    int64_t time_ns = event->time_ns;
    if (row->seen) /* within a row time never goes back */
        time_ns = larger(time_ns, row->last_ns);
    if (walk->only_messages) {
        row->seen = true;
        row->last_ns = time_ns;
        if (event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE)
            message(walk, number, event, time_ns);
        return;
    }
    advance(walk, number, row, time_ns);
    ptrdiff_t at = OPEN_STATES_NONE;
    if (event->kind == EVENT_ENTER)
        enter(walk, row, event->state, time_ns);
    else if (event->kind == EVENT_LEAVE)
        at = open_states_find(&row->open, event->state);
    else if (event->kind <= EVENT_RECEIVE && (visitor->message || walk->transit_ended))
        message(walk, number, event, time_ns);
    /* A leave is reported while its state is still open, an enter when it is: a visitor sees the state in both. */
    if (visitor->event) {
        const struct open_state *open = NULL; /* of a leave without enter */
        if (at != OPEN_STATES_NONE)
            open = &row->open.frames[at];
        else if (event->kind != EVENT_LEAVE)
            open = top_of(row);
        struct walk_event walked = {event, arena, time_ns, number, open, NULL};
        if (open)
            walked.frame = &walk->frames[open->mark];
        visitor->event(visitor->context, &walked);
    }
    if (at != OPEN_STATES_NONE)
        leave(walk, number, row, at, time_ns);
    if (visitor->now)
        visitor->now(visitor->context, number, time_ns, state_in(row));
}

/* What `take` does for a visitor of states alone. */
static inline void take_plain(struct walk *walk, const struct event *event)
{
    uint32_t number = row_of(walk, event);
    if (number == TIMELINE_NONE)
        return;
    struct walk_row *row = &walk->row[number];
    if (!row->seen || event->time_ns > row->last_ns)
        row->last_ns = event->time_ns;
    row->seen = true;
    if (event->kind == EVENT_ENTER) {
        enter(walk, row, event->state, row->last_ns);
    } else if (event->kind == EVENT_LEAVE) {
        ptrdiff_t at = open_states_find(&row->open, event->state);
        if (at != OPEN_STATES_NONE)
            leave(walk, number, row, at, row->last_ns);
    }
}

void walk_events(struct walk *walk, const struct batch *batch)
{
    if (walk->plain) {
        for (size_t i = 0; i < batch->count; i++)
            if (event_counts(&batch->events[i]))
                take_plain(walk, &batch->events[i]);
        return;
    }
    for (size_t i = 0; i < batch->count; i++)
        if (event_counts(&batch->events[i]))
            take(walk, &batch->events[i], batch->arena);
}

char *walk_mark_text(const struct defs *defs, const struct walk_event *mark)
{
    const struct event *event = mark->event;
    char text[MARK_TEXT];
    if (event->payload_length == 0)
        return NULL;
    return memory_copy_string(
        payload_event_text(text, sizeof text, defs->marks[event->state].format, event, mark->arena));
}
