/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_EVEN_WORK_H
#define SIGHT_HEURISTICS_EVEN_WORK_H

#include "metrics/metrics.h"

/* What even work would save, in ns: one number for the diagnosis, what-if and phases. It is the most of what even
   totals, even sections and even steps save by replay; steps count where they save more than noise, and where uneven
   iterations are no finding of their own. `by_steps`: it is that of the steps. The metrics have an analysis. */
int64_t even_work_saving_ns(const struct metrics *metrics, bool *by_steps);

#endif
