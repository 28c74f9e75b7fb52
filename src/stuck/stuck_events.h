/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_STUCK_EVENTS_H
#define SIGHT_STUCK_STUCK_EVENTS_H

#include "stuck/stuck_state.h"

/* Takes an event. */
void stuck_take_event(struct stuck_state *state, const struct event *event, const struct batch *batch);

#endif
