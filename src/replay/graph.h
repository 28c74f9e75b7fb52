/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_GRAPH_H
#define SIGHT_REPLAY_GRAPH_H

#include "core/sink.h"
#include "replay/collective.h"

/* The calls of a run and what ties them together across processes: messages and collectives. What wait states, the
   critical path and replays are computed from.

   Calls and messages are stored packed and read as values: graph_call(), graph_message(). Memory: 24 bytes for each MPI
   call, 24 for each message, 72 for each collective, 28 for each channel; 8 more for a call longer than 34 s. Where the
   trace tells requests of messages, 12 more for each message. */

enum { GRAPH_NONE = UINT32_MAX };

/* An MPI call that lies in no other. Index 0 of `sent`, `received`, `completed`, `posted`, `group` means none: they are
   1 + an index. */
struct call {
    int64_t enter_ns, leave_ns; /* never left: the end of its lane */
    uint32_t state;             /* index into the definitions */
    uint32_t site;              /* 1 + index into the definitions' sites; 0: not known */
    int32_t comm;               /* index into the definitions' communicators; EVENT_UNKNOWN */
    uint32_t group;             /* of a collective */
    uint32_t sent;              /* first message that leaves in it; the others by next_sent */
    uint32_t received;          /* first message that arrives in it; of a probe: the message it found */
    uint32_t completed;         /* first message of another call whose send completes in it; others by next_completed */
    uint32_t posted;            /* first message that another call receives, and it posted; others by next_posted */
    bool gives_nothing;         /* a collective, and the trace tells that no byte goes from it */
    bool gets_nothing;          /* and none comes to it */
    bool operates;              /* it completes collectives or starts persistent ones; or has edges on a window */
    bool pending_same;          /* it waits for a message, while another of the sender is there, received later */
    bool pending_other;         /* the same of another sender */
};

/* A message, matched: the n-th send and the n-th receive of the same sender, receiver, communicator and tag. Those
   inside collectives, of which old recorders tell, are matched but stand in no call. */
struct message {
    uint32_t send_lane, send_call;       /* GRAPH_NONE: not recorded */
    uint32_t receive_lane, receive_call; /* the call in which it completes */
    uint32_t next_sent, next_received;   /* 1 + index; 0: last of its call */
    uint32_t channel;                    /* index into the graph's channels */
    int64_t bytes;                       /* BYTES_UNKNOWN */
};

/* A message whose send completes, or whose receive was posted or started, in another call than the one that has it. */
struct message_link {
    uint32_t post;                        /* 1 + the call that posts; LINK_FAR: of another lane; 0: not known */
    uint32_t next_completed, next_posted; /* 1 + index; LINK_END: last of its call; 0: in no list */
};
enum { LINK_END = UINT32_MAX, LINK_FAR = UINT32_MAX };

/* The call whose enter is that of a receive: from then on the sender waits for nobody. */
struct post {
    uint32_t lane, call; /* GRAPH_NONE: the trace does not tell */
};

/* Where messages go: those of the same sender, receiver, communicator and tag, and the same threads. */
struct channel {
    uint32_t sender, receiver; /* processes */
    int32_t comm, tag;         /* comm: of an inter-communicator the side with the lower index */
    uint32_t send_lane, receive_lane;
    uint32_t other; /* 1 + the next of the same but for the threads; 0: none */
};

/* What calls have in common; internal to graph_call. */
struct call_kind {
    uint32_t state, site;
    int32_t comm;
};
struct packed_call {
    int64_t enter_ns;
    uint64_t word;     /* duration or index of a long one, flags, kind */
    uint32_t sent;     /* or completed */
    uint32_t received; /* or posted, or group */
};
enum {
    CALL_DURATION_BITS = 36,
    CALL_KIND_SHIFT = 42,
    CALL_KINDS = 1 << 22, /* more are not told apart: sites and communicators are not known then */
};
#define CALL_DURATION_MASK ((UINT64_C(1) << CALL_DURATION_BITS) - 1)
#define CALL_LONG (UINT64_C(1) << (CALL_DURATION_BITS - 1)) /* of the duration: the rest is an index */
#define CALL_IN_GROUP (UINT64_C(1) << 36)
#define CALL_GIVES_NOTHING (UINT64_C(1) << 37)
#define CALL_GETS_NOTHING (UINT64_C(1) << 38)
#define CALL_OPERATES (UINT64_C(1) << 39)
#define CALL_COMPLETES (UINT64_C(1) << 40)   /* its word `sent` is `completed` */
#define CALL_POSTS (UINT64_C(1) << 41)       /* its word `received` is `posted` */
#define CALL_PENDING_SAME CALL_GIVES_NOTHING /* of calls that are in no group */
#define CALL_PENDING_OTHER CALL_GETS_NOTHING

