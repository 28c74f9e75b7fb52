/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_EVEN_WORK_H
#define SIGHT_HEURISTICS_EVEN_WORK_H

#include "metrics/metrics.h"

/* The saving from even work, in ns: one number for the diagnosis, what-if and phases. It is the largest saving by
   replay of even totals, even sections, even steps and even iterations; steps and iterations count if they save more
   than noise, and if uneven iterations are not a finding of their own. `by_steps`: it is the saving of the steps. The
   metrics have an analysis.
 */
int64_t even_work_saving_ns(const struct metrics *metrics, bool *by_steps);

#endif
