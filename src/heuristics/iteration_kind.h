/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_ITERATION_KIND_H
#define SIGHT_HEURISTICS_ITERATION_KIND_H

#include "metrics/metrics.h"

/* What kind of imbalance the iterations of a run have. */

/* The share of the loss from uneven iterations that the processes' totals do not show. */
#define ITERATIONS_DYNAMIC 0.5
double iterations_dynamic_share(const struct iteration_metrics *iterations);

/* True for a loop whose iterations are uneven in another way than the totals: these are even, or the imbalance is in a
   few iterations, or grows or falls. */
bool iterations_are_dynamic(const struct iteration_metrics *iterations);

/* True for kinds in which the same processes are heaviest, but not all the time. */
bool iteration_class_shows_in_totals(enum iteration_class kind);

#endif
