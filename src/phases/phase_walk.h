/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_PHASE_WALK_H
#define SIGHT_PHASES_PHASE_WALK_H

#include "phases/iteration_numbers.h"

/* Walks all calls of all processes, in up to so many threads with the same results: fills the sums of phases, cells and
   iterations of the counter's metrics, `computing`, and `rhythm` if there is one. Memory: a number for each iteration
   in each thread. */
void phase_walk(struct phase_counter *counter, unsigned threads);

#endif
