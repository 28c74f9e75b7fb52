/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_COMPUTING_H
#define SIGHT_GRAPH_COMPUTING_H

#include "graph/graph.h"

/* When locations compute, that is, are outside all calls between their first and their last event: all begins and ends
   in order of time, those of one moment by location. Time O(calls x log locations), memory 32 bytes for a location. */

typedef void computing_change(void *context, int64_t time_ns, uint32_t location, bool begins);
void computing_each(const struct graph *graph, computing_change *change, void *context);

#endif
