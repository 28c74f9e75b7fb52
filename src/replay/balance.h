/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_BALANCE_H
#define SIGHT_REPLAY_BALANCE_H

#include <stdbool.h>
#include <stddef.h>

/* How many times as long locations compute where work is shared differently: `compute` of replay_options. */

/* A location that computes less than this part of the mean has no work. Where it would get some is not known: it is
   left alone, as long as it is not most that have none. */
#define BALANCE_IDLE 0.05

/* Who computes less than this has no work; 0: everyone has, or most have none. */
double balance_limit(const double *compute, size_t locations);

/* By location, from computing times by location: as long as the mean of those that have work; to be freed. */
double *balance_factors(const double *compute, size_t locations);

/* By location: the work of all shared with those that have none; NULL: there are none, or most. To be freed. */
double *balance_shared(const double *compute, size_t locations);

#endif
