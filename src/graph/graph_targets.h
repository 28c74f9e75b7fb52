/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_TARGETS_H
#define SIGHT_GRAPH_GRAPH_TARGETS_H

#include "graph/graph.h"

/* Calls that lock, flush or unlock the part of a window that another process has, or complete an epoch of accesses to
   it (MPI_Win_complete) after it was posted. Many MPIs do that only while the target is in MPI: the call then returns
   soon after the target calls MPI. No trace records that. It is concluded if the same function does it TARGETS_LEAST
   times for the same two processes and window: the target computes when the call is entered, calls MPI before it is
   left, and what is left of the call is a quarter of that at most. One long call that is left while the target computes
   proves the contrary. */
enum { TARGETS_LEAST = 3 };

struct target_access {
    int32_t comm; /* the window */
    uint32_t location, call, target;
};

/* Collects while a graph is built. Zero-initialised is empty. */
struct target_collector {
    struct target_access *accesses;
    size_t count, capacity;
};

void targets_take(struct target_collector *targets, struct target_access access);

/* Makes the graph's edges when all calls are left; frees what was collected. */
void targets_end(struct target_collector *targets, struct graph *graph);

#endif
