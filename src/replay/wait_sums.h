/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_WAIT_SUMS_H
#define SIGHT_REPLAY_WAIT_SUMS_H

#include "replay/analyst.h"

/* For analyse.c: sums of waits by kind, process, function, place and communicator, and what calls there are that could
   wait. */

/* Of all calls. Also how long each location computes, and what calls of collectives take besides waiting. */
void analyst_sum_waits(struct analyst *analyst);

/* Adds one wait of the location's call `index`. `place`: its kind, or CONTENTION or UNEVEN. `begin_ns`: when it begins,
   on the trace's clock. `bin`: course_bin of the call's enter, or 0. */
void analyst_add_wait(struct analyst *analyst, int place, uint32_t location, uint32_t index, const struct call *call,
                      const struct wait *wait, int64_t begin_ns, size_t bin);

/* Adds to the sum of a place in the source, or a communicator, of `count`: *sums_ns is NULL until then. */
void analyst_add_place(int64_t **sums_ns, size_t count, uint32_t index, int64_t ns);

/* After all of these: the places and communicators that have waits, the longest first. */
void analyst_take_places(struct analyst *analyst);

#endif
