/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_JUDGE_RUNNING_H
#define SIGHT_STUCK_JUDGE_RUNNING_H

#include "stuck/judging.h"

/* Nobody hangs for good. All wait for some processes that compute, or test for something that may come; or they are
   merely slow (STUCK_SLOW). */
enum stuck_kind judge_running(struct judging *judging);

#endif
