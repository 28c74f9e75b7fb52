/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_BALANCE_H
#define SIGHT_REPLAY_BALANCE_H

#include <stdbool.h>
#include <stddef.h>

/* How many times as long locations compute if work is shared differently: `compute` of replay_options. */

/* A location that computes less than this part of the mean has no work. Where its share would be computed is not known:
   it is left alone, unless most have none. */
#define BALANCE_IDLE 0.05

/* A location that computes less than this has no work; 0: all have work, or most have none. */
double balance_limit(const double *compute, size_t locations);

/* By location, from computing times by location: the factor to the mean of those with work; free() it. */
double *balance_factors(const double *compute, size_t locations);

/* By location: the factor if all work is shared with locations that have none; NULL: there are none, or most have none.
   free() it. */
double *balance_shared(const double *compute, size_t locations);

#endif
