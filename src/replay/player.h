/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_PLAYER_H
#define SIGHT_REPLAY_PLAYER_H

#include "replay/replay.h"
#include "replay/sweep.h"

/* For replay.c: a replay under way. Lanes are played one by one, each until it must wait for another; what it waits for
   is in its state, and whoever brings that makes it ready again. Times are ns from the begin of the run. */

/* What is not known yet. */
#define NOT_YET INT64_MIN

struct group_play {
    int64_t latest_ns, root_ns, earliest_other_ns;
    uint32_t arrived; /* of those who give something */
    uint32_t prefix;  /* of a prefix reduction: so many members of the lowest ranks are there */
    uint32_t waiting; /* 1 + lane: the first of those that wait, by next_waiting */
};

/* A group of processes of an inter-communicator in a collective. */
struct side_play {
    int64_t latest_ns;
    uint32_t arrived; /* of those who give something */
};

/* A member of a neighbourhood collective. */
struct neighbour_play {
    int64_t enter_ns;
    uint32_t waiting; /* 1 + lane: the first of those that wait for it */
};

struct lane_play {
    int64_t now_ns;
    uint32_t *waiting_in;                    /* the list of waiting lanes that it stands in; NULL: none */
    uint32_t next_waiting, previous_waiting; /* 1 + lane: beside it there */
    uint32_t message;                        /* 1 + the message for whose other end it waits */
    uint32_t at;                             /* next call */
    bool entered;                            /* it was entered, and could not end yet */
    bool is_ready;                           /* stands among those that can go on */
};

struct edge_play {
    int64_t ns; /* when what it waits for happens */
    bool waits; /* its lane waits for that */
};

struct player {
    const struct graph *graph;
    struct replay_options options;
    int64_t begin_ns;
    struct lane_play *lanes;
    int64_t *message_ns; /* by message: when its send was entered; once its receive has ended, when that was entered */
    int64_t *posted_ns;  /* by message with links: when its receive was posted; before: NOT_YET, or beyond it by 1 + the
                            lane that waits for it */
    struct group_play *groups;
    struct side_play (*sides)[2];      /* by row of the graph's sides */
    struct neighbour_play *neighbours; /* by row of the graph's neighbours */
    struct edge_play *edges;           /* by edge of windows */
    int64_t *prefix_ns; /* by prefix: when it is entered; once all lower ranks are, the latest up to it */
    uint32_t *ready;    /* lanes that can go on */
    uint32_t *later;    /* lanes that could, but for the window */
    size_t ready_count, later_count;
    struct windows windows; /* lanes are played up to the end of one, all of them: what they share is near, then */
    size_t window;
    int64_t until_ns;
    size_t *queue_at; /* by lane: its next wait of options.queues; NULL: there are none */
    uint64_t forced;
    uint32_t *winners; /* lanes by when their next calls were entered: player_force.c; NULL: nobody asked yet */
    size_t winner_leaves;
};

/* A thing that the call depends on: when it happened in the record and in the replay. NOT_YET: not known in the replay.
 */
struct dependency {
    int64_t recorded_ns, replayed_ns;
    enum wait_kind kind;
    bool free;      /* it is there in time, whenever it happens */
    uint32_t *list; /* of waiting lanes: the one that is woken when more is known */
};

static inline void player_make_ready(struct player *player, uint32_t lane)
{
    if (player->lanes[lane].is_ready)
        return;
    player->lanes[lane].is_ready = true;
    player->ready[player->ready_count++] = lane;
}

static inline bool player_is_free(const struct player *player, enum wait_kind kind)
{
    return player->options.free_waits >> kind & 1;
}

/* Calls that take no time of their own. */
static inline bool player_is_quick(const struct player *player, const struct call *call)
{
    const bool *states = player->options.quick_states;
    return player->options.ideal || (states && states[graph_state(player->graph, call)->first_of_name]);
}

/* How long the call waited for this, had it waited for nothing else. */
static inline int64_t player_wait_for(const struct call *call, int64_t recorded_ns)
{
    return time_since(call->enter_ns, recorded_ns < call->leave_ns ? recorded_ns : call->leave_ns);
}

/* `wait_ns` is the call's longest wait: the rest is its own time, which comes after the last of all that it waits for.
 */
static inline int64_t player_end_after(const struct player *player, const struct call *call, int64_t now_ns,
                                       const struct dependency *dependency, int64_t wait_ns)
{
    int64_t rest_ns = time_since(call->enter_ns, call->leave_ns) - wait_ns,
            tail_ns = time_since(dependency->recorded_ns, call->leave_ns) -
                      time_since(call->leave_ns, dependency->recorded_ns);
    if (player_is_quick(player, call))
        rest_ns = tail_ns = 0;
    int64_t alone_ns = now_ns + rest_ns;
    if (dependency->free || player_is_free(player, dependency->kind))
        return alone_ns;
    /* What happened after the leave, by clocks that are wrong, leaves a tail below 0. */
    int64_t met_ns = dependency->replayed_ns + (tail_ns < rest_ns ? tail_ns : rest_ns);
    return met_ns > alone_ns ? met_ns : alone_ns;
}

/* The lane waits no more in the list of waiting lanes in which it stands, though what it waits for has not come. */
void player_leave_list(struct player *player, uint32_t lane);

/* Who was first (player_force.c): the lane whose next call was entered first in the record; GRAPH_NONE: all are done.
   From the first question on each lane that goes on is to be told of. */
uint32_t player_first_lane(struct player *player);
void player_went_on(struct player *player, uint32_t lane);

/* Collectives (player_groups.c). A lane is there for one, as a member or by starting a persistent one: others may go
   on. */
void player_arrive(struct player *player, uint32_t lane, uint32_t index, bool gives_nothing, uint32_t index_of_group);
void player_start_operations(struct player *player, uint32_t lane, uint32_t index);

/* When the lane's call ends; NOT_YET with the lane put to wait for who must come first. `end_ns`: what is known of the
   end so far. `wait_ns`: the call's longest wait in the record. */
int64_t player_end_in_group(struct player *player, uint32_t lane, const struct call *call);
int64_t player_end_of_operations(struct player *player, uint32_t lane, const struct call *call, int64_t wait_ns,
                                 int64_t end_ns);

/* Messages (player_messages.c). A message leaves; the receive of one with links is posted; the call that has them ends;
   the lane goes on if it waits for the other end of the message. */
void player_send_message(struct player *player, uint32_t message, int64_t now_ns);
void player_post_receive(struct player *player, uint32_t message, int64_t now_ns);
void player_receive_messages(struct player *player, uint32_t index, const struct call *call, int64_t entered_ns);
void player_wake(struct player *player, uint32_t lane, uint32_t message);

/* When the call ends, as above: by the messages that arrive in it, and those that leave or whose sends it completes. */
int64_t player_end_of_receives(struct player *player, uint32_t lane, const struct call *call, int64_t longest_ns);
int64_t player_end_of_sends(struct player *player, uint32_t lane, const struct call *call, int64_t wait_ns,
                            int64_t end_ns);

#endif
