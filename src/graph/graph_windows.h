/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_WINDOWS_H
#define SIGHT_GRAPH_GRAPH_WINDOWS_H

#include "graph/graph_locks.h"
#include "graph/graph_targets.h"

/* One-sided communication: which calls on windows wait for which. A window has a communicator of its own, so that calls
   of all its processes are collectives of that; the rest are edges between calls:

   - late post: the call of an access epoch that ends only after the target posts its exposure: MPI_Win_start, an
   access, or MPI_Win_complete. The n-th start of an origin for a target belongs to the target's n-th post for that
   origin.
   - late complete: MPI_Win_wait for MPI_Win_complete of each origin; and early wait for the last call of the origin
   before that in its epoch: an access, or MPI_Win_start.
   - lock contention: see graph_locks.h.
   - late target: see graph_targets.h. */

/* Collects while a graph is built. Zero-initialised is empty. */
struct window_collector {
    uint8_t *roles; /* by state of the definitions: enum window_role + 1 */
    size_t role_count;
    struct map places; /* (process, communicator) -> index in `open` */
    struct open_window *open;
    size_t open_count, open_capacity;
    struct epoch *accesses, *exposures; /* of a process with one partner */
    size_t access_count, access_capacity, exposure_count, exposure_capacity;
    struct lock_collector locks;
    struct target_collector targets;
};

/* The location's latest call, on a window, was entered; and was left: `event` has its target. */
void windows_enter(struct window_collector *windows, struct graph *graph, uint32_t location, const struct event *event);
void windows_leave(struct window_collector *windows, struct graph *graph, uint32_t location, const struct event *event);

/* Adds ranks of the window from a mark inside the call; `state` is the call's. */
void windows_ranks(struct window_collector *windows, struct graph *graph, uint32_t location, uint32_t state,
                   const struct event *mark, const unsigned char *payload);

/* Makes the graph's edges when all calls are left, unsorted; frees what was collected. */
void windows_end(struct window_collector *windows, struct graph *graph);

#endif
