/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_CLOCK_INFO_H
#define SIGHT_CLI_CLOCK_INFO_H

#include "clocks/clocks.h"
#include "render/field.h"

/* What --fix-clocks did, for `sight info`: what was wrong, and each process's correction. After the trace was read. */

/* The member "clocks" of the open object. */
void clock_info_json(struct json *json, const struct clocks *clocks);

/* Processes that were not moved are left out unless `all`. */
void clock_info_text(struct output *output, const struct clocks *clocks, bool all);

#endif
