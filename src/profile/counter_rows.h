/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PROFILE_COUNTER_ROWS_H
#define SIGHT_PROFILE_COUNTER_ROWS_H

#include "metrics/metrics.h"
#include "profile/counters.h"

/* Sums of counters by process, as metrics files keep them. */

/* Gives the metrics' rows what the counters have on each process in the window: of the first METRICS_COUNTERS. */
void counters_to_rows(const struct counters *counters, struct metrics *metrics);

/* The way back: a process has one thread, whose amounts over the whole run are those of its row, digit for digit.
   NULL: no process has any. counters_free before the metrics. */
struct counters *counters_of_rows(const struct metrics *metrics);

#endif
