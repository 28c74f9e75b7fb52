/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_EXACT_H
#define SIGHT_REPLAY_EXACT_H

#include "graph/sweep.h"
#include "replay/player.h"
#include "replay/replay.h"
#include "replay/small_messages.h"
#include "replay/time_rows.h"

/* For replay.c: replays with the recorded costs. Locations are played one by one, each until it must wait for another;
   the process that it waits for makes it ready again. */

/* Replays that go through the graph together, at most. */
enum { EXACT_LANES = 12 };

/* A replay of them. */
struct lane {
    struct replay_options options;
    size_t *queue_at;   /* by location: its next wait of options.queues; NULL: there are none */
    bool changes_calls; /* the following two are not the same for all calls */
    bool quick;         /* the call at hand takes no time of its own */
    int64_t shorter_ns; /* so much earlier it would be left */
};

struct exact {
    struct player player; /* first */
    struct lane lanes[EXACT_LANES];
    bool special;            /* some have free channels or queues */
    const uint32_t *instead; /* of the only one; NULL */
    struct time_rows rows;
    uint32_t *message_rows; /* by message: when its send was entered; once its receive has ended, when that was entered;
                               TIME_ROW_NONE: not known, or no longer needed */
    uint32_t *posts;        /* by message with links: when its receive was posted, POSTED | row; before: 0, or 1 + the
                               location that waits for it; POST_DONE: its send is complete */
    uint32_t *ready;        /* locations that can continue */
    uint32_t *later;        /* locations that could, in a later window */
    size_t ready_count, later_count;
    struct windows windows; /* all locations are played up to the end of the window, so that their shared data are close
                               in memory */
    size_t window;
    int64_t until_ns;
    int64_t end_ns[EXACT_LANES];  /* of the call at hand, as far as known */
    int64_t last_ns[EXACT_LANES]; /* scratch: the latest of several */
};

#define POSTED (UINT32_C(1) << 31)
#define POST_DONE UINT32_MAX

/* A thing that the call depends on: when it happened in the record and in the replays. */
struct dependency {
    int64_t recorded_ns;
    const int64_t *replayed_ns; /* by lane */
    enum wait_kind kind;
    bool alone;      /* the call's wait is that for this thing */
    int64_t wait_ns; /* otherwise: the call's longest wait */
    unsigned free;   /* bit 1 << lane: it is in time, whenever it happens */
    uint32_t *list;  /* of waiting locations: the one that is woken when more is known */
};

static inline void exact_make_ready(struct exact *exact, uint32_t location)
{
    if (exact->player.locations[location].is_ready)
        return;
    exact->player.locations[location].is_ready = true;
    exact->ready[exact->ready_count++] = location;
}

static inline bool lane_is_free(const struct lane *lane, enum wait_kind kind)
{
    return lane->options.free_waits >> kind & 1;
}

/* When the call ends in a replay. The call's longest wait apart, the rest is its own time, after everything that it
   waits for. `now_ns`: when it is entered there. */
static inline int64_t exact_end_after(const struct lane *lane, const struct call *call,
                                      const struct dependency *dependency, int64_t now_ns, int64_t replayed_ns,
                                      bool free)
{
    int64_t leave_ns = call->leave_ns - lane->shorter_ns, recorded_ns = dependency->recorded_ns,
            wait_ns = dependency->wait_ns;
    if (dependency->alone)
        wait_ns = time_since(call->enter_ns, recorded_ns < leave_ns ? recorded_ns : leave_ns);
    int64_t rest_ns = time_since(call->enter_ns, leave_ns) - wait_ns,
            tail_ns = time_since(recorded_ns, leave_ns) - time_since(leave_ns, recorded_ns);
    if (lane->quick)
        rest_ns = tail_ns = 0;
    int64_t alone_ns = now_ns + rest_ns;
    if (free || lane_is_free(lane, dependency->kind))
        return alone_ns;
    /* With wrong clocks it may have happened after the leave: then the tail is below 0. */
    int64_t met_ns = replayed_ns + (tail_ns < rest_ns ? tail_ns : rest_ns);
    return met_ns > alone_ns ? met_ns : alone_ns;
}

/* In no replay does the call end before what it depends on lets it. */
static inline void exact_depend(struct exact *exact, uint32_t location, const struct call *call,
                                const struct dependency *dependency)
{
    const int64_t *now_ns = player_now(&exact->player, location);
    for (size_t i = 0; i < exact->player.lanes; i++) {
        int64_t ns = exact_end_after(&exact->lanes[i], call, dependency, now_ns[i], dependency->replayed_ns[i],
                                     dependency->free >> i & 1);
        exact->end_ns[i] = ns > exact->end_ns[i] ? ns : exact->end_ns[i];
    }
}

static inline void exact_end_is_unknown(struct exact *exact)
{
    for (size_t i = 0; i < exact->player.lanes; i++)
        exact->end_ns[i] = NOT_YET;
}

/* Raises the ends of the location's call. False if the location now waits for another. `wait_ns`: the call's longest
   wait in the record. Collectives: exact_instances.c. */
bool exact_end_in_instance(struct exact *exact, uint32_t location, const struct call *call);
bool exact_end_of_operations(struct exact *exact, uint32_t location, const struct call *call, int64_t wait_ns);

/* Messages (exact_messages.c): one leaves; one is received; the receive of one with links is posted; the call that
   contains them ends. */
void exact_send(struct player *player, uint32_t location, const struct call *call, uint32_t message);
void exact_receive(struct player *player, uint32_t location, uint32_t message);
void exact_post(struct player *player, uint32_t location, uint32_t message);
void exact_end_messages(struct exact *exact, uint32_t location, const struct call *call);

/* When the call ends, as above: by the messages that arrive in it, and those that leave or whose sends it completes. */
bool exact_end_of_receives(struct exact *exact, uint32_t location, const struct call *call, int64_t longest_ns);
bool exact_end_of_sends(struct exact *exact, uint32_t location, const struct call *call, int64_t wait_ns);

#endif
