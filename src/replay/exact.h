/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_EXACT_H
#define SIGHT_REPLAY_EXACT_H

#include "graph/sweep.h"
#include "replay/player.h"
#include "replay/replay.h"
#include "replay/small_messages.h"

/* For replay.c: a replay with the recorded costs. Locations are played one by one, each until it must wait for another;
   the process that it waits for makes it ready again. */
struct exact {
    struct player player; /* first */
    struct replay_options options;
    int64_t *message_ns; /* by message: when its send was entered; once its receive has ended, when that was entered */
    int64_t *posted_ns;  /* by message with links: when its receive was posted; before: NOT_YET, or beyond it by 1 + the
                            location that waits for it */
    uint32_t *ready;     /* locations that can continue */
    uint32_t *later;     /* locations that could, in a later window */
    size_t ready_count, later_count;
    struct windows windows; /* all locations are played up to the end of the window, so that their shared data are close
                               in memory */
    size_t window;
    int64_t until_ns;
    size_t *queue_at; /* by location: its next wait of options.queues; NULL: there are none */
};

/* A thing that the call depends on: when it happened in the record and in the replay. NOT_YET: not known in the replay.
 */
struct dependency {
    int64_t recorded_ns, replayed_ns;
    enum wait_kind kind;
    bool free;      /* it is in time, whenever it happens */
    uint32_t *list; /* of waiting locations: the one that is woken when more is known */
};

static inline void exact_make_ready(struct exact *exact, uint32_t location)
{
    if (exact->player.locations[location].is_ready)
        return;
    exact->player.locations[location].is_ready = true;
    exact->ready[exact->ready_count++] = location;
}

static inline bool exact_is_free(const struct exact *exact, enum wait_kind kind)
{
    return exact->options.free_waits >> kind & 1;
}

/* Calls that take no time of their own. */
static inline bool exact_is_quick(const struct exact *exact, const struct call *call)
{
    const struct replay_options *options = &exact->options;
    const bool *states = options->quick_states;
    if (options->combined && combined_call(exact->player.graph, call, options->combined))
        return true;
    return options->ideal || (states && states[graph_state(exact->player.graph, call)->first_of_name]);
}

/* How long the call would have waited for this alone. */
static inline int64_t exact_wait_for(const struct call *call, int64_t recorded_ns)
{
    return time_since(call->enter_ns, recorded_ns < call->leave_ns ? recorded_ns : call->leave_ns);
}

/* `wait_ns` is the call's longest wait: the rest is its own time, after everything that it waits for.
 */
static inline int64_t exact_end_after(const struct exact *exact, const struct call *call, int64_t now_ns,
                                      const struct dependency *dependency, int64_t wait_ns)
{
    int64_t rest_ns = time_since(call->enter_ns, call->leave_ns) - wait_ns,
            tail_ns = time_since(dependency->recorded_ns, call->leave_ns) -
                      time_since(call->leave_ns, dependency->recorded_ns);
    if (exact_is_quick(exact, call))
        rest_ns = tail_ns = 0;
    int64_t alone_ns = now_ns + rest_ns;
    if (dependency->free || exact_is_free(exact, dependency->kind))
        return alone_ns;
    /* With wrong clocks it may have happened after the leave: then the tail is below 0. */
    int64_t met_ns = dependency->replayed_ns + (tail_ns < rest_ns ? tail_ns : rest_ns);
    return met_ns > alone_ns ? met_ns : alone_ns;
}

/* When the location's call ends; NOT_YET if the location now waits for another. `end_ns`: the end as far as known.
   `wait_ns`: the call's longest wait in the record. Collectives: exact_instances.c. */
int64_t exact_end_in_instance(struct exact *exact, uint32_t location, const struct call *call);
int64_t exact_end_of_operations(struct exact *exact, uint32_t location, const struct call *call, int64_t wait_ns,
                                int64_t end_ns);

/* Messages (exact_messages.c): one leaves; one is received; the receive of one with links is posted; the call that
   contains them ends. */
void exact_send(struct player *player, uint32_t location, const struct call *call, uint32_t message);
void exact_receive(struct player *player, uint32_t location, uint32_t message);
void exact_post(struct player *player, uint32_t location, uint32_t message);
void exact_end_messages(struct exact *exact, uint32_t index, const struct call *call, int64_t entered_ns);

/* When the call ends, as above: by the messages that arrive in it, and those that leave or whose sends it completes. */
int64_t exact_end_of_receives(struct exact *exact, uint32_t location, const struct call *call, int64_t longest_ns);
int64_t exact_end_of_sends(struct exact *exact, uint32_t location, const struct call *call, int64_t wait_ns,
                           int64_t end_ns);

#endif
