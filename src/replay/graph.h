/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_GRAPH_H
#define SIGHT_REPLAY_GRAPH_H

#include "core/sink.h"

/* The calls of a run and what ties them together across processes: messages and collectives. What wait states, the
   critical path and replays are computed from. Memory: 32 bytes for each MPI call, 24 for each message, 56 for each
   collective. */

enum { GRAPH_NONE = UINT32_MAX };

/* An MPI call that lies in no other. Index 0 of `sent`, `received`, `group` means none: they are 1 + an index. */
struct call {
    int64_t enter_ns, leave_ns; /* never left: the end of its lane */
    uint32_t state;             /* index into the definitions */
    uint32_t group;             /* of a collective */
    uint32_t sent;              /* first message that leaves in it; the others by next_sent */
    uint32_t received;          /* first message that arrives in it; of a probe: the message it found */
};

/* Calls of one thread of a process, in order. */
struct lane {
    uint32_t process, thread;
    struct call *calls;
    size_t count, capacity;
    int64_t begin_ns, end_ns; /* its first and last event */
};

/* A message, matched: the n-th send and the n-th receive of the same sender, receiver, communicator and tag. */
struct message {
    uint32_t send_lane, send_call;       /* GRAPH_NONE: not recorded */
    uint32_t receive_lane, receive_call; /* the call in which it completes */
    uint32_t next_sent, next_received;   /* 1 + index; 0: last of its call */
};

/* A collective: the n-th of its function on its communicator. */
struct group {
    int64_t latest_enter_ns, earliest_leave_ns;
    int64_t earliest_other_ns;         /* enter of the first that is not the root */
    uint32_t latest_lane, latest_call; /* who entered last; the lowest lane of equals */
    uint32_t root_lane, root_call;     /* GRAPH_NONE: not known */
    uint32_t count;
    uint32_t stream; /* its function and communicator */
};

/* A function on a communicator: its groups are the rows of the same number. */
struct group_stream {
    int32_t comm; /* EVENT_UNKNOWN: the trace does not tell */
    uint32_t state;
    uint32_t most; /* participants of its largest group */
};

struct graph {
    const struct defs *defs;
    struct lane *lanes;
    size_t lane_count, lane_capacity;
    struct message *messages;
    size_t message_count, message_capacity;
    struct group *groups;
    size_t group_count, group_capacity;
    struct group_stream *streams;
    size_t stream_count, stream_capacity;
    uint64_t unmatched;     /* ends of messages without the other */
    uint64_t unattached;    /* ends of messages outside all calls */
    uint64_t early;         /* messages whose receive lies before their send */
    int64_t clock_error_ns; /* largest time by which one does */
    bool too_large;         /* more calls or messages than 32-bit indices hold: the rest is missing */
};

/* Collects a graph from the events. */
struct graph_builder;
struct graph_builder *graph_builder_new(void);
struct sink *graph_builder_sink(struct graph_builder *builder); /* owned by the builder */

/* After the sink's end: the graph, which the caller frees with graph_free. Frees the builder. */
struct graph *graph_builder_end(struct graph_builder *builder);
void graph_free(struct graph *graph);

static inline const struct call *graph_call(const struct graph *graph, uint32_t lane, uint32_t call)
{
    return &graph->lanes[lane].calls[call];
}

static inline const struct state_def *graph_state(const struct graph *graph, const struct call *call)
{
    return &graph->defs->states[call->state];
}

/* True if all participants of the collective are recorded, as far as the trace tells. */
bool graph_group_complete(const struct graph *graph, const struct group *group);

#endif
