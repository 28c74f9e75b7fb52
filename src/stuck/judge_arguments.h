/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_JUDGE_ARGUMENTS_H
#define SIGHT_STUCK_JUDGE_ARGUMENTS_H

#include "stuck/judging.h"

/* All have entered their collectives: roots or neighbours that do not fit those of the others. STUCK_SLOW: none are
   known. */
enum stuck_kind judge_arguments(struct judging *judging);

#endif
