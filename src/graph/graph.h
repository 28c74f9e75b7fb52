/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_H
#define SIGHT_GRAPH_GRAPH_H

#include "core/sink.h"
#include "graph/collective.h"

/* The calls of a run and the links between them across processes: messages and collectives. Wait states, the critical
   path and replays are computed from it.

   Calls and messages are stored packed and read as values: graph_call(), graph_message(), graph_next_sent() and its
   like; graph_storage.h writes them. Memory: 16 bytes for each MPI call, 16 for each message, 88 for each collective,
   28 for each channel; 8 more for a call that both sends and receives, 16 for one longer than 2 s, 4 for each message
   where calls receive several (and 4 where they send several). Where the trace records requests of messages, 8 more for
   each message. */

enum { GRAPH_NONE = UINT32_MAX };

/* An MPI call that is not nested in another. Index 0 of `sent`, `received`, `completed`, `posted`, `instance` means
   none: they are 1 + an index. */
struct call {
    int64_t enter_ns, leave_ns; /* never left: the end of its location */
    uint32_t state;             /* index into the definitions */
    uint32_t site;              /* 1 + index into the definitions' sites; 0: not known */
    int32_t comm;               /* index into the definitions' communicators; EVENT_UNKNOWN */
    uint32_t instance;          /* of a collective */
    uint32_t sent;              /* first message that leaves in it; the others by graph_next_sent */
    uint32_t received;          /* first message that arrives in it; of a probe: the message it found */
    uint32_t completed;         /* first message of another call whose send completes in it; by graph_next_completed */
    uint32_t posted;            /* first message that another call receives, and it posted; by graph_next_posted */
    bool gives_nothing;         /* a collective, and the trace shows that it sends no byte */
    bool gets_nothing;          /* and receives none */
    bool operates;              /* it completes collectives or starts persistent ones; or has edges on a window */
    bool pending_same;  /* it waits for a message while another one from the same sender, received later, has arrived */
    bool pending_other; /* the same with a message from another sender */
};

/* A message, matched: the n-th send and the n-th receive of the same sender, receiver, communicator and tag. Messages
   inside collectives, which old recorders write, are matched but belong to no call. */
struct message {
    uint32_t send_location, send_call;       /* GRAPH_NONE: not recorded */
    uint32_t receive_location, receive_call; /* the call in which it completes */
    uint32_t channel;                        /* index into the graph's channels */
    int64_t bytes;                           /* BYTES_UNKNOWN */
};

/* A message whose send completes, or whose receive was posted or started, in a different call than the one that sends
   or receives it. */
struct message_link {
    uint32_t post;           /* 1 + the call that posts; LINK_FAR: of another location; 0: not known */
    uint32_t next_completed; /* 1 + index; LINK_END: last of its call; 0: in no list */
};
enum { LINK_END = UINT32_MAX, LINK_FAR = UINT32_MAX };

/* The next message of the same call, by message: 1 + index; 0, and from `count` on: none. Most calls have at most one
   message, so that nothing is stored. */
struct message_chain {
    uint32_t *next;
    size_t count, capacity;
};

/* The call that posts a receive: from its enter on the sender no longer waits. */
struct post {
    uint32_t location, call; /* GRAPH_NONE: the trace does not record it */
};

/* A channel: the messages with the same sender, receiver, communicator and tag, and the same threads. */
struct channel {
    uint32_t sender, receiver; /* processes */
    int32_t comm, tag;         /* comm: of an inter-communicator the side with the lower index */
    uint32_t send_location, receive_location;
    uint32_t other; /* 1 + the next of the same but for the threads; 0: none */
};

/* Properties shared by many calls; internal to graph_call. */
struct call_kind {
    uint32_t state, site;
    int32_t comm;
};
struct packed_call {
    uint64_t word;     /* enter since the begin of its block, kind, flags */
    uint32_t duration; /* CALL_LONG: the rest is the index of one that does not fit */
    uint32_t link;     /* of a collective; first message that it sends or completes (CALL_OUT), or receives or posts
                          (CALL_IN); for both: index into `ends` */
};
enum {
    CALL_IN_INSTANCE = 1,
    CALL_OUT = 2,
    CALL_IN = 4,
    CALL_GIVES_NOTHING = 8,
    CALL_GETS_NOTHING = 16,
    CALL_OPERATES = 32
};
enum { CALL_COMPLETES = 64 /* what is CALL_OUT is `completed` */, CALL_POSTS = 128 /* CALL_IN is `posted` */ };
enum { CALL_PENDING_SAME = CALL_GIVES_NOTHING, CALL_PENDING_OTHER = CALL_GETS_NOTHING }; /* of calls in no instance */
enum {
    CALL_KIND_SHIFT = 8,
    CALL_KINDS = 1 << 22, /* more are not distinguished: then sites and communicators are not known */
    CALL_ENTER_SHIFT = 30
};
#define CALL_LONG (UINT32_C(1) << 31)
#define CALL_ENTER_MAX (UINT64_MAX >> CALL_ENTER_SHIFT) /* 17 s */

