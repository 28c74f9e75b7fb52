/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_HELD_SENDS_H
#define SIGHT_GRAPH_HELD_SENDS_H

#include "graph/graph.h"

/* Back-pressure. MPI has limited room for small messages that are not yet received: a send beyond that returns when the
   receiver makes room in its next MPI call, whatever that is, long before it receives this message. Such a send waits
   for the receiver. It is recognised by this:

   - it takes many times longer than the fastest send of as many bytes,
   - while the receiver is not in MPI for most of that time,
   - and returns soon after the receiver enters MPI,
   - which then receives another message before this one, or the send returned at once: the receiver takes what is on
     the network when it enters MPI, whatever for.

   Adds an edge to the graph for each: until the receiver's call is entered. The edges must still be sorted
   (window_edges_end). Time: linear in the calls, with a logarithm for slow sends. */
void held_sends_find(struct graph *graph);

#endif
