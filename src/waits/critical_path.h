/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_WAITS_CRITICAL_PATH_H
#define SIGHT_WAITS_CRITICAL_PATH_H

#include "graph/wait.h"

/* The critical path: the longest chain of computing and calls without waiting, from the run's end back to its begin. It
   is followed backwards on the location that ends last; where a call waited, it goes on at the enter of the call that
   was waited for (rules of diagnosis_rules 2.1). From a reduction in which a process stayed until the last member
   arrived, it continues on that member, though only the root's wait for the first counts as waiting. The segments tile
   the time of the run; gaps are due to clocks. */

/* Shares of a location, in ns. */
struct path_location {
    int64_t compute_ns, mpi_ns;
};

/* Activities: calls of a function, computing before calls of it, and computing up to a location's end. Functions are
   the first states of their names. */
static inline size_t activity_count(const struct graph *graph)
{
    return 2 * graph->defs->state_count + 1;
}
static inline size_t activity_in(const struct graph *graph, const struct call *call)
{
    return graph_state(graph, call)->first_of_name;
}
static inline size_t activity_before(const struct graph *graph, const struct call *call)
{
    return graph->defs->state_count + graph_state(graph, call)->first_of_name;
}
static inline size_t activity_at_end(const struct graph *graph)
{
    return 2 * graph->defs->state_count;
}

/* An activity of a location on the path. */
struct path_part {
    uint32_t location, activity;
    int64_t ns;
};

/* A piece of the path on one location. */
struct path_segment {
    int64_t from_ns, to_ns;
    uint32_t location;
};

struct critical_path {
    int64_t length_ns;
    struct path_location *locations; /* by location, owned */
    int64_t *states_ns;              /* by state: time in calls of it, owned */
    int64_t *activities_ns;          /* by activity: time of it, owned */
    struct path_part *parts;         /* each location and activity once, owned */
    size_t part_count, part_capacity;
    size_t jumps;                  /* how often it changes the location */
    struct path_segment *segments; /* the latest first, owned */
    size_t segment_count, segment_capacity;
};

struct critical_path critical_path_of(const struct graph *graph);
void critical_path_clear(struct critical_path *path);

#endif
