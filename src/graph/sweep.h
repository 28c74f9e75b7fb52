/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_SWEEP_H
#define SIGHT_GRAPH_SWEEP_H

#include "graph/graph.h"

/* All calls of a graph from the begin of the run to its end, those of all locations that happen about the same time
   together: calls that wait for each other are then close in memory, while walking one location after the other would
   fetch the calls of the others each time. Each location's calls come in order, as ranges; the order of locations only
   affects speed. */

/* The run is divided into windows of equal time. */
struct windows {
    int64_t begin_ns, duration_ns;
    size_t count;
};
struct windows windows_of(const struct graph *graph);

/* When a window ends; INT64_MAX: the last. */
int64_t window_end_ns(const struct windows *windows, size_t window);

struct sweep {
    const struct graph *graph;
    struct windows windows;
    size_t window;     /* at hand */
    uint32_t *at;      /* by location: its next call */
    uint32_t location; /* next */
};
struct sweep sweep_begin(const struct graph *graph);

/* The next range: calls [*from, *to) of the location, at least one. False: there is none, and the sweep is freed. */
bool sweep_next(struct sweep *sweep, uint32_t *location, uint32_t *from, uint32_t *to);

#endif