/* Times of a call that is long, or that begins too far from its block. */
struct long_call {
    int64_t enter_ns, leave_ns;
};

/* First messages of a call that has both kinds: `sent` or `completed`, and `received` or `posted`. */
struct call_ends {
    uint32_t out, in;
};

/* Consecutive calls of a location; its last chunk is only as large as needed. */
enum { BLOCK_CALLS = 64, CHUNK_BLOCKS = 16, CHUNK_CALLS = BLOCK_CALLS * CHUNK_BLOCKS };
struct call_block {
    int64_t begin_ns; /* enter of the first */
    struct packed_call calls[BLOCK_CALLS];
};

/* Memory for many chunks at once, in large pages. */
struct chunk_pool {
    bool used;
    struct call_block **slabs;
    size_t count, capacity; /* of slabs */
    size_t taken;           /* chunks */
};

struct packed_message {
    uint32_t channel;
    uint32_t bytes; /* from MESSAGE_LONG on: index of a large one; UINT32_MAX: not known */
    uint32_t send_call, receive_call;
};
#define MESSAGE_LONG (UINT32_C(1) << 31)

/* Calls of one thread of a process, in order. Threads without calls and messages are parts of the first location of
   their process, which is there in any case. */
struct location {
    uint32_t process, thread;
    struct call_block **blocks; /* in chunks: those of a chunk follow each other */
    size_t count, capacity;     /* of calls */
    int64_t begin_ns, end_ns;   /* its first and last event, and those of such threads */
    int64_t polled_ns;          /* between polls that are merged into one call: polls.h */
};

/* A collective: the n-th of its function on its communicator. Members that are known to send nothing delay no one, and
   do not count for `latest` and `earliest_other`. */
struct instance {
    int64_t latest_enter_ns, earliest_leave_ns;
    int64_t all_entered_ns;    /* latest enter of any member, also of those that give nothing */
    int64_t earliest_other_ns; /* enter of the first that is not the root; INT64_MAX: none */
    int64_t earliest_done_ns;  /* leave of the first that both sends and receives */
    uint32_t latest_location,
        latest_call; /* the last to enter, the lowest location if equal; GRAPH_NONE: no member counts */
    uint32_t root_location, root_call; /* GRAPH_NONE: not known */
    int64_t bytes;                     /* the most that a member sends or receives; 0: not recorded */
    uint32_t count, givers;
    uint32_t stream; /* its function and communicator */
    uint32_t rows; /* of a prefix reduction, a neighbourhood, or two groups: its first row in `prefixes`, `neighbours`,
                      or its only one in `sides`; GRAPH_NONE */
    bool complete; /* all members are recorded */
    bool root_named;   /* the trace says which process is the root, whether or not that has entered it */
    bool waits_at_end; /* a split collective: in the calls that end it, not in those that begin it */
    /* Of nearly all collectives, where no more needs to be known: */
    uint8_t last_wait; /* each member that gets something waits in its own call until the last has entered: an enum
                          wait_kind; WAIT_NONE: who waits for whom is not that simple */
    uint8_t last_completion; /* if so: the kind of what is left of the call then; WAIT_NONE */
};

/* A member of a prefix reduction (MPI_Scan), by rank: the last to enter among the members up to it that send something.
 */
struct prefix {
    uint32_t instance, rank, location, call;
    uint32_t latest_location, latest_call; /* GRAPH_NONE: none */
    bool gives_nothing;
};

/* A member of a neighbourhood collective, by process: the last to enter among its neighbours that send something. */
enum { NEIGHBOURS_UNKNOWN = GRAPH_NONE - 1 };
struct neighbour {
    uint32_t location, call;
    uint32_t latest_location, latest_call; /* latest_location GRAPH_NONE: none; NEIGHBOURS_UNKNOWN: not recorded */
};

/* A source of the process in neighbourhood collectives on the communicator. */
struct source {
    int32_t comm;
    uint32_t process, source;
};

/* One group of an inter-communicator in a collective: a process waits for the other group. As in the whole collective,
   `latest` and `earliest` do not count members that are known to send nothing. */
