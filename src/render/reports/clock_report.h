/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_CLOCK_REPORT_H
#define SIGHT_RENDER_REPORTS_CLOCK_REPORT_H

#include "clocks/clocks.h"
#include "render/field.h"

/* The effect of --fix-clocks, for `sight info`: the errors, and each process's correction. Call it after the trace was
   read. */

/* The member "clocks" of the open object. */
void clock_report_json(struct json *json, const struct clocks *clocks);

/* Processes that were not moved are left out unless `all`. */
void clock_report_text(struct output *output, const struct clocks *clocks, bool all);

#endif
