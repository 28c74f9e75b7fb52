/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_STUCK_CALLS_H
#define SIGHT_STUCK_STUCK_CALLS_H

#include "stuck/judging.h"

/* Where all processes are that have not ended normally, and how long the longest has waited. */
void stuck_collect_calls(struct judging *judging);

#endif
