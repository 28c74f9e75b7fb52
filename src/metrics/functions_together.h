/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_FUNCTIONS_TOGETHER_H
#define SIGHT_METRICS_FUNCTIONS_TOGETHER_H

#include "metrics/metrics.h"

/* Functions and states of all processes together: counts and times are sums, min and max are over all instances. Sorted
   by time, that of calls that never returned included, the most first. free() it. */
struct function_row *metrics_functions_together(const struct metrics *metrics, size_t *count);

#endif
