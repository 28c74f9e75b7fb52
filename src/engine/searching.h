/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_SEARCHING_H
#define SIGHT_ENGINE_SEARCHING_H

#include "engine/engine.h"
#include "phases/phases.h"

/* For the engine: the search for bottlenecks, beside the analysis of a trace. */
struct searching;

/* Reads the hypotheses that the request names. NULL and a fault where they cannot be used. */
struct searching *searching_new(const struct engine_request *request, struct error *err);
void searching_free(struct searching *searching); /* NULL: nothing */

/* To be fed with all events beside the graph's builder. */
struct sink *searching_sink(struct searching *searching);

/* Call once after the last event: searches, in up to this many threads. The phases are the graph's. */
struct search *searching_finish(struct searching *searching, const struct graph *graph, const struct phases *phases,
                                const struct metrics *metrics, unsigned threads);

#endif
