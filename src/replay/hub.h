/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_HUB_H
#define SIGHT_REPLAY_HUB_H

#include "graph/graph.h"
#include "metrics/analysis.h"

/* Fills hub_messages and hub_turns: of the location with most calls that send or receive, how many these are, and how
   often it changes between sending and receiving. A master answers each request, and changes with every message; who
   adds up what all others send, and sends the sum to all, changes twice in each round. */
void hub_take(struct analysis *analysis, const struct graph *graph);

#endif
