/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_ASSISTING_H
#define SIGHT_ENGINE_ASSISTING_H

#include "engine/engine.h"
#include "graph/graph.h"
#include "phases/user_spans.h"

/* For the engine: a diagnosis by a team on several machines. On each, one process has the processors of all that are
   there, and works in threads: so a machine holds one graph, however many processes there are. The first process of
   another machine reads the whole trace, builds its own graph, and computes parts of the analysis that depend on no
   other part: delays, how many compute at a time, phases. What one of them cannot read, or sees otherwise, rank 0
   computes itself, so that the results are always the same. */

/* Rank 0: what was asked for, and of whom. */
struct assistance;

/* Before the trace is read: asks the other processes for what is wanted (enum engine_want), in up to `most`
   threads each. `until_ns`: see whole.h. `reader` was just opened on its inputs. NULL: there are none, or the trace is
   too small to be worth it, or not a file. */
struct assistance *assisting_begin(const struct engine_request *request, const struct reader *reader, unsigned wants,
                                   int64_t until_ns, unsigned most);
void assisting_free(struct assistance *assistance);

/* What rank 0 need not compute: of enum analyse_step; phases. */
unsigned assisting_steps(const struct assistance *assistance);   /* NULL: 0 */
bool assisting_with_phases(const struct assistance *assistance); /* NULL: false */

/* Completes the metrics' analysis, and their phases; all other parts of the analysis are there. Returns how many
   processes have helped. */
unsigned assisting_collect(const struct assistance *assistance, const struct graph *graph,
                           const struct user_spans *spans, struct metrics *metrics);

/* The other processes: the results of the last job. */
struct assisting_result {
    char *data;
    size_t size, capacity;
};

/* `job`: the message of a JOB_ASSIST. */
void assisting_do(struct team *team, const char *job, struct assisting_result *result);

/* For a JOB_COLLECT. */
void assisting_send(struct team *team, struct assisting_result *result);
void assisting_result_clear(struct assisting_result *result);

#endif
