/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_RUN_SEARCH_H
#define SIGHT_CLI_RUN_SEARCH_H

#include "cli/command.h"
#include "core/sink.h"
#include "metrics/metrics.h"
#include "replay/graph.h"
#include "replay/user_spans.h"

/* For run.c: the search for bottlenecks, beside the analysis of a trace. */
struct run_search;

/* Reads the hypotheses that the options name. NULL and a fault where they cannot be used. */
struct run_search *run_search_new(const struct options *options, struct error *err);
void run_search_free(struct run_search *search);

/* To be fed with all events beside the graph's builder. */
struct sink *run_search_sink(struct run_search *search);

/* After the last event, once: searches, in up to so many threads. */
struct search *run_search_finish(struct run_search *search, const struct graph *graph, const struct user_spans *spans,
                                 const struct metrics *metrics, unsigned threads);

#endif
