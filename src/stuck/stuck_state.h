/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_STUCK_STATE_H
#define SIGHT_STUCK_STUCK_STATE_H

#include "core/map.h"
#include "core/payload.h"
#include "graph/collective.h"
#include "stuck/stuck.h"

/* The state of all processes at the end of a trace, and the history needed for it. */

/* An item that a thread's open call waits for, or an active request. */
struct item {
    struct pending pending;
    int32_t comm; /* at the process's side */
};

/* A partitioned send that has begun, and of which not all partitions are ready. */
static inline bool item_lacks_parts(const struct item *item)
{
    const struct pending *pending = &item->pending;
    return pending->what == PENDING_SEND && pending->partitions > 0 && pending->ready < pending->partitions;
}

/* A thread, the first of its process until another one is in a call. */
struct place {
    uint32_t process, thread;
    uint32_t depth;      /* nested open MPI calls */
    struct place *outer; /* those that a callback of theirs has interrupted, as they were: the outermost first */
    size_t outer_count, outer_capacity;
    uint32_t state, site; /* of the innermost one that counts, open or the last; state UINT32_MAX: there was none */
    int32_t comm;
    uint64_t ordinal; /* of the open call among the collectives of its communicator, from 1; 0: not a collective */
    int64_t enter_ns, left_ns, last_ns;
    int64_t progress_ns; /* the last thing that was not a failed test */
    uint32_t polls;      /* failed tests since then */
    uint32_t sampled;    /* call path of most samples since the last call, by the majority vote of Boyer and Moore */
    uint32_t votes;      /* for it; 0: there was none */
    bool progressed;     /* it has made some that is in the trace */
    bool finalized;      /* left MPI_Finalize */
    bool has_ending;     /* the trace shows how it ended: */
    int32_t ended, code; /* enum pending_what, signal or code */
    bool sends;          /* the open call has sent a message: */
    int32_t send_partner, send_tag, send_comm;
    bool received;                   /* the open call has recorded a message: it has returned from MPI */
    bool passed;                     /* others have begun and ended in the open call, of a recorder that is not ours */
    int32_t first, last, step, lock; /* ranks of the open or last call on a window; step 0: none */
    uint32_t group;                  /* of the open call: 1 + index of its last range; 0: none */
    uint32_t team;                   /* 1 + index, known when it returns or the trace ends; 0: none */
    struct item *items;
    size_t item_count, item_capacity;
};

/* The process has ended. One that died without a note is where it was: what others wait for is judged as if it lived,
   so that a run that did not go on before is seen as what it was. */
static inline bool place_has_ended(const struct place *place)
{
    return place->has_ending && place->ended != PENDING_ALIVE && place->ended != PENDING_DIED;
}

/* Messages of a sender, receiver, communicator and tag. */
struct channel_balance {
    uint32_t sender, receiver;
    int32_t comm, tag; /* comm: of an inter-communicator the side with the lower index */
    uint64_t sent, received;
    uint32_t send_site, send_state;
    int64_t left;  /* messages not yet received, used when matching */
    int64_t taken; /* of these, by MPI_Mprobe: only MPI_Mrecv can receive them */
};

/* Collectives that a process has entered on a communicator. */
enum { COLLECTIVES_KEPT = 4 };
struct member {
    int32_t comm;
    uint32_t process;
    uint64_t count;
    uint32_t states[COLLECTIVES_KEPT]; /* functions of the last ones, by their number */
    int32_t roots[COLLECTIVES_KEPT];   /* that it named in those that have returned: a process or enum event_root;
                                          EVENT_UNKNOWN */
};

/* A persistent collective of a process. Those of a communicator match in the order in which they are prepared, and the
   n-th start of one matches the n-th of the others, whatever is started in between (MPI-4.0, 6.13). */
struct prepared {
    uint32_t state; /* its function, by the number of the name */
    uint64_t starts;
};

/* Those that a process has prepared on a communicator, in order. */
struct preparer {
    struct prepared *prepared;
    size_t count, capacity;
};

/* A request that is a collective. */
struct posted {
    int32_t comm;
    uint64_t ordinal; /* among the collectives of the communicator, or among its persistent ones */
    uint32_t state;
    bool persistent;
};

/* A lock of a window that a process holds. */
struct held_lock {
    int32_t comm, target;
    uint32_t process;
    int32_t lock; /* enum window_lock */
    int64_t since_ns;
};

/* Some ranks of the group of an epoch. */
struct group_range {
    int32_t first, last, step;
    uint32_t next; /* 1 + index; 0: none */
};

/* Who a process exchanges with in neighbourhood collectives on a communicator. */
struct neighbour {
    int32_t comm;
    uint32_t process;
    int32_t rank; /* of the other one in comm */
    int32_t way;  /* enum neighbours_way */
};

/* Members of a communicator that make one of their own together (MPI_Comm_create_group). */
struct team {
    int32_t comm;
    uint32_t group; /* 1 + index of its last range */
};

/* What is asked of a function with every call. */
enum trait {
    TRAIT_TEST = 1,
    TRAIT_INIT = 2,
    TRAIT_FINALIZE = 4,
    TRAIT_START = 8,
    TRAIT_TEAM = 16,
    TRAIT_TOPOLOGY = 32
};

enum { LAST_CHANNELS = 256 };

