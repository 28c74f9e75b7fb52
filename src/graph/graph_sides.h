/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_SIDES_H
#define SIGHT_GRAPH_GRAPH_SIDES_H

#include "core/event.h"
#include "graph/graph.h"

/* Collectives of inter-communicators: the calls of both groups of processes are one collective, and each process waits
   for the other group (MPI standard 5.2.2). Where all give to all, MPI libraries collect the data of a group at its
   first process, before they go over: there a process waits for its own group, too, unless it is seen to go on before
   that has come. Memory: 80 bytes for each such collective. */

/* Which communicators are the two groups of one. */
struct comm_sides {
    struct map local; /* (process, thread) -> the instance that it was told to be in last */
    struct map other; /* communicator -> the other group's */
};

/* While events come in: what the event (EVENT_COMM_MADE) tells of sides. */
void comm_sides_note(struct comm_sides *sides, const struct event *event);

/* True if the communicator is one of two groups, and the other is known. */
bool comm_sides_known(const struct comm_sides *sides, int32_t comm);

/* What stands for both groups: the lower index of the two. A communicator of one group is itself. */
int32_t comm_sides_both(const struct comm_sides *sides, int32_t comm);
void comm_sides_clear(struct comm_sides *sides);

/* At the end: a row of graph->sides for each collective of a stream that is `sided`, filled by its members. */
void graph_begin_sides(struct graph *graph);
void graph_note_side(struct graph *graph, uint32_t instance, uint32_t location, uint32_t index,
                     const struct call *call);
void graph_free_sides(struct graph *graph);

/* The row of the collective; NULL where it has none. */
static inline const struct group_sides *graph_sides(const struct graph *graph, const struct instance *instance)
{
    return graph->streams[instance->stream].sided ? &graph->sides[instance->rows] : NULL;
}

/* True of a call that waits for a collective in which all give to all, and ends before one of the two groups has come:
   then it is the other group alone that it waits for. */
static inline bool graph_side_is_enough(const struct group_sides *sides, const struct call *call)
{
    return call->leave_ns < sides->sides[0].latest_enter_ns || call->leave_ns < sides->sides[1].latest_enter_ns;
}

/* In which of the two groups the location is: 0 or 1. */
static inline int graph_side_of(const struct graph *graph, const struct instance *instance, uint32_t location)
{
    int32_t comm = graph->streams[instance->stream].comm;
    return defs_comm_rank(graph->defs, comm, graph->locations[location].process) == EVENT_UNKNOWN;
}

#endif
