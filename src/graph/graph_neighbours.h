/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_NEIGHBOURS_H
#define SIGHT_GRAPH_GRAPH_NEIGHBOURS_H

#include "core/event.h"
#include "graph/graph.h"

/* Neighbourhood collectives: each process waits only for its sources in the topology of the communicator. Memory: 12
   bytes for each source of a process in a topology, 16 for each member of a collective. */

/* While events come in: adds the neighbours of an event (EVENT_NEIGHBOURS). */
void graph_note_neighbours(struct graph *graph, const struct event *event, const unsigned char *arena);

/* At the end, when the complete collectives are known: makes the rows of graph->neighbours. */
void graph_finish_neighbours(struct graph *graph);

void graph_free_neighbours(struct graph *graph);

/* Index of the row of a location in a collective that has such rows; GRAPH_NONE: it takes no part. One thread of each
   process has a row. */
uint32_t graph_neighbour_row_of_location(const struct graph *graph, uint32_t instance, uint32_t location);

/* True if the trace shows which location it waits for in the collective. */
bool graph_neighbours_known(const struct graph *graph, uint32_t instance, uint32_t location);

/* Walks the rows of the members that a member waits for: its neighbours, except those known to send nothing. */
struct source_walk {
    bool known; /* false: the trace does not record its neighbours */
    uint32_t instance;
    size_t at;
};
struct source_walk graph_sources(const struct graph *graph, uint32_t instance, uint32_t row);

/* False: there are no more. *row is GRAPH_NONE for a neighbour that takes no part. */
bool graph_next_source(const struct graph *graph, struct source_walk *walk, uint32_t *row);

#endif
