/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_PLAYER_H
#define SIGHT_REPLAY_PLAYER_H

#include "graph/graph.h"

/* The bookkeeping shared by all replays: how far each location is, which events that calls depend on have happened, and
   which locations wait for them. Messages leave, receives are posted, processes arrive at collectives, calls on windows
   are entered and left: all these are announced here. A replay adds its costs: when a call ends once it has everything
   it needs (exact.h: as in the record; network.c: on a model network). Times are ns from the begin of the run.

   What waits for what follows from the record, not from the times. So several replays go through the graph as one, each
   with times of its own: lane i of every array of times is the i-th replay. */

/* A time not known yet. */
#define NOT_YET INT64_MIN

/* Times of model networks are limited to avoid overflow. */
static inline int64_t player_later(int64_t time_ns, int64_t ns)
{
    int64_t sum;
    return __builtin_add_overflow(time_ns, ns, &sum) ? INT64_MAX : sum;
}

struct instance_play {
    uint32_t arrived; /* of those that send something */
    uint32_t present; /* of all */
    uint32_t prefix;  /* of a prefix reduction: so many members, from the lowest rank on, have arrived */
    uint32_t waiting; /* 1 + location: the first of those that wait, by next_waiting */
    bool root_is_there;
};

/* A member of a neighbourhood collective. */
struct neighbour_play {
    bool entered;
    uint32_t waiting; /* 1 + location: the first of those that wait for it */
};

struct location_play {
    uint32_t *waiting_in;                    /* the list of waiting locations that contains it; NULL: none */
    uint32_t next_waiting, previous_waiting; /* 1 + location: beside it there */
    uint32_t message;                        /* 1 + the message for whose other end it waits */
    uint32_t at;                             /* next call */
    bool entered;                            /* it was entered, and could not end yet */
    bool is_ready;                           /* of exact replays: it is among those that can continue */
};

struct edge_play {
    bool happened; /* what it waits for */
    bool waits;    /* its location waits for that */
};

struct player;

/* A replay's reactions to announcements. */
struct player_rules {
    /* The location enters a call: in it a message leaves; one arrives, or is found by a probe; the receive of one that
       arrives in another call is posted. */
    void (*send)(struct player *player, uint32_t location, const struct call *call, uint32_t message);
    void (*receive)(struct player *player, uint32_t location, uint32_t message);
    void (*post)(struct player *player, uint32_t location, uint32_t message);
    /* What the location waits for may have happened: tries its call again, if it has entered one. */
    void (*wake)(struct player *player, uint32_t location);
    bool together; /* all collectives end when all members have arrived: none is woken earlier, and the latest member is
                      that of all, not of those that send something */
};

struct player {
    const struct graph *graph;
    const struct player_rules *rules;
    size_t lanes;    /* replays */
    int64_t news_ns; /* the time until others learn of a call on a window */
    struct location_play *locations;
    struct instance_play *instances;
    uint32_t (*sides)[2];              /* by row of the graph's sides: arrived of those that send something */
    struct neighbour_play *neighbours; /* by row of the graph's neighbours */
    struct edge_play *edges;           /* by edge of windows */
    bool *in_prefix;                   /* by prefix: it has arrived */
    /* Times, `lanes` for each; NOT_YET. */
    int64_t *now_ns;       /* by location */
    int64_t *latest_ns;    /* by instance: of those that send something */
    int64_t *root_ns;      /* by instance */
    int64_t *side_ns;      /* by row of sides and group: as `latest_ns` */
    int64_t *neighbour_ns; /* by row of neighbours: when it is entered */
    int64_t *edge_ns;      /* by edge: when what it waits for happens */
    int64_t *prefix_ns;    /* by prefix: when it is entered; once all lower ranks are, the latest up to it */
    uint32_t *sends;       /* scratch: messages of a call */
    size_t send_count, send_capacity;
    uint32_t *winners; /* locations by the recorded enter of their next calls: player_force.c; NULL: not needed yet */
    size_t winner_leaves;
    uint64_t forced;
};

/* An array of times that are not known yet; the caller frees it. */
int64_t *player_times(size_t count);

/* All locations are before their first calls, at their begins. */
void player_begin(struct player *player, const struct graph *graph, const struct player_rules *rules, size_t lanes);

/* Bytes that one more lane takes. */
size_t player_lane_bytes(const struct graph *graph);
void player_clear(struct player *player);

/* The location enters its call, at its time: announces everything that others may wait for, its arrival at a collective
   last. */
void player_enter(struct player *player, uint32_t location, const struct call *call);

/* The call ends at these times: the location is before its next one. */
void player_leave(struct player *player, uint32_t location, const struct call *call, const int64_t *end_ns);

/* The location's times. */
static inline int64_t *player_now(const struct player *player, uint32_t location)
{
    return player->now_ns + location * player->lanes;
}

static inline int64_t *player_side_ns(const struct player *player, const struct instance *recorded, int side)
{
    return player->side_ns + (2 * recorded->rows + (size_t)side) * player->lanes;
}

static inline void player_copy(const struct player *player, int64_t *to_ns, const int64_t *from_ns)
{
    for (size_t i = 0; i < player->lanes; i++)
        to_ns[i] = from_ns[i];
}

/* The later ones of both. */
static inline void player_raise(const struct player *player, int64_t *to_ns, const int64_t *from_ns)
{
    for (size_t i = 0; i < player->lanes; i++)
        to_ns[i] = to_ns[i] < from_ns[i] ? from_ns[i] : to_ns[i];
}

/* Adds the location to the list; it is in at most one. Returns NOT_YET. */
int64_t player_wait_in(struct player *player, uint32_t location, uint32_t *list);

/* Removes the location from its list, though what it waits for has not happened. */
void player_leave_list(struct player *player, uint32_t location);

/* The location waits for the other end of the message. Returns NOT_YET. */
static inline int64_t player_wait_for_message(struct player *player, uint32_t location, uint32_t message)
{
    player->locations[location].message = message + 1;
    return NOT_YET;
}

/* Lets the location continue if it waits for the other end of the message. */
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

/* Breaks a deadlock (player_force.c), caused by a circle or a partner missing from a damaged trace: returns the
   location whose call was entered first in the record, which no longer waits and is counted; the caller ends its call.
   GRAPH_NONE: all have finished. */
uint32_t player_force(struct player *player);

/* After the first forced one, call this for each location that continues. */
void player_went_on(struct player *player, uint32_t location);

#endif
