/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_WAITS_UNEVEN_H
#define SIGHT_WAITS_UNEVEN_H

#include "graph/graph.h"

/* Where a process computes longer than processes do on average: computing is told apart by the MPI call that comes
   after it, by its function and its place in the source. What a process computes after its last call has no such. */
struct uneven {
    int64_t ns;                    /* all that it computes longer, what is after its last call too */
    int64_t *states_ns, *sites_ns; /* by state (the first of its name) and site that comes after, in ns; owned */
};

/* Of process `row` of `processes`; `rows`: by location, the row of its process. Time: one pass over all calls. */
struct uneven uneven_of(const struct graph *graph, const uint32_t *rows, size_t processes, uint32_t row);
void uneven_clear(struct uneven *uneven);

#endif
