/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_MASTER_H
#define SIGHT_HEURISTICS_MASTER_H

#include "metrics/metrics.h"

/* The master of a master/worker program: the rank that takes part in at least 80 % of all messages (an end at each
   side: its communication index is 0.4 or more), exchanges them with at least three quarters of the other processes,
   and computes at most half of what the others compute on average, and at most half of what each of three quarters of
   them computes: compared with one overloaded process, any other computes little. -1 if there is none, or fewer than
   three processes. */
int64_t master_of(const struct metrics *metrics);

#endif
