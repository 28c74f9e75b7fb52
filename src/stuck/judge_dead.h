/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_JUDGE_DEAD_H
#define SIGHT_STUCK_JUDGE_DEAD_H

#include "stuck/judging.h"

/* Those that hang for good: what they wait for can never happen. STUCK_NOT: there are none. */
enum stuck_kind judge_dead(struct judging *judging);

#endif
