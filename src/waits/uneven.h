/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_WAITS_UNEVEN_H
#define SIGHT_WAITS_UNEVEN_H

#include "graph/graph.h"

/* Where a process computes longer than the average: computing is identified by the function and the place in the source
   of the MPI call after it. Computing after the last call has neither. */
struct uneven {
    int64_t ns;                      /* its total excess, including computing after its last call */
    int64_t piece_ns, piece_from_ns; /* computing between two calls: the piece that exceeds those of the other processes
                                        before the same call by most, and when it begins; 0: others are like it */
    int64_t piece_excess_ns;         /* by how much it exceeds their mean */
    int64_t *states_ns, *sites_ns;   /* by the state (the first of its name) and site of the next call, in ns; owned */
};

/* Of process `row` of `processes`; `rows`: by location, the row of its process. Time: one pass over all calls. */
struct uneven uneven_of(const struct graph *graph, const uint32_t *rows, size_t processes, uint32_t row);
void uneven_clear(struct uneven *uneven);

#endif
