/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_CAUSALITY_H
#define SIGHT_REPLAY_CAUSALITY_H

#include "core/sink.h"

/* Which events of a run cannot lie before which others, whatever the clocks say: a receive before its send, the leave
   of a collective before the enters that it depends on. What clocks are corrected by. Memory: 40 bytes for a message,
   40 for a call of a collective. */

enum { CAUSAL_NONE = UINT32_MAX, CAUSAL_LINKS = 1 << 30 };

enum causal_kind { CAUSAL_SEND, CAUSAL_RECEIVE, CAUSAL_ENTER, CAUSAL_LEAVE };

/* An end of a message, or the enter or leave of a collective. */
struct causal_event {
    uint32_t link;    /* index of the message or member * 4 + enum causal_kind */
    uint32_t ordinal; /* so many events of the process stand before it */
};

/* The events of a process, in the trace's order. All threads of a process have its clock. */
struct causal_timeline {
    uint32_t process;
    struct causal_event *events;
    size_t count, capacity;
    uint64_t seen;            /* events of any kind */
    int64_t begin_ns, end_ns; /* its first and last time */
    int64_t latest_ns;        /* of the event seen last */
    bool goes_back;           /* an event lies before its predecessor */
};

/* The n-th send and the n-th receive of the same sender, receiver, communicator and tag. */
struct causal_message {
    int64_t send_ns, receive_ns;
    uint32_t sender, receiver; /* timelines; CAUSAL_NONE: that end is not recorded */
};

/* A call of a collective. */
struct causal_member {
    int64_t enter_ns, leave_ns; /* INT64_MIN: was not left */
    uint32_t timeline;
    uint32_t group : 30;
    bool gives_nothing : 1; /* the trace tells that no byte goes from it: nobody depends on it */
    bool gets_nothing : 1;  /* none comes to it: it depends on nobody */
};

/* Whose leaves depend on whose enters. */
enum causal_shape { CAUSAL_ALL_TO_ALL, CAUSAL_ONE_TO_ALL, CAUSAL_ALL_TO_ONE, CAUSAL_UNBOUND };

/* The n-th collective of its function on its communicator. */
struct causal_group {
    uint8_t shape; /* enum causal_shape; unbound where participants or root are not known */
    bool moves;    /* bytes, if there are any; else it is there to synchronise */
    uint32_t stream, count;
    uint32_t root; /* member */
    uint32_t hub;  /* member with the lowest timeline */
};

struct causality {
    const struct defs *defs;
    struct causal_timeline *timelines; /* by process */
    size_t timeline_count, timeline_capacity;
    struct causal_message *messages;
    size_t message_count, message_capacity;
    struct causal_member *members;
    size_t member_count, member_capacity;
    struct causal_group *groups;
    size_t group_count, group_capacity;
    bool too_large; /* more than links hold: the rest is missing */
};

static inline bool causal_matched(const struct causal_message *message)
{
    return message->sender != CAUSAL_NONE && message->receiver != CAUSAL_NONE;
}

/* True where the leave of the member depends on enters of others; true where leaves of others depend on its enter. */
bool causal_leave_depends(const struct causality *causality, uint32_t member);
bool causal_enter_matters(const struct causality *causality, uint32_t member);

/* Collects it from the events. */
struct causality_builder;
struct causality_builder *causality_builder_new(void);
struct sink *causality_builder_sink(struct causality_builder *builder); /* owned by the builder */

/* After the sink's end: the result, which the caller frees with causality_free. Frees the builder. */
struct causality *causality_builder_end(struct causality_builder *builder);
void causality_free(struct causality *causality);

/* How far the times go against it. */
struct clock_errors {
    uint64_t messages, early; /* matched; received before they were sent */
    uint64_t groups, torn;    /* collectives that bind; those left before all had entered that should have */
    int64_t worst_ns;         /* largest time by which a message is early */
    int64_t worst_group_ns;   /* largest time by which a collective is torn */
    double sum_ns;            /* of both */
};

/* Another time for a time of a timeline. */
struct causal_change {
    int64_t (*time)(const void *context, uint32_t timeline, int64_t time_ns);
    const void *context;
};

/* The errors as they would be with the change, or as they are (NULL). */
struct clock_errors causality_errors(const struct causality *causality, const struct causal_change *change);

/* Changes all times of matched messages and of collectives. */
void causality_change(struct causality *causality, const struct causal_change *change);

#endif
