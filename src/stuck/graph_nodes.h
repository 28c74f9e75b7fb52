/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_GRAPH_NODES_H
#define SIGHT_STUCK_GRAPH_NODES_H

#include "stuck/stuck_graph.h"

/* The nodes of the graph: each of these returns the index of one, which is made if there is none yet. */

uint32_t node_new(struct stuck_graph *graph, struct node node);

/* `item`: of the place that it begins at, 1 + index; 0: none. */
void edge_add(struct stuck_graph *graph, uint32_t from, uint32_t to, enum edge_kind kind, size_t item);

uint32_t process_node(const struct stuck_graph *graph, uint32_t process);

/* Anybody of a communicator. */
uint32_t anybody_node(struct stuck_graph *graph, int32_t comm);

/* The n-th collective of a communicator, as seen by the processes in this function, or this start of its n-th
   persistent one. In collectives that do not wait for all, one arrival may be enough. */
uint32_t instance_node(struct stuck_graph *graph, int32_t comm, uint32_t function, uint64_t ordinal, uint64_t starts);

/* The n-th call of a team that makes a communicator of its own. */
uint32_t team_node(struct stuck_graph *graph, const struct place *place);

#endif