struct packed_message {
    uint32_t channel;
    uint32_t bytes; /* from MESSAGE_LONG on: index of a large one; UINT32_MAX: not known */
    uint32_t send_call, receive_call, next_sent, next_received;
};
#define MESSAGE_LONG (UINT32_C(1) << 31)

/* Calls of one thread of a process, in order. */
struct lane {
    uint32_t process, thread;
    struct packed_call *calls;
    size_t count, capacity;
    int64_t begin_ns, end_ns; /* its first and last event */
};

/* A collective: the n-th of its function on its communicator. Members that are known to give nothing keep nobody
   waiting, and do not count for `latest` and `earliest_other`. */
struct group {
    int64_t latest_enter_ns, earliest_leave_ns;
    int64_t earliest_other_ns;         /* enter of the first that is not the root; INT64_MAX: nobody */
    int64_t earliest_done_ns;          /* leave of the first that both gives and gets */
    uint32_t latest_lane, latest_call; /* who entered last; the lowest lane of equals; GRAPH_NONE: nobody counts */
    uint32_t root_lane, root_call;     /* GRAPH_NONE: not known */
    int64_t bytes;                     /* the most that a member gives or gets; 0: the trace does not tell */
    uint32_t count, givers;
    uint32_t stream; /* its function and communicator */
    uint32_t rows; /* of a prefix reduction, a neighbourhood, or two groups: its first row in `prefixes`, `neighbours`,
                      or its only one in `sides`; GRAPH_NONE */
    bool complete; /* all participants are recorded, as far as the trace tells */
};

/* A member of a prefix reduction (MPI_Scan), by rank: who entered last of those up to it that give something. */
struct prefix {
    uint32_t group, rank, lane, call;
    uint32_t latest_lane, latest_call; /* GRAPH_NONE: nobody */
    bool gives_nothing;
};

/* A member of a neighbourhood collective, by process: who entered last of its neighbours that give something. */
enum { NEIGHBOURS_UNKNOWN = GRAPH_NONE - 1 };
struct neighbour {
    uint32_t lane, call;
    uint32_t latest_lane, latest_call; /* latest_lane GRAPH_NONE: nobody; NEIGHBOURS_UNKNOWN: the trace does not tell */
};

/* One who gives to the process in neighbourhood collectives on the communicator. */
struct source {
    int32_t comm;
    uint32_t process, source;
};

/* A group of processes of an inter-communicator in a collective: it is the other group that a process waits for. Like
   those of the whole, `latest` and `earliest` do not count members that are known to give nothing. */
struct group_side {
    int64_t latest_enter_ns, earliest_enter_ns;
    uint32_t latest_lane, latest_call; /* GRAPH_NONE: nobody */
    uint32_t count, givers;
};
struct group_sides {
    struct group_side sides[2];
};

/* A collective that does not wait in the call that posts or starts it. */
struct operation {
    uint32_t group;
    uint32_t lane, call;              /* that posts it, or starts it */
    uint32_t done_lane, done_call;    /* that completes it; GRAPH_NONE: the trace does not tell */
    bool started;                     /* it is persistent: its call is in no group */
    bool gives_nothing, gets_nothing; /* as of struct call */
};

/* A function on a communicator: its groups are the rows of the same number. */
struct group_stream {
    int32_t comm; /* EVENT_UNKNOWN: the trace does not tell; of an inter-communicator the side with the lower index */
    uint32_t state;
    uint32_t most;   /* participants of its largest group */
    bool two_groups; /* an inter-communicator */
    bool sided;      /* and the trace tells which group is which: its groups have rows in `sides` */
};

