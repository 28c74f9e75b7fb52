/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_CORE_LOSSES_H
#define SIGHT_HEURISTICS_CORE_LOSSES_H

#include "metrics/metrics.h"

/* What a process lost because it was ready to run and had no core, as the kernel counted: while it computed, and in
   calls beyond waiting for others, at most. */
struct core_losses {
    double computing_s, calls_s;
    double own_calls_s; /* in calls, without waiting for others */
    double share;       /* of the time in which it is ready to run */
    double ready_s;     /* that time */
    double each_s;      /* a wait for a core, on average; 0: not known */
};

/* By row of the metrics, to be freed. NULL: not known of all processes, or hardly anything (finding_machine.c). */
struct core_losses *core_losses_of(const struct metrics *metrics);

#endif
