/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_PHASE_NUMBERS_H
#define SIGHT_PHASES_PHASE_NUMBERS_H

#include "phases/phases.h"

/* What the processes do in each phase and iteration, in numbers; `spans` may be NULL. Calls, and computing between
   them, are split at borders. Temporary memory: a number for each iteration of each process. Free with
   phase_metrics_free. */
struct phase_metrics *phase_metrics_with(const struct graph *graph, const struct user_spans *spans);

#endif