struct group_side {
    int64_t latest_enter_ns, earliest_enter_ns;
    uint32_t latest_location, latest_call; /* GRAPH_NONE: none */
    uint32_t count, givers;
};
struct group_sides {
    struct group_side sides[2];
};

/* A collective that does not wait in the call that posts or starts it. */
struct operation {
    uint32_t instance;
    uint32_t location, call;           /* the call that posts or starts it */
    uint32_t done_location, done_call; /* the call that completes it; GRAPH_NONE: not recorded */
    bool started;                      /* it is persistent: its call is in no instance */
    bool gives_nothing, gets_nothing;  /* as of struct call */
};

/* A function on a communicator: its instances are the rows of the same number. */
struct instance_stream {
    int32_t
        comm; /* EVENT_UNKNOWN: the trace does not record it; of an inter-communicator the side with the lower index */
    uint32_t state;
    uint32_t most;   /* members of its largest instance */
    bool two_groups; /* an inter-communicator */
    bool sided;      /* and the trace shows the groups: they have rows in `sides` */
};

/* A call waits until another call is entered, or left, that is neither the other end of a message nor in the same
   collective: calls on a window (graph_windows.h), sends that the receiver holds back (held_sends.h), and calls that
   complete a collective for which another member is late (late_progress.h). */
struct window_edge {
    uint32_t location, call;             /* that waits */
    uint32_t cause_location, cause_call; /* the call it waits for */
    int64_t from_ns;                     /* earliest begin of the wait */
    uint8_t kind;                        /* enum wait_kind */
    bool after;                          /* it waits until the cause is left, not entered */
};

/* A send that is in no list of a call: it is recorded outside all calls, or inside a collective, whose calls have none.
 */
struct loose_send {
    uint32_t location, message;
    uint32_t call; /* the collective it is inside of; GRAPH_NONE: it is outside all calls */
    int64_t time_ns;
};

struct graph {
    const struct defs *defs;
    struct location *locations;
    size_t location_count, location_capacity;
    struct chunk_pool pool;
    struct call_ends *ends;
    size_t end_count, end_capacity;
    struct packed_message *messages;
    size_t message_count, message_capacity;
    struct message_chain next_sent, next_received, next_posted;
    struct message_link *links; /* by message; nothing is known from link_count on */
    size_t link_count, link_capacity;
    struct map far_posts;           /* message -> (location, call) */
    struct loose_send *loose_sends; /* in the order of the events */
    size_t loose_send_count, loose_send_capacity;
    struct channel *channels;
    size_t channel_count, channel_capacity;
    struct instance *instances;
    size_t instance_count, instance_capacity;
    struct instance_stream *streams;
    size_t stream_count, stream_capacity;
    struct prefix *prefixes; /* by instance and rank */
    size_t prefix_count, prefix_capacity;
    struct source *sources; /* by communicator, process and source */
    size_t source_count, source_capacity;
    struct map source_places;     /* (communicator, process) -> index of the first source */
    struct neighbour *neighbours; /* by instance and process */
    size_t neighbour_count;
    struct group_sides *sides;
    size_t side_count;
    struct operation *operations; /* by the call that completes them; those with an unknown one last */
    size_t operation_count, operation_capacity;
    struct map operation_places; /* (location, call) that completes -> index of the first */
    uint32_t *starts;            /* operations that are started, by location and call */
    size_t start_count;
    struct map start_places;        /* (location, call) that starts -> index of the first in `starts` */
    struct map prefix_places;       /* (location, call) -> index of the prefix */
    struct collective *collectives; /* by state of the definitions */
    struct window_edge *edges;      /* by the call that waits */
    size_t edge_count, edge_capacity;
    uint32_t *edges_by_cause; /* indices of edges, by the call that is waited for */
    struct call_kind *kinds;
    size_t kind_count, kind_capacity;
    struct long_call *long_calls;
    int64_t *long_messages; /* bytes */
    size_t long_call_count, long_call_capacity, long_message_count, long_message_capacity;
    struct location_waits *waits; /* by location, see wait_table.h; NULL: not computed yet */
    int64_t *long_waits;
    size_t long_wait_count, long_wait_capacity;
    uint64_t unmatched;     /* ends of messages without the other */
    uint64_t early;         /* messages received before they are sent */
    int64_t clock_error_ns; /* the largest time by which one is */
    bool too_large;         /* more calls or messages than 32-bit indices allow: the rest is missing */
};

