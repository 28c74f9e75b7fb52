/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_DEVIATION_H
#define SIGHT_HEURISTICS_DEVIATION_H

#include "heuristics/heuristic.h"

/* SIGHT's three deviations: the population standard deviation over the processes of their communication time (eq. 4.3.1
   of the dissertation), compute component (4.3.2) and total time (4.3.4), in seconds.

   Verdict: see verdict_of, by the larger of the coefficient of variation (deviation / mean) and, where the times are
   not even (measure_is_even), of what the slowest process takes longer than the mean, as a share of the run's duration.
   Good also where that share is at most 1 %: then evening out would change nothing that can be noticed. Unknown with
   fewer than two processes, or a mean of 0. */
void judge_communication(const struct metrics *metrics, struct heuristic_result *result);
void judge_compute(const struct metrics *metrics, struct heuristic_result *result);
void judge_total(const struct metrics *metrics, struct heuristic_result *result);

#endif
