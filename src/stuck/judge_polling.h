/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_JUDGE_POLLING_H
#define SIGHT_STUCK_JUDGE_POLLING_H

#include "stuck/judging.h"

/* A place in a loop of tests: of those that can never succeed (`dead`), or of the others. NULL: there is none. */
const struct place *find_poller(const struct judging *judging, bool dead);

/* Process, function and what it waits for, of a loop of tests. */
enum stuck_kind judge_polling(struct judging *judging, const struct place *place);

#endif