/* Collects a graph from the events. */
struct graph_builder;
struct graph_builder *graph_builder_new(void);
/* To be called before there are events: long graphs are made faster. Does nothing where large blocks are in
   a store (core/memory.h). */
void graph_builder_use_pool(struct graph_builder *builder);
struct sink *graph_builder_sink(struct graph_builder *builder); /* owned by the builder */

/* After the sink's end: the graph, which the caller frees with graph_free. Frees the builder. With several threads, the
   waits of locations are computed at once, with the same results. */
struct graph *graph_builder_end(struct graph_builder *builder);
struct graph *graph_builder_end_in_parallel(struct graph_builder *builder, unsigned threads);
void graph_free(struct graph *graph);

/* When the run begins, on its own clock, and how long it takes: from the first event of all locations to the last. 0
   without locations. */
int64_t graph_begin_ns(const struct graph *graph);
int64_t graph_duration_ns(const struct graph *graph);

/* The first call of the location that is left at this time or later; the number of its calls if there is none. Calls of
   a location are in order by both ends, unless the trace is `unordered`. */
uint32_t graph_first_left(const struct graph *graph, uint32_t location, int64_t time_ns);

static inline struct call_block *location_block(const struct location *location, size_t index)
{
    return location->blocks[index / BLOCK_CALLS];
}

/* The stored form, for the sources that write graphs. */
static inline struct packed_call *location_packed(const struct location *location, size_t index)
{
    return &location_block(location, index)->calls[index % BLOCK_CALLS];
}
static inline uint32_t packed_kind(const struct packed_call *call)
{
    return call->word >> CALL_KIND_SHIFT & (CALL_KINDS - 1);
}
/* First messages of both kinds: `sent` or `completed`, `received` or `posted`. */
static inline struct call_ends packed_ends(const struct graph *graph, const struct packed_call *call)
{
    if ((call->word & (CALL_OUT | CALL_IN)) == (CALL_OUT | CALL_IN))
        return graph->ends[call->link];
    return (struct call_ends){call->word & CALL_OUT ? call->link : 0, call->word & CALL_IN ? call->link : 0};
}

/* Always inline: most callers need only a few of the fields. */
static inline __attribute__((always_inline)) struct call graph_call(const struct graph *graph, uint32_t location,
                                                                    uint32_t index)
{
    const struct call_block *block = location_block(&graph->locations[location], index);
    const struct packed_call *packed = &block->calls[index % BLOCK_CALLS];
    const struct call_kind *kind = &graph->kinds[packed_kind(packed)];
    uint64_t word = packed->word;
    bool in_instance = word & CALL_IN_INSTANCE, completes = word & CALL_COMPLETES, posts = word & CALL_POSTS;
    struct call_ends ends = packed_ends(graph, packed);
    struct call call = {.enter_ns = block->begin_ns + (int64_t)(word >> CALL_ENTER_SHIFT),
                        .state = kind->state,
                        .site = kind->site,
                        .comm = kind->comm,
                        .instance = in_instance ? packed->link : 0,
                        .sent = completes ? 0 : ends.out,
                        .received = posts ? 0 : ends.in,
                        .completed = completes ? ends.out : 0,
                        .posted = posts ? ends.in : 0,
                        .gives_nothing = in_instance && word & CALL_GIVES_NOTHING,
                        .gets_nothing = in_instance && word & CALL_GETS_NOTHING,
                        .operates = word & CALL_OPERATES,
                        .pending_same = !in_instance && word & CALL_PENDING_SAME,
                        .pending_other = !in_instance && word & CALL_PENDING_OTHER};
    call.leave_ns = call.enter_ns + packed->duration;
    if (packed->duration & CALL_LONG) {
        call.enter_ns = graph->long_calls[packed->duration & ~CALL_LONG].enter_ns;
        call.leave_ns = graph->long_calls[packed->duration & ~CALL_LONG].leave_ns;
    }
    return call;
}

/* When the previous call is left; for the first call the begin of the location. */
static inline int64_t graph_left_before_ns(const struct graph *graph, uint32_t location, size_t index)
{
    return index ? graph_call(graph, location, (uint32_t)index - 1).leave_ns : graph->locations[location].begin_ns;
}

static inline struct message graph_message(const struct graph *graph, uint32_t index)
{
    const struct packed_message *packed = &graph->messages[index];
    const struct channel *channel = &graph->channels[packed->channel];
    return (struct message){
        .send_location = packed->send_call == GRAPH_NONE ? GRAPH_NONE : channel->send_location,
        .send_call = packed->send_call,
        .receive_location = packed->receive_call == GRAPH_NONE ? GRAPH_NONE : channel->receive_location,
        .receive_call = packed->receive_call,
        .channel = packed->channel,
        .bytes = packed->bytes == UINT32_MAX    ? BYTES_UNKNOWN
                 : packed->bytes & MESSAGE_LONG ? graph->long_messages[packed->bytes & ~MESSAGE_LONG]
                                                : packed->bytes};
}

