/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_WALK_H
#define SIGHT_TIMELINE_WALK_H

#include "core/open_states.h"
#include "timeline/transits.h"
#include "timeline/window.h"

/* Internal: turns events into states with both ends, messages with both ends, and each row's state over time. Making
   the index and all exact queries use it, so that they cannot differ. */

/* Data of an open state besides its open_state, whose `mark` is its place. */
struct walk_frame {
    uint32_t depth;
    uint32_t span; /* entry of the index's table; TIMELINE_NONE: not in it */
    bool wanted;   /* free for the visitor, as wanted_ns */
    int64_t wanted_ns;
    uint32_t next_free; /* internal: 1 + index */
};

struct walk_row {
    struct open_states open;
    int64_t last_ns; /* of its last event, or where the walk began */
    bool seen;       /* it has had an event */
};

struct walk_event {
    const struct event *event;
    const unsigned char *arena; /* of its payload */
    int64_t time_ns;            /* where it stands */
    uint32_t row;
    const struct open_state *open; /* that it enters or leaves, for others the latest entered; NULL: there is none */
    struct walk_frame *frame;      /* of `open` */
};

/* The callbacks of a walk; NULL ones are not called. Rows are numbered in order of occurrence (struct rows). */
struct walk_visitor {
    void *context;
    /* A state was left, or is open at the walk's end. `exclusive_ns` counts from the walk's begin. */
    void (*state)(void *context, const struct timeline_state *state, const struct walk_frame *frame,
                  int64_t exclusive_ns);
    /* A row's state between two events: its latest entered open state, or TIMELINE_NONE outside all. */
    void (*between)(void *context, uint32_t row, uint32_t state, int64_t from_ns, int64_t to_ns);
    /* An event was taken; called before the state that it leaves. */
    void (*event)(void *context, const struct walk_event *event);
    /* After an event: the row's current state, or TIMELINE_NONE. */
    void (*now)(void *context, uint32_t row, int64_t time_ns, uint32_t state);
    /* Both ends of a message are known, or there is only one. */
    void (*message)(void *context, const struct timeline_message *message);
    bool plain; /* with `state` alone: exclusive times are not needed, and are 0 */
    /* Of a scan: all its events have been taken. States and messages reported from now on end after them. */
    void (*ending)(void *context);
};

/* Rows by process and thread, numbered as they are met. */
struct rows {
    struct timeline_row *row;
    size_t count, capacity;
    uint32_t *main; /* by process: 1 + row of its thread 0 */
    size_t main_count;
    struct map others; /* (process, thread) -> row */
};
uint32_t rows_of(struct rows *rows, uint32_t process, uint32_t thread);
uint32_t rows_find(const struct rows *rows, uint32_t process, uint32_t thread); /* TIMELINE_NONE */
void rows_clear(struct rows *rows);

struct walk {
    const struct defs *defs;
    struct rows *rows; /* borrowed */
    const struct walk_visitor *visitor;
    struct walk_row *row;
    size_t row_count, row_capacity;
    struct walk_frame *frames;
    size_t frame_count, frame_capacity;
    uint32_t free_frame; /* 1 + index */
    size_t open;         /* states open in all rows */
    struct transits transits;
    bool growing;       /* rows may be met that are new */
    bool only_messages; /* the visitor asks for nothing else: states need not be followed */
    bool plain;         /* for states alone, without what is needed for others */
    /* Making the index: called with the entry of a state or message that has ended. */
    void (*span_ended)(void *context, uint32_t span, int64_t leave_ns);
    void (*transit_ended)(void *context, uint32_t span, const struct transit *other);
    void *index;
};

void walk_start(struct walk *walk, const struct defs *defs, struct rows *rows, const struct walk_visitor *visitor);

/* Takes a batch of events. */
void walk_events(struct walk *walk, const struct batch *batch);

/* Adds a state that is open where the walk begins. Per row the oldest first. */
void walk_open(struct walk *walk, uint32_t row, uint32_t state, int64_t enter_ns, uint32_t depth, uint32_t span);

void walk_clear(struct walk *walk);

/* The text of a mark's payload; to be freed. NULL: it has none. */
char *walk_mark_text(const struct defs *defs, const struct walk_event *mark);

/* The message of one or both ends. */
struct timeline_message walk_message(const struct transit *end, const struct transit *other);

#endif
