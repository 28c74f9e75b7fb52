/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_DEVIATION_H
#define SIGHT_HEURISTICS_DEVIATION_H

#include "heuristics/heuristic.h"

/* SIGHT's three deviations: the population standard deviation over the processes of their communication time (eq. 4.3.1
   of the dissertation), compute component (4.3.2) and total time (4.3.4), in seconds.

   Verdict, by the coefficient of variation (deviation / mean): see verdict_of. Good also where the slowest process
   takes at most 1 % of the run's duration longer than the mean: then evening out would change nothing that can be
   noticed. Unknown with fewer than two processes, or a mean of 0. */
void judge_communication(const struct metrics *metrics, struct heuristic_result *result);
void judge_compute(const struct metrics *metrics, struct heuristic_result *result);
void judge_total(const struct metrics *metrics, struct heuristic_result *result);

#endif