struct stuck_state {
    const struct defs *defs;
    bool wanted;      /* the trace may be of an unfinished run */
    bool callbacks;   /* calls within calls are those of callbacks of the program, not of MPI itself */
    bool interrupted; /* there were some */
    bool has_ending;  /* it records how processes ended */
    bool end_known;   /* and until when they lived */
    bool whole;       /* nothing of it is missing or damaged */
    bool settled;     /* messages that were sent have arrived: nothing has happened for long */
    bool sampled;     /* only some of the calls are there: starts cannot be counted */
    bool prepares;    /* there may be persistent collectives */
    struct collective *collectives;
    size_t collective_count;
    uint8_t *traits; /* of each state: enum trait */
    size_t trait_count;
    struct place *places;
    size_t place_count, place_capacity;
    struct map place_of;                   /* (process, thread) -> index */
    size_t last_place;                     /* index: most events are of the process of the one before */
    uint32_t last_channels[LAST_CHANNELS]; /* 1 + index, by a hash of the channel; 0: none */
    struct channel_balance *channels;
    size_t channel_count, channel_capacity;
    uint32_t *outstanding; /* indices of channels with messages not yet received */
    size_t outstanding_count;
    struct map pairs, streams, channel_of; /* (sender, receiver) -> id; (id, comm) -> id; (id, tag) -> channel */
    uint64_t pair_count, stream_count;
    struct member *members;
    size_t member_count, member_capacity;
    struct map member_of; /* (comm, process) -> index */
    struct posted *posted;
    size_t posted_count, posted_capacity;
    struct map posted_of; /* (process, request) -> index */
    struct preparer *preparers;
    size_t preparer_count, preparer_capacity;
    struct map preparer_of; /* (comm, process) -> index */
    struct map other_side;  /* of an inter-communicator: index -> index */
    struct map local_side;  /* process -> last index */
    struct held_lock *locks;
    size_t lock_count, lock_capacity;
    struct map groups; /* epoch_key -> 1 + index of the latest range of the last group of MPI_Win_start or MPI_Win_post;
                          the others by `next` */
    struct group_range *ranges;
    size_t range_count, range_capacity;
    struct neighbour *neighbours; /* in the order of communicators, processes and ranks when the graph is made */
    size_t neighbour_count, neighbour_capacity;
    struct team *teams;
    size_t team_count, team_capacity;
    struct map team_of;  /* a hash of communicator and ranges -> index */
    struct map team_met; /* (team, process) -> how often it has entered */
    struct map epochs;   /* epoch_key -> how often the process left the function on the window */
    int64_t begin_ns, end_ns;
    int64_t progress_ns; /* of anybody */
    int64_t longest_gap_ns;
    uint32_t pending_mark, ranks_mark; /* 1 + index; 0: there is none */
};

/* Of MPI_Win_start, MPI_Win_post and MPI_Win_complete on a window; their letters 8 and 10 distinguish them. */
static inline uint64_t epoch_key(const char *name, int32_t comm, uint32_t process)
{
    return map_pair((uint32_t)comm << 2 | (name[9] == 't' ? 0 : name[8] == 'p' ? 1 : 2), process);
}

/* The two sides of an inter-communicator as one. */
int32_t state_comm(const struct stuck_state *state, int32_t comm);

/* NULL if there is none. */
struct channel_balance *state_channel(struct stuck_state *state, uint32_t sender, uint32_t receiver, int32_t comm,
                                      int32_t tag);

/* A partitioned send of such a message that lacks parts. NULL if there is none. */
const struct item *state_unready(const struct stuck_state *state, uint32_t sender, uint32_t receiver, int32_t comm,
                                 int32_t tag);

/* The place of an event's thread; a new one if there is none. */
struct place *state_place(struct stuck_state *state, const struct event *event);

/* Counts messages like this one; their channel. */
struct channel_balance *state_count_messages(struct stuck_state *state, const struct event *event, uint64_t count);

/* The process of an event as a member of its communicator. */
struct member *state_member_put(struct stuck_state *state, const struct event *event);

/* A place is in a call of a team, which has met this often then; 0: its members are not known. */
uint64_t state_team_enter(struct stuck_state *state, struct place *place);
uint64_t state_team_met(const struct stuck_state *state, uint32_t team, uint32_t process);

/* NULL if there is none. */
const struct member *state_member(const struct stuck_state *state, int32_t comm, uint32_t process);
const struct posted *state_posted(const struct stuck_state *state, uint32_t process, int32_t request);

/* The persistent collective of a process with this number on the communicator, from 1. */
struct prepared *state_prepared(const struct stuck_state *state, int32_t comm, uint32_t process, uint64_t ordinal);

/* enum trait, of a function's name; of a state. */
uint8_t traits_of_name(const char *name);
uint8_t state_traits(const struct stuck_state *state, uint32_t index);

/* True for calls that test for something and return at once. */
bool state_is_test(const struct stuck_state *state, uint32_t index);

/* Whether a process has another one as a neighbour in one of these ways; and whether its neighbours are known. */
bool state_neighbours(const struct stuck_state *state, int32_t comm, uint32_t process, int32_t rank, int ways);
bool state_has_neighbours(const struct stuck_state *state, int32_t comm, uint32_t process);

/* Puts neighbours in order, as both of these need them. */
void state_sort_neighbours(struct stuck_state *state);

/* Name of the state's function. */
const char *state_name(const struct stuck_state *state, uint32_t index);

void stuck_state_clear(struct stuck_state *state);

#endif
