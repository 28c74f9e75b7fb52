/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_SIDES_H
#define SIGHT_GRAPH_GRAPH_SIDES_H

#include "core/event.h"
#include "graph/graph.h"

/* Collectives of inter-communicators: the calls of both groups of processes are one collective, and each process waits
   for the other group (MPI standard 5.2.2). In all-to-all collectives, MPI libraries collect the data of a group at its
   first process before sending them to the other group: a process then also waits for its own group, unless it visibly
   continues before that has arrived. Memory: 80 bytes for each such collective. */

/* Which communicators are the two groups of the same inter-communicator. */
struct comm_sides {
    struct map local; /* (process, thread) -> the last instance it was assigned to */
    struct map other; /* communicator -> the other group's */
};

/* While events come in: adds the sides of an event (EVENT_COMM_MADE). */
void comm_sides_note(struct comm_sides *sides, const struct event *event);

/* True if the communicator is one of two groups, and the other is known. */
bool comm_sides_known(const struct comm_sides *sides, int32_t comm);

/* The representative of both groups: the lower index. A communicator with one group is its own. */
int32_t comm_sides_both(const struct comm_sides *sides, int32_t comm);
void comm_sides_clear(struct comm_sides *sides);

/* At the end: a row of graph->sides for each collective of a stream that is `sided`, filled by its members. */
void graph_begin_sides(struct graph *graph);
void graph_note_side(struct graph *graph, uint32_t instance, uint32_t location, uint32_t index,
                     const struct call *call);
void graph_free_sides(struct graph *graph);

/* The row of the collective; NULL if it has none. */
static inline const struct group_sides *graph_sides(const struct graph *graph, const struct instance *instance)
{
    return graph->streams[instance->stream].sided ? &graph->sides[instance->rows] : NULL;
}

/* True for a call in an all-to-all collective that ends before one of the two groups has arrived: then it waits only
   for the other group. */
static inline bool graph_side_is_enough(const struct group_sides *sides, const struct call *call)
{
    return call->leave_ns < sides->sides[0].latest_enter_ns || call->leave_ns < sides->sides[1].latest_enter_ns;
}

/* The group of the location: 0 or 1. */
static inline int graph_side_of(const struct graph *graph, const struct instance *instance, uint32_t location)
{
    int32_t comm = graph->streams[instance->stream].comm;
    return defs_comm_rank(graph->defs, comm, graph->locations[location].process) == EVENT_UNKNOWN;
}

#endif