/* The rest of the lists of a call's messages `sent`, `received`, `completed` and `posted`: 1 + index; 0: no more. */
static inline uint32_t chain_next(const struct message_chain *chain, uint32_t message)
{
    return message < chain->count ? chain->next[message] : 0;
}
static inline uint32_t graph_next_sent(const struct graph *graph, uint32_t message)
{
    return chain_next(&graph->next_sent, message);
}
static inline uint32_t graph_next_received(const struct graph *graph, uint32_t message)
{
    return chain_next(&graph->next_received, message);
}
static inline uint32_t graph_next_posted(const struct graph *graph, uint32_t message)
{
    return chain_next(&graph->next_posted, message);
}
static inline uint32_t graph_next_completed(const struct graph *graph, uint32_t message)
{
    uint32_t next = graph->links[message].next_completed;
    return next == LINK_END ? 0 : next;
}

/* True if the message's send completes in a known call other than the one that sends it. */
static inline bool graph_completes_later(const struct graph *graph, uint32_t message)
{
    return message < graph->link_count && graph->links[message].next_completed;
}

/* True if its receive was posted in a known call other than the one that receives it. */
static inline bool graph_posted_before(const struct graph *graph, uint32_t message)
{
    return message < graph->link_count && graph->links[message].post;
}

/* The call that posts the receive of message `index`, which is `message`: for blocking receives the call that receives
   it.
 */
struct post graph_post(const struct graph *graph, uint32_t index, const struct message *message);

static inline const struct state_def *graph_state(const struct graph *graph, const struct call *call)
{
    return &graph->defs->states[call->state];
}

/* Index of the first operation that the call completes, followed by the others; the count if there is none. */
static inline size_t graph_operations(const struct graph *graph, uint32_t location, uint32_t call)
{
    const uint64_t *place = map_find(&graph->operation_places, map_pair(location, call));
    return place ? (size_t)*place : graph->operation_count;
}
static inline bool graph_completes(const struct operation *operation, uint32_t location, uint32_t call)
{
    return operation->done_location == location && operation->done_call == call;
}

/* The kind of a collective, from its function. */
static inline struct collective graph_collective_of(const struct graph *graph, const struct instance *instance)
{
    return graph->collectives[graph->streams[instance->stream].state];
}

/* The collective kind of the call's function. */
static inline struct collective graph_collective(const struct graph *graph, const struct call *call)
{
    return graph->collectives[call->state];
}

/* True for collectives whose members wait in their own calls; otherwise they wait in the calls that complete them. */
static inline bool graph_waits_at_once(const struct graph *graph, const struct instance *instance)
{
    uint8_t stage = graph_collective_of(graph, instance).stage;
    return stage == STAGE_BLOCKING || (stage == STAGE_SPLIT && !instance->waits_at_end);
}

/* True for calls on a window if the trace records the window. */
static inline bool graph_on_window(const struct graph *graph, const struct call *call)
{
    return call->comm >= 0 && graph->defs->comms[call->comm].window;
}

/* The collective that the call takes part in; NULL if none. */
static inline const struct instance *graph_instance(const struct graph *graph, const struct call *call)
{
    return call->instance ? &graph->instances[call->instance - 1] : NULL;
}

/* True for a call in a reduction (all send to one) that was entered before the last member arrived, and left after it:
   every process that is not a leaf of the MPI library's tree waits for those below it. If clocks are wrong, the
   difference must exceed their error. Scalasca counts only what the root waits for the first of the others as waiting,
   but leads the critical path to the last member if all stayed until it arrived (its CriticalPath patterns,
   diagnosis_rules 2.1). */
static inline bool graph_stays_for_last(const struct graph *graph, const struct instance *instance,
                                        const struct call *call)
{
    return graph_collective_of(graph, instance).shape == SHAPE_ALL_TO_ONE && !graph->streams[instance->stream].sided &&
           instance->complete && instance->latest_location != GRAPH_NONE &&
           call->enter_ns < instance->latest_enter_ns && call->leave_ns >= instance->latest_enter_ns &&
           time_since(instance->latest_enter_ns, call->leave_ns) >= graph->clock_error_ns;
}

#endif
