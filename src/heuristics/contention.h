/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_CONTENTION_H
#define SIGHT_HEURISTICS_CONTENTION_H

#include "heuristics/heuristic.h"

/* AIMS' contention (eq. 3.1.4 of the dissertation): time blocked, as a share of the run. What one process's own records
   tell is a bound: the time of its calls beyond the run's shortest call of the same function. Messages are not matched
   across processes, and a call that moves more data counts as blocked; the text says so. Functions that can block:
   receives, sends, probes, waits, collectives, barriers, one-sided synchronisation. */
void judge_contention(const struct metrics *metrics, struct heuristic_result *result);

#endif
