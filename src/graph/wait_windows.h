/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_WAIT_WINDOWS_H
#define SIGHT_GRAPH_WAIT_WINDOWS_H

#include "graph/wait.h"

/* The longest wait of a call on a window: for a post, for the end of an access, for a lock. An early wait includes its
   late complete. */
struct wait wait_in_window(const struct graph *graph, uint32_t location, uint32_t index, const struct call *call);

/* The kinds of the consecutive parts of a wait. */
struct wait_parts {
    struct wait part[2];
    size_t count;
};

/* MPI_Win_wait waits early until the last access of all origins is over, and for a late complete from then on. Other
   waits have one part. `wait` is wait_of() the call, and not empty. */
struct wait_parts wait_parts(const struct graph *graph, uint32_t location, uint32_t index, const struct wait *wait);

#endif
