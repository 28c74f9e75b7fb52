/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_SELECTION_H
#define SIGHT_CLI_SELECTION_H

#include "engine/engine.h"

/* "0-7,12" as sorted ranks without repetition (free()); NULL text gives NULL: all. */
enum status selection_ranks(const char *text, uint32_t **ranks, size_t *count, struct error *err) MUST_CHECK;

/* A length of time: "2us", "1.5 ms"; without a unit seconds. */
enum status selection_time(const char *text, int64_t *ns, struct error *err) MUST_CHECK;

/* A moment of the run, for --from and --to: such a time after its begin, or "10 %" of its duration. NULL text: the
   run's own begin or end. */
enum status selection_moment(const char *text, struct engine_time *time, struct error *err) MUST_CHECK;

#endif
