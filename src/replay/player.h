/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_PLAYER_H
#define SIGHT_REPLAY_PLAYER_H

#include "graph/graph.h"

/* What every replay keeps books of: how far each location is, which of the things that calls depend on have happened,
   and which locations wait for them. Messages leave, receives are posted, processes come to collectives, calls on
   windows are entered and left: all that is announced here, once for all replays. A replay adds its costs: when a call
   ends that has all it needs (exact.h: as in the record; network.c: on a model network). Times are ns from the begin of
   the run. */

/* What is not known yet. */
#define NOT_YET INT64_MIN

/* Times of model networks may be beyond all that a clock shows. */
static inline int64_t player_later(int64_t time_ns, int64_t ns)
{
    int64_t sum;
    return __builtin_add_overflow(time_ns, ns, &sum) ? INT64_MAX : sum;
}

struct instance_play {
    int64_t latest_ns, root_ns; /* latest: of those that give something */
    int64_t last_ns;            /* latest of all */
    uint32_t arrived;           /* of those that give something */
    uint32_t present;           /* of all */
    uint32_t prefix;            /* of a prefix reduction: so many members of the lowest ranks are there */
    uint32_t waiting;           /* 1 + location: the first of those that wait, by next_waiting */
};

/* A group of processes of an inter-communicator in a collective. */
struct side_play {
    int64_t latest_ns;
    uint32_t arrived; /* of those that give something */
};

/* A member of a neighbourhood collective. */
struct neighbour_play {
    int64_t enter_ns;
    uint32_t waiting; /* 1 + location: the first of those that wait for it */
};

struct location_play {
    int64_t now_ns;
    uint32_t *waiting_in;                    /* the list of waiting locations that it stands in; NULL: none */
    uint32_t next_waiting, previous_waiting; /* 1 + location: beside it there */
    uint32_t message;                        /* 1 + the message for whose other end it waits */
    uint32_t at;                             /* next call */
    bool entered;                            /* it was entered, and could not end yet */
    bool is_ready;                           /* of exact replays: stands among those that can go on */
};

struct edge_play {
    int64_t ns; /* when what it waits for happens */
    bool waits; /* its location waits for that */
};

struct player;

/* What a replay does with what is announced. */
struct player_rules {
    /* The location enters a call: in it a message leaves; one arrives, or is found by a probe; the receive of one that
       arrives in another call is posted. */
    void (*send)(struct player *player, uint32_t location, const struct call *call, uint32_t message);
    void (*receive)(struct player *player, uint32_t location, uint32_t message);
    void (*post)(struct player *player, uint32_t location, uint32_t message);
    /* What the location waits for may have happened: its call is to be tried again, if it has entered one. */
    void (*wake)(struct player *player, uint32_t location);
    bool together; /* all collectives end when all members are there: nobody need be woken before */
};

struct player {
    const struct graph *graph;
    const struct player_rules *rules;
    int64_t news_ns; /* what the news of a call on a window takes */
    struct location_play *locations;
    struct instance_play *instances;
    struct side_play (*sides)[2];      /* by row of the graph's sides */
    struct neighbour_play *neighbours; /* by row of the graph's neighbours */
    struct edge_play *edges;           /* by edge of windows */
    int64_t *prefix_ns; /* by prefix: when it is entered; once all lower ranks are, the latest up to it */
    uint32_t *sends;    /* scratch: messages of a call */
    size_t send_count, send_capacity;
    uint32_t *winners; /* locations by when their next calls were entered: player_force.c; NULL: nobody asked yet */
    size_t winner_leaves;
    uint64_t forced;
};

/* So many times that are not known yet; the caller frees them. */
int64_t *player_times(size_t count);

/* All locations are before their first calls, at their begins. */
void player_begin(struct player *player, const struct graph *graph, const struct player_rules *rules);
void player_clear(struct player *player);

/* The location enters its call, at its time: all that others may wait for is announced. That it came to a collective
   comes last. */
void player_enter(struct player *player, uint32_t location, const struct call *call);

/* The call ends then: the location is before its next one. */
void player_leave(struct player *player, uint32_t location, const struct call *call, int64_t end_ns);

/* The location waits in the list; it stands in one at most. Returns NOT_YET. */
int64_t player_wait_in(struct player *player, uint32_t location, uint32_t *list);

/* The location waits in no list any more, though what it waits for has not come. */
void player_leave_list(struct player *player, uint32_t location);

/* The location waits for the other end of the message. Returns NOT_YET. */
static inline int64_t player_wait_for_message(struct player *player, uint32_t location, uint32_t message)
{
    player->locations[location].message = message + 1;
    return NOT_YET;
}

/* The location, if it waits for the other end of the message, may go on. */
static inline void player_wake_for_message(struct player *player, uint32_t location, uint32_t message)
{
    if (location == GRAPH_NONE || player->locations[location].message != message + 1)
        return;
    player->locations[location].message = 0;
    player->rules->wake(player, location);
}

/* The next message that arrives in the call, after `message`; of a probe there is one, which arrives elsewhere. */
static inline uint32_t player_next_received(const struct player *player, const struct call *call, uint32_t message)
{
    uint32_t next = graph_next_received(player->graph, message - 1);
    return next && graph_state(player->graph, call)->class == CLASS_PROBE ? 0 : next;
}

/* True if the location has entered the call, or is past it. */
static inline bool player_has_entered(const struct player *player, uint32_t location, uint32_t call)
{
    const struct location_play *where = &player->locations[location];
    return where->at > call || (where->at == call && where->entered);
}

static inline bool player_is_done(const struct player *player, uint32_t location)
{
    return player->locations[location].at >= player->graph->locations[location].count;
}

/* Nothing can go on (player_force.c): a partner that a damaged trace does not have, or a circle. The location whose
   call was entered first in the record, which waits for nothing any more, and is counted; its call is to be ended.
   GRAPH_NONE: all are done. */
uint32_t player_force(struct player *player);

/* From the first force on each location that goes on is to be told of. */
void player_went_on(struct player *player, uint32_t location);

#endif
