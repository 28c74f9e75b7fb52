/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_JUDGE_ENDED_H
#define SIGHT_STUCK_JUDGE_ENDED_H

#include "stuck/judging.h"

/* A run ended with SIGABRT to see where it hangs: all remaining processes got it inside MPI. They count as alive. One
   that aborts alone, or outside MPI, has failed an assertion of its own. */
void ended_forgive_aborts(struct stuck_state *state);

/* The first process that ended where it should not have. Launchers kill the others then, so that later ones are only
   victims. NULL: there is none. */
const struct place *find_ended(const struct judging *judging);

/* True if a process died just when it had come to where it would hang: a moment later it may not have been there. */
bool ended_early(const struct judging *judging);

/* How the process of such a place ended, and what the others were doing. */
enum stuck_kind judge_ended(struct judging *judging, const struct place *place);

#endif
