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
    size_t *queue_at; /* by location: its next wait of options.queues; NULL: there are none */
};

/* Which lanes change what: bit 1 << lane. Most change little, so that what they all have in common is computed once. */
struct lane_sets {
    unsigned free[WAIT_KIND_COUNT];    /* waits of the kind end at once */
    unsigned paced;                    /* computing takes another time than in the record */
    unsigned *quick;                   /* by state: its calls take no time of their own; owned */
    unsigned combined, faster, handed; /* those with these options */
    unsigned completing;               /* kinds of waits that are times at the end of a call are free */
    bool change_calls;                 /* any of the last five */
};

/* What replays change of the call at hand. */
struct call_changes {
    unsigned free;                   /* lanes in which it takes no time and does not wait */
    unsigned quick;                  /* lanes in which it takes no time of its own */
    unsigned shorter;                /* lanes in which it is left earlier, by */
    int64_t shorter_ns[EXACT_LANES]; /* 0 in all others */
};

struct exact {
    struct player player; /* first */
    struct lane lanes[EXACT_LANES];
    struct lane_sets sets;
    struct call_changes changes;
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
    uint32_t *list;  /* of waiting locations: the one that is woken when more is known */
};

static inline void exact_make_ready(struct exact *exact, uint32_t location)
{
    if (exact->player.locations[location].is_ready)
        return;
    exact->player.locations[location].is_ready = true;
    exact->ready[exact->ready_count++] = location;
}

static inline bool lane_is_in(unsigned set, size_t lane)
{
    return set >> lane & 1;
}

/* The call's longest wait apart, the rest is its own time, after everything that it waits for. */
struct own_time {
    int64_t rest_ns; /* after it is entered */
    int64_t tail_ns; /* after what it depends on has happened */
};

static inline struct own_time own_time_of(const struct call *call, const struct dependency *dependency,
                                          int64_t leave_ns)
{
    int64_t recorded_ns = dependency->recorded_ns, wait_ns = dependency->wait_ns;
    if (dependency->alone)
        wait_ns = time_since(call->enter_ns, recorded_ns < leave_ns ? recorded_ns : leave_ns);
    int64_t rest_ns = time_since(call->enter_ns, leave_ns) - wait_ns,
            tail_ns = time_since(recorded_ns, leave_ns) - time_since(leave_ns, recorded_ns);
    /* With wrong clocks it may have happened after the leave: then the tail is below 0. */
    return (struct own_time){rest_ns, tail_ns < rest_ns ? tail_ns : rest_ns};
}

static inline struct own_time own_time_in(const struct call_changes *changes, size_t lane, const struct call *call,
                                          const struct dependency *dependency)
{
    if (lane_is_in(changes->quick, lane))
        return (struct own_time){0};
    return own_time_of(call, dependency, call->leave_ns - changes->shorter_ns[lane]);
}

/* When the call ends in a replay in which it is entered at `now_ns`. `free`: what it depends on is in time. */
static inline int64_t own_time_end(struct own_time own, int64_t now_ns, int64_t replayed_ns, bool free)
{
    int64_t alone_ns = now_ns + own.rest_ns, met_ns = replayed_ns + own.tail_ns;
    return !free && met_ns > alone_ns ? met_ns : alone_ns;
}

static inline void exact_end_later(struct exact *exact, size_t lane, int64_t ns)
{
    exact->end_ns[lane] = ns > exact->end_ns[lane] ? ns : exact->end_ns[lane];
}

/* In no replay does the call end before what it depends on lets it. */
static inline void exact_depend(struct exact *exact, uint32_t location, const struct call *call,
                                const struct dependency *dependency)
{
    const int64_t *now_ns = player_now(&exact->player, location);
    unsigned free = exact->sets.free[dependency->kind], changed = exact->changes.quick | exact->changes.shorter;
    struct own_time own = own_time_of(call, dependency, call->leave_ns);
    for (size_t i = 0; i < exact->player.lanes; i++)
        if (!lane_is_in(free | changed, i))
            exact_end_later(exact, i, own_time_end(own, now_ns[i], dependency->replayed_ns[i], false));
    for (unsigned left = free | changed; left; left &= left - 1) {
        size_t i = (size_t)__builtin_ctz(left);
        struct own_time other = lane_is_in(changed, i) ? own_time_in(&exact->changes, i, call, dependency) : own;
        exact_end_later(exact, i, own_time_end(other, now_ns[i], dependency->replayed_ns[i], lane_is_in(free, i)));
    }
}

static inline void exact_end_is_unknown(struct exact *exact)
{
    for (size_t i = 0; i < exact->player.lanes; i++)
        exact->end_ns[i] = NOT_YET;
}

/* What lanes change of calls and of computing (exact_changes.c): `lane` with its options is a new one. */
void exact_add_changes(struct exact *exact, size_t lane);
void exact_clear_changes(struct exact *exact);

/* Sets exact->changes for the location's call. */
void exact_change_call(struct exact *exact, uint32_t location, const struct call *call);

/* Lets the location compute from one recorded time to another, before call `index` or after its last. */
void exact_compute(struct exact *exact, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns);

/* Raises the ends of the location's call. False if the location now waits for another. `wait_ns`: the call's longest
   wait in the record. Collectives: exact_instances.c; there exact->changes are set here if there are several lanes. */
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
