/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_NEIGHBOURS_H
#define SIGHT_GRAPH_GRAPH_NEIGHBOURS_H

#include "core/event.h"
#include "graph/graph.h"

/* Neighbourhood collectives: each process waits for its sources in the topology of the communicator, and for nobody
   else. Memory: 12 bytes for each source of a process in a topology, 16 for each member of a collective; nothing where
   there are none. */

/* While events come in: what the event (EVENT_NEIGHBOURS) tells of its process. */
void graph_note_neighbours(struct graph *graph, const struct event *event, const unsigned char *arena);

/* When all are there, and it is known which collectives are complete: the rows of graph->neighbours. */
void graph_finish_neighbours(struct graph *graph);

void graph_free_neighbours(struct graph *graph);

/* Index of the row of a location in a collective that has such rows; GRAPH_NONE: it takes no part. Of the threads of a
   process one has a row. */
uint32_t graph_neighbour_row_of_location(const struct graph *graph, uint32_t instance, uint32_t location);

/* True if the trace shows which location it waits for in the collective. */
bool graph_neighbours_known(const struct graph *graph, uint32_t instance, uint32_t location);

/* Walks the rows of those that the member of a row waits for: neighbours that are not known to give nothing. */
struct source_walk {
    bool known; /* false: the trace does not record its neighbours */
    uint32_t instance;
    size_t at;
};
struct source_walk graph_sources(const struct graph *graph, uint32_t instance, uint32_t row);

/* False: there are no more. *row is GRAPH_NONE for one that takes no part. */
bool graph_next_source(const struct graph *graph, struct source_walk *walk, uint32_t *row);

#endif
