/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_CLOCK_LEAD_H
#define SIGHT_REPLAY_CLOCK_LEAD_H

#include "graph/graph.h"

/* By how much the clock of location `to` may be ahead of that of `from` at most: that makes messages on this way look
   slow. None arrives before it is sent: the fastest of them bounds it. So do collectives in which all wait for all. No
   process leaves one before the other has entered it: the least time between these is a bound. And both leave at about
   the same time: a clock that is ahead shows as the median of the differences. A clock may also drift: the result is
   the larger one of both halves of the run. INT64_MAX: not known. Time: linear in the calls of both and in all
   messages. */
int64_t clock_lead_ns(const struct graph *graph, uint32_t from, uint32_t to);

#endif
