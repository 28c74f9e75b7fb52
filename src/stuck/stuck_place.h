/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_STUCK_PLACE_H
#define SIGHT_STUCK_STUCK_PLACE_H

#include "stuck/stuck_state.h"

/* What a thread does at the end of the trace. */

/* True for places in an open call of this function. */
bool place_is_in(const struct stuck_state *state, const struct place *place, const char *function);

/* True for places that loop over failed tests. */
bool place_polls(const struct stuck_state *state, const struct place *place);

/* The thread of its process that a place outside MPI waits for; NULL: none, or it has ended. */
const struct place *place_joins(const struct stuck_state *state, const struct place *place);

/* True for places whose process has left: finalised, crashed, exited, or a thread that ended. */
bool place_is_gone(const struct stuck_state *state, const struct place *place);

#endif
