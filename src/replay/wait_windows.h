/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_WAIT_WINDOWS_H
#define SIGHT_REPLAY_WAIT_WINDOWS_H

#include "replay/wait.h"

/* The longest wait of a call on a window: for a post, for the end of an access, for a lock. */
struct wait wait_in_window(const struct graph *graph, uint32_t lane, uint32_t index, const struct call *call);

#endif
