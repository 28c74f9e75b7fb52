/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_ANALYSE_H
#define SIGHT_REPLAY_ANALYSE_H

#include "graph/graph.h"
#include "metrics/analysis.h"

/* Waits, critical path and replays of a graph, in numbers. Rows of processes are those of metrics: the processes of all
   locations, by rank. Free with analysis_free. */
struct analysis *analyse(const struct graph *graph);

/* The same in up to so many threads; each needs memory of its own for a replay. */
struct analysis *analyse_in_parallel(const struct graph *graph, unsigned threads);

#endif
