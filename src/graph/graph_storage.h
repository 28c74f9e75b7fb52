/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_STORAGE_H
#define SIGHT_GRAPH_GRAPH_STORAGE_H

#include "graph/graph.h"

/* How graphs are written: calls and messages packed as graph.h reads them. */

/* The location's next call, which has no time and no links yet; borrowed, until the next. */
struct packed_call *graph_add_call(struct graph *graph, struct location *location, int64_t enter_ns, uint32_t kind);

/* When the call is entered: not before it was. */
void graph_set_enter(struct graph *graph, const struct location *location, size_t call, int64_t enter_ns);

/* Sets when the call is left, at the earliest its enter. May be called again. */
void graph_set_leave(struct graph *graph, const struct location *location, size_t call, int64_t leave_ns);

/* No more calls come: frees unused room. */
void graph_end_location(const struct graph *graph, struct location *location);

void packed_set_kind(struct packed_call *call, uint32_t kind);

/* The first of the messages that the call sends or completes, or receives or posts: 1 + index. */
void packed_set_out(struct graph *graph, struct packed_call *call, uint32_t message);
void packed_set_in(struct graph *graph, struct packed_call *call, uint32_t message);

/* The message that follows: 1 + index; 0: none. */
void chain_set(struct message_chain *chain, uint32_t message, uint32_t next);

/* Frees locations, their calls and messages. */
void graph_free_storage(struct graph *graph);

#endif
