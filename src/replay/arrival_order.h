/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_ARRIVAL_ORDER_H
#define SIGHT_REPLAY_ARRIVAL_ORDER_H

#include "graph/graph.h"

/* What a location that waits for one message while others are there could take first: by message, the one that its
   receive would get if, from a wait in the wrong order on, the location took messages as they were sent. Receives of
   one message each belong together until the location sends, or takes part in a collective. A message that stays where
   it is stands for itself. To be freed; O(messages log messages). */
uint32_t *arrival_order_of(const struct graph *graph);

#endif
