/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_LENDING_H
#define SIGHT_ENGINE_LENDING_H

#include "graph/graph.h"
#include "team/team.h"

/* For the engine: a graph that one process of a team has built, and that the others on the same machine use in place
   (graph/graph_image.h): one of them reads the trace for the graph while rank 0 reads it for all else, and the memory
   holds one graph, however many processes there are. */

/* What two readers of the same trace agree in: the trace may have been replaced in the meantime, or be growing. A sink
   that sees what each of them reads. */
struct read_sum {
    struct sink sink;
    uint64_t events, times; /* their number; the sum of all times and kinds */
};
void read_sum_start(struct read_sum *sum);

/* Moves the graph to where others can map it, and offers it to the ranks of a mask; where it cannot be moved, or is
   NULL, they hear that there is none. Returns the graph, which is used as before; NULL: nothing is left of it. The
   `file` (-1: none) must stay open until they have it. */
struct graph *lending_offer(struct team *team, unsigned ranks, struct graph *graph, const struct read_sum *sum,
                            int *file);

/* The other side: waits for the offer of rank `from`. NULL: there is no graph to be had, or it is of something else
   than was read here. `sum` NULL: nothing was read here, any will do. `defs` NULL: none will. */
struct graph *lending_take(struct team *team, int from, const struct defs *defs, const struct read_sum *sum);

#endif
