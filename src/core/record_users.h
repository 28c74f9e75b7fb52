/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_RECORD_USERS_H
#define SIGHT_CORE_RECORD_USERS_H

#include "core/record_digest.h"

/* Totals of the states of the program (MPE API, sight.h): struct record_totals_user. */

/* An event of the program, at digest->ticks. */
void record_users_event(struct record_digest *digest, uint32_t id);

/* RECORD_DEFINE_STATE or RECORD_DEFINE_MARK, at least as far as its ids. */
void record_users_describe(struct record_digest *digest, const struct record_definition *state);

/* After digest->totals has been set. */
void record_users_use(struct record_digest *digest);

#endif
