/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_REPLAY_H
#define SIGHT_REPLAY_REPLAY_H

#include "core/map.h"
#include "graph/graph.h"
#include "graph/wait.h"
#include "waits/endpoints.h"

/* Replays the recorded program on paper: computing and the calls' own time take as long as recorded, waiting follows
   from when each process arrives. Without changes every call ends when it did. With a change, the replay shows what it
   would save.

   A call's own time is its time without its longest wait. It starts after both the call's enter and everything that it
   waits for: in the replay as in the record, so that without changes the result is the same, even with wrong clocks. */

struct replay_options {
    /* bit 1 << kind: waits of this kind end at once: the partner is always in time. With wait-at-init those that
       start together also begin together. */
    unsigned free_waits;
    const bool *free_states; /* by state (the first of its name): calls of it take no time and do not wait; or NULL */
    const bool
        *quick_states; /* by state (the first of its name): calls of it take no time except for waiting; or NULL */
    const bool *free_channels; /* by channel: its messages are always in time; or NULL */
    const uint32_t *instead;   /* by message: the one that its receive waits for (arrival_order.h); or NULL */
    const bool *combined;      /* by message: calls of only these take no time except for waiting (small_messages.h) */
    const struct handed_over *handed; /* calls of only these take no time and do not wait (handed_over.h); or NULL */
    const struct map *faster;         /* (location, call) -> so many ns earlier it is left (faster_calls.h); or NULL */
    bool ideal;                       /* transfers and all calls' own time cost nothing: POP's ideal network */
    const double *compute;            /* by location: factor for the time of computing; NULL: as recorded */
    /* How long a location computes instead of from one recorded time to another, before call `index` or (if that is the
       count) after the last; NULL: see `compute`. */
    int64_t (*pace)(const void *context, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns);
    const void *pace_context;
    const struct queues *queues; /* waits without `behind_ns` (endpoints.h); or NULL */
    const bool *queued_for; /* by location: its messages come in another order, so that what it keeps others waiting
                               beyond `behind_ns` is all that they wait for it; or NULL */
};

struct replay {
    int64_t end_ns;  /* when the last location ends, counted from the run's begin */
    uint64_t forced; /* calls that continued without their partner, because it would never arrive */
};

/* Begin and end of the run are the first and last events of all locations. */
struct replay replay_run(const struct graph *graph, struct replay_options options);

/* The same for several options; most replays go through the graph together, which takes less time than one by one: in
   each of up to so many threads some of them, where options with the same pace_context need one thread. */
void replay_run_all(const struct graph *graph, const struct replay_options *options, size_t count, unsigned threads,
                    struct replay *replays);

/* How much shorter the run is in that replay: as replay_saving(). */
int64_t replay_saved(const struct graph *graph, const struct replay *changed);

/* How much shorter the run would be with these options: against its recorded end or, if partners are missing, that of a
   replay without changes. 0: not shorter. */
int64_t replay_saving(const struct graph *graph, struct replay_options options);

#endif
