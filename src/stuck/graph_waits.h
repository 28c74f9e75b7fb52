/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_GRAPH_WAITS_H
#define SIGHT_STUCK_GRAPH_WAITS_H

#include "stuck/stuck_graph.h"

/* Adds what the open call of a place, or its tests, wait for. */
void graph_add_waits(struct stuck_graph *graph, uint32_t index);

#endif
