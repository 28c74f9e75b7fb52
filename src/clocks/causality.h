/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLOCKS_CAUSALITY_H
#define SIGHT_CLOCKS_CAUSALITY_H

#include "core/sink.h"

/* Which events of a run cannot lie before which others, whatever the clocks say: a receive before its send, the leave
   of a collective before the enters that it depends on. Clocks are corrected by it. Memory: 40 bytes for a message,
   48 for a call of a collective (and, while it is made, what a graph has for it), 12 more for each neighbour. */

enum { CAUSAL_NONE = UINT32_MAX, CAUSAL_LINKS = 1 << 30 };

enum causal_kind { CAUSAL_SEND, CAUSAL_RECEIVE, CAUSAL_ENTER, CAUSAL_LEAVE };

/* An end of a message, or the enter or leave of a call that waits for others. */
struct causal_event {
    uint32_t link;    /* index of the message or point * 4 + enum causal_kind */
    uint32_t ordinal; /* number of events of the process before it */
};

/* The events of a process, in the trace's order. All threads of a process have its clock. */
struct causal_timeline {
    uint32_t process;
    struct causal_event *events;
    size_t count, capacity;
    uint64_t seen;            /* events of any kind */
    int64_t begin_ns, end_ns; /* its first and last time */
    int64_t latest_ns;        /* of the event seen last */
    bool goes_back;           /* an event is earlier than its predecessor */
};

/* The n-th send and the n-th receive of the same sender, receiver, communicator and tag. */
struct causal_message {
    int64_t send_ns, receive_ns;
    uint32_t sender, receiver; /* timelines; CAUSAL_NONE: that end is not recorded */
};

/* An enter that others wait for, or the leave of one that waits. */
struct causal_point {
    int64_t time_ns;
    uint32_t timeline;
    uint32_t gate : 31;
    bool leaves : 1;
};

/* No leave of a gate may be earlier than its enters, or those of the gates that lead to it. */
struct causal_gate {
    uint32_t call : 31; /* gates of one collective, or one call, have the same number */
    bool together : 1;  /* all processes that enter it leave it, in the same calls */
    uint32_t next;      /* first of the gates it leads to, an index into `nexts`; all have higher indices than it has */
};

struct causality {
    const struct defs *defs;
    struct causal_timeline *timelines; /* by process */
    size_t timeline_count, timeline_capacity;
    struct causal_message *messages;
    size_t message_count, message_capacity;
    struct causal_point *points;
    size_t point_count, point_capacity;
    struct causal_gate *gates;
    size_t gate_count, gate_capacity;
    uint32_t *nexts; /* gates */
    size_t next_count, next_capacity;
    uint32_t call_count; /* collectives, and one-sided calls that wait */
    bool too_large;      /* more than links hold: the rest is missing */
};

static inline bool causal_matched(const struct causal_message *message)
{
    return message->sender != CAUSAL_NONE && message->receiver != CAUSAL_NONE;
}

/* Where the gates end that this one leads to: an index into `nexts`. */
static inline size_t causal_nexts_end(const struct causality *causality, size_t gate)
{
    return gate + 1 < causality->gate_count ? causality->gates[gate + 1].next : causality->next_count;
}

/* Collects it from the events. */
struct causality_builder;
struct causality_builder *causality_builder_new(void);
struct sink *causality_builder_sink(struct causality_builder *builder); /* owned by the builder */

/* After the sink's end: the result, which the caller frees with causality_free. Frees the builder. */
struct causality *causality_builder_end(struct causality_builder *builder);
void causality_free(struct causality *causality);

/* How much the times violate causality. */
struct clock_errors {
    uint64_t messages, early;  /* matched; received before they were sent */
    uint64_t instances, torn;  /* collectives that synchronise; those left before all members had entered */
    int64_t worst_ns;          /* largest time by which a message is early */
    int64_t worst_instance_ns; /* largest time by which a collective is left too early */
    double sum_ns;             /* of both */
};

/* The corrected time for a time of a timeline. */
struct causal_change {
    int64_t (*time)(const void *context, uint32_t timeline, int64_t time_ns);
    const void *context;
};

/* The errors after the change, or without one (NULL). */
struct clock_errors causality_errors(const struct causality *causality, const struct causal_change *change);

/* Changes all times of matched messages and of collectives. */
void causality_change(struct causality *causality, const struct causal_change *change);

#endif
