/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_STUCK_MESSAGES_H
#define SIGHT_STUCK_STUCK_MESSAGES_H

#include "stuck/stuck_state.h"

/* Messages in transit at the end of the trace. */

/* Finds those that were sent and not received. */
void messages_count(struct stuck_state *state);

/* Takes a message in transit that matches a receive, or finds one that matches a probe. False: there is none. */
bool messages_take(struct stuck_state *state, uint32_t receiver, const struct item *item);

/* True if the receiver has an open receive for such a message: it is in transit. */
bool messages_wanted(const struct stuck_state *state, uint32_t sender, uint32_t receiver, int32_t comm, int32_t tag);

#endif
