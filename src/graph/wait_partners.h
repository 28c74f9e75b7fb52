/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_WAIT_PARTNERS_H
#define SIGHT_GRAPH_WAIT_PARTNERS_H

#include "graph/wait.h"

/* Waits in collectives in which a process does not wait for all of its communicator. In each, `call` waits for the
   collective, in which the location takes part with that call or an earlier one that posted or started it. */

/* For the last of its own neighbours that sends something. */
struct wait wait_for_neighbours(const struct graph *graph, const struct instance *instance, uint32_t location,
                                const struct call *call);

/* On an inter-communicator: for the last of the other group that sends something, or of both groups (see
   graph_sides.h); for the root, if it is in the other group; or the root for the first of the other group. */
struct wait wait_for_other_group(const struct graph *graph, const struct instance *instance, uint32_t location,
                                 const struct call *call);

#endif