/* A call on a window waits until another call of the window is entered, or left: see graph_windows.h. */
struct window_edge {
    uint32_t lane, call;             /* that waits */
    uint32_t cause_lane, cause_call; /* for this one */
    int64_t from_ns;                 /* it waits from then on at the earliest */
    uint8_t kind;                    /* enum wait_kind */
    bool after;                      /* until the cause is left, not entered */
};

struct graph {
    const struct defs *defs;
    struct lane *lanes;
    size_t lane_count, lane_capacity;
    struct packed_message *messages;
    size_t message_count, message_capacity;
    struct message_link *links; /* by message; of those from link_count on nothing is told */
    size_t link_count, link_capacity;
    struct map far_posts; /* message -> (lane, call) */
    struct channel *channels;
    size_t channel_count, channel_capacity;
    struct group *groups;
    size_t group_count, group_capacity;
    struct group_stream *streams;
    size_t stream_count, stream_capacity;
    struct prefix *prefixes; /* by group and rank */
    size_t prefix_count, prefix_capacity;
    struct source *sources; /* by communicator, process and source */
    size_t source_count, source_capacity;
    struct map source_places;     /* (communicator, process) -> index of the first source */
    struct neighbour *neighbours; /* by group and process */
    size_t neighbour_count;
    struct group_sides *sides;
    size_t side_count;
    struct operation *operations; /* by the call that completes them; those of which that is not known last */
    size_t operation_count, operation_capacity;
    struct map operation_places; /* (lane, call) that completes -> index of the first */
    uint32_t *starts;            /* operations that are started, by lane and call */
    size_t start_count;
    struct map start_places;        /* (lane, call) that starts -> index of the first in `starts` */
    struct map prefix_places;       /* (lane, call) -> index of the prefix */
    struct collective *collectives; /* by state of the definitions */
    struct window_edge *edges;      /* by the call that waits */
    size_t edge_count, edge_capacity;
    uint32_t *edges_by_cause; /* indices of edges, by the call that is waited for */
    struct call_kind *kinds;
    size_t kind_count, kind_capacity;
    int64_t *long_calls, *long_messages; /* leave times; bytes */
    size_t long_call_count, long_call_capacity, long_message_count, long_message_capacity;
    struct lane_waits *waits; /* by lane, see wait_table.h; NULL: not computed yet */
    int64_t *long_waits;
    size_t long_wait_count, long_wait_capacity;
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

static inline struct call graph_call(const struct graph *graph, uint32_t lane, uint32_t index)
{
    const struct packed_call *packed = &graph->lanes[lane].calls[index];
    const struct call_kind *kind = &graph->kinds[packed->word >> CALL_KIND_SHIFT];
    uint64_t duration = packed->word & CALL_DURATION_MASK;
    bool in_group = packed->word & CALL_IN_GROUP;
    bool completes = packed->word & CALL_COMPLETES, posts = packed->word & CALL_POSTS;
    return (struct call){.enter_ns = packed->enter_ns,
                         .leave_ns = duration & CALL_LONG ? graph->long_calls[duration & ~CALL_LONG]
                                                          : packed->enter_ns + (int64_t)duration,
                         .state = kind->state,
                         .site = kind->site,
                         .comm = kind->comm,
                         .group = in_group ? packed->received : 0,
                         .sent = completes ? 0 : packed->sent,
                         .received = in_group || posts ? 0 : packed->received,
                         .completed = completes ? packed->sent : 0,
                         .posted = posts ? packed->received : 0,
                         .gives_nothing = in_group && packed->word & CALL_GIVES_NOTHING,
                         .gets_nothing = in_group && packed->word & CALL_GETS_NOTHING,
                         .operates = packed->word & CALL_OPERATES,
                         .pending_same = !in_group && packed->word & CALL_PENDING_SAME,
                         .pending_other = !in_group && packed->word & CALL_PENDING_OTHER};
}

static inline struct message graph_message(const struct graph *graph, uint32_t index)
{
    const struct packed_message *packed = &graph->messages[index];
    const struct channel *channel = &graph->channels[packed->channel];
    return (struct message){.send_lane = packed->send_call == GRAPH_NONE ? GRAPH_NONE : channel->send_lane,
                            .send_call = packed->send_call,
                            .receive_lane = packed->receive_call == GRAPH_NONE ? GRAPH_NONE : channel->receive_lane,
                            .receive_call = packed->receive_call,
                            .next_sent = packed->next_sent,
                            .next_received = packed->next_received,
                            .channel = packed->channel,
                            .bytes = packed->bytes == UINT32_MAX ? BYTES_UNKNOWN
                                     : packed->bytes & MESSAGE_LONG
                                         ? graph->long_messages[packed->bytes & ~MESSAGE_LONG]
                                         : packed->bytes};
}

/* The rest of the lists of `completed` and `posted`: 1 + index; 0: no more. */
static inline uint32_t graph_next_completed(const struct graph *graph, uint32_t message)
{
    uint32_t next = graph->links[message].next_completed;
    return next == LINK_END ? 0 : next;
}
static inline uint32_t graph_next_posted(const struct graph *graph, uint32_t message)
{
    uint32_t next = graph->links[message].next_posted;
    return next == LINK_END ? 0 : next;
}

/* True if the message's send completes in another call than the one that sends it, and which is known. */
static inline bool graph_completes_later(const struct graph *graph, uint32_t message)
{
    return message < graph->link_count && graph->links[message].next_completed;
}

/* True if its receive was posted in another call than the one that receives it, and which is known. */
static inline bool graph_posted_before(const struct graph *graph, uint32_t message)
{
    return message < graph->link_count && graph->links[message].next_posted;
}

/* Which call posts the receive of message `index`, which is `message`: the one that receives it, of blocking receives.
 */
struct post graph_post(const struct graph *graph, uint32_t index, const struct message *message);

static inline const struct state_def *graph_state(const struct graph *graph, const struct call *call)
{
    return &graph->defs->states[call->state];
}

/* Index of the first operation that the call completes, the others behind it; the count where there is none. */
static inline size_t graph_operations(const struct graph *graph, uint32_t lane, uint32_t call)
{
    const uint64_t *place = map_find(&graph->operation_places, map_pair(lane, call));
    return place ? (size_t)*place : graph->operation_count;
}
static inline bool graph_completes(const struct operation *operation, uint32_t lane, uint32_t call)
{
    return operation->done_lane == lane && operation->done_call == call;
}

/* What the collective is by its function. */
static inline struct collective graph_collective_of(const struct graph *graph, const struct group *group)
{
    return graph->collectives[graph->streams[group->stream].state];
}

/* What the call's function is as a collective. */
static inline struct collective graph_collective(const struct graph *graph, const struct call *call)
{
    return graph->collectives[call->state];
}

/* True of calls on a window that the trace tells of. */
static inline bool graph_on_window(const struct graph *graph, const struct call *call)
{
    return call->comm >= 0 && graph->defs->comms[call->comm].window;
}

/* The collective that the call takes part in; NULL where it is none. */
static inline const struct group *graph_group(const struct graph *graph, const struct call *call)
{
    return call->group ? &graph->groups[call->group - 1] : NULL;
}

/* True of a call in a reduction (all give to one) that was entered before the last member came, and left not before:
   whoever is no leaf of the MPI library's tree waits for those below. Traces whose clocks are wrong must show more than
   that error. Scalasca counts only what the root waits for the first of the others as waiting, but leads the critical
   path to the last member where all stayed for it (its CriticalPath patterns, diagnosis_rules 2.1). */
static inline bool graph_stays_for_last(const struct graph *graph, const struct group *group, const struct call *call)
{
    return graph_collective_of(graph, group).shape == SHAPE_ALL_TO_ONE && !graph->streams[group->stream].sided &&
           group->complete && group->latest_lane != GRAPH_NONE && call->enter_ns < group->latest_enter_ns &&
           call->leave_ns >= group->latest_enter_ns &&
           time_since(group->latest_enter_ns, call->leave_ns) >= graph->clock_error_ns;
}

#endif
