/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_PHASE_NUMBERS_H
#define SIGHT_PHASES_PHASE_NUMBERS_H

#include "phases/phases.h"
#include "replay/replay.h"

/* What the processes do in each phase and iteration, in numbers; `spans` may be NULL. Calls, and computing between
   them, are split at borders. Temporary memory: a number for each iteration of each process. Free with
   phase_metrics_free. */
struct phase_metrics *phase_metrics_with(const struct graph *graph, const struct user_spans *spans, unsigned threads);

/* The same for a caller who has other replays of the graph: those of phases then take little time (replay_run_all).
   Everything but what replays tell, in up to so many threads: */
enum { PHASE_REPLAYS = 2 };
struct phase_counter;
struct phase_counter *phase_counter_new(const struct graph *graph, const struct user_spans *spans, unsigned threads);

/* Which replays: up to PHASE_REPLAYS options, which refer to the counter. Returns how many. */
size_t phase_counter_replays(const struct phase_counter *counter, struct replay_options *options);

/* With their results. Frees the counter. `phases` (may be NULL) gets the phases themselves, which the caller frees with
   phases_free: to find them again takes as long as the first time. Where there are too many iterations to be kept it is
   left as it is. */
struct phase_metrics *phase_counter_end(struct phase_counter *counter, const struct replay *replays,
                                        struct phases **phases);

#endif
