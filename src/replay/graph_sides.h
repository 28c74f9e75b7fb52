/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_GRAPH_SIDES_H
#define SIGHT_REPLAY_GRAPH_SIDES_H

#include "core/event.h"
#include "replay/graph.h"

/* Collectives of inter-communicators: the calls of both groups of processes are one collective, and each process waits
   for the other group. Memory: 64 bytes for each such collective. */

/* Which communicators are the two groups of one. */
struct comm_sides {
    struct map local; /* (process, thread) -> the group that it was told to be in last */
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
void graph_note_side(struct graph *graph, uint32_t group, uint32_t lane, uint32_t index, const struct call *call);
void graph_free_sides(struct graph *graph);

/* The row of the collective; NULL where it has none. */
static inline const struct group_sides *graph_sides(const struct graph *graph, const struct group *group)
{
    return graph->streams[group->stream].sided ? &graph->sides[group->rows] : NULL;
}

/* In which of the two groups the lane is: 0 or 1. */
static inline int graph_side_of(const struct graph *graph, const struct group *group, uint32_t lane)
{
    int32_t comm = graph->streams[group->stream].comm;
    return defs_comm_rank(graph->defs, comm, graph->lanes[lane].process) == EVENT_UNKNOWN;
}

#endif
