/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_REPLAY_H
#define SIGHT_REPLAY_REPLAY_H

#include "graph/graph.h"
#include "graph/wait.h"
#include "waits/endpoints.h"

/* Runs the recorded program again on paper: computing and the calls' own time last as recorded, waiting follows from
   when each process arrives. With nothing changed every call ends when it ended. What is changed shows what it would
   save.

   A call's own time is what is left of it without its longest wait. It ends its own time after the last of its enter
   and of what it waits for: in the replay as in the record, so that nothing changes where nothing is changed, also with
   clocks that go wrong. */

struct replay_options {
    /* bit 1 << kind: waits of this kind end at once: the partner is always there in time. With wait-at-init those that
       start together also begin together. */
    unsigned free_waits;
    const bool
        *free_states; /* by state (the first of its name): calls of it take no time and wait for nobody; or NULL */
    const bool *quick_states;  /* by state (the first of its name): calls of it take no time but for waiting; or NULL */
    const bool *free_channels; /* by channel: its messages are always there in time; or NULL */
    const uint32_t *instead;   /* by message: the one that its receive waits for (arrival_order.h); or NULL */
    bool ideal;                /* transfers and all calls' own time cost nothing: POP's ideal network */
    const double *compute;     /* by location: computing lasts so many times as long; NULL: as recorded */
    /* How long a location computes that did so from one recorded time to another, before call `index` or (its count)
       after the last; NULL: see `compute`. */
    int64_t (*pace)(const void *context, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns);
    const void *pace_context;
    const struct queues *queues; /* what these waits are spent in a queue they do not wait (endpoints.h); or NULL */
};

struct replay {
    int64_t end_ns;  /* when the last location ends, counted from the run's begin */
    uint64_t forced; /* calls that went on without the partner they wait for, because it would never come */
};

/* Begin and end of the run are the first and last events of all locations. */
struct replay replay_run(const struct graph *graph, struct replay_options options);

/* What the run would be shorter by with these options: against its end as recorded, or, where partners are missing, as
   a replay with nothing changed has it. 0: it is no shorter. */
int64_t replay_saving(const struct graph *graph, struct replay_options options);

#endif
