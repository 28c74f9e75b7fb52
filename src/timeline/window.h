/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_WINDOW_H
#define SIGHT_TIMELINE_WINDOW_H

#include "metrics/analysis.h"
#include "timeline/timeline.h"

/* A window event by event. */

/* An instance of a state: from its enter to the leave that closes it, wherever these are. */
struct timeline_state {
    int64_t enter_ns, leave_ns; /* never left: the row's last event */
    uint32_t row, state;
    uint32_t depth; /* one more than that of the latest entered open state when it was entered; 0: none was open */
    bool open;      /* never left */
};

/* A message: the n-th send and the n-th receive of the same sender, receiver, communicator and tag. An end that is not
   in the trace has row TIMELINE_NONE and the other end's time. */
struct timeline_message {
    int64_t send_ns, receive_ns;
    int64_t bytes; /* as sent, else as received; BYTES_UNKNOWN */
    uint32_t send_row, receive_row;
    uint32_t send_process, receive_process; /* world ranks, known also where the end is not in the trace */
    int32_t comm;                           /* index into defs->comms: the sender's */
    int32_t tag;
};

/* A solo event of the program. */
struct timeline_mark {
    int64_t time_ns;
    uint32_t row, mark; /* index into defs->marks */
    char *text;         /* its payload as text, owned by the window; NULL: none */
};

/* The contents of a window: states that overlap it (including those of no length inside it), messages with an end in it
   or that pass over it, with an end on a row of the view, and marks. */
struct timeline_window {
    struct timeline_state *states;     /* by row of the view, then enter, then depth */
    struct timeline_message *messages; /* by send */
    struct timeline_mark *marks;       /* by time */
    size_t state_count, message_count, mark_count;
    size_t state_capacity, message_capacity, mark_capacity; /* internal */
    bool too_many; /* more than `limit` of one kind: the arrays are empty; draw a tile */
    uint64_t states_found, messages_found, marks_found; /* how many there are, or were found before giving up */
};

/* At most `limit` of each kind. Free with timeline_window_clear. */
enum status timeline_window(struct timeline *timeline, const struct timeline_view *view, size_t limit,
                            struct timeline_window *window, struct error *err) MUST_CHECK;
void timeline_window_clear(struct timeline_window *window);

/* Details of one state, for the pointer that rests on it. */
enum { DETAIL_MESSAGES = 16, DETAIL_TEXT = 400 };
struct timeline_detail {
    struct timeline_state state;
    int64_t exclusive_ns;                              /* -1: not known, for very long states */
    uint32_t site;                                     /* 1 + index into defs->sites; 0: not known */
    char text[DETAIL_TEXT];                            /* payload as its format says: "s=hello x=4"; "" */
    struct timeline_message messages[DETAIL_MESSAGES]; /* with an end at this row between enter and leave */
    size_t message_count;                              /* in the array */
    uint64_t messages_found;
    bool messages_known; /* false: the state is too long to search them */
    enum wait_kind wait; /* WAIT_NONE: none, or not known (see overlay.h) */
    int64_t wait_ns;
    uint32_t wait_row; /* the process waited for; TIMELINE_NONE */
};

/* The instance of a row that was entered at enter_ns at this depth. STATUS_END: there is none. */
enum status timeline_detail(struct timeline *timeline, uint32_t row, int64_t enter_ns, uint32_t depth,
                            struct timeline_detail *detail, struct error *err) MUST_CHECK;

#endif
