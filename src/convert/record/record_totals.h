/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_TOTALS_H
#define SIGHT_CONVERT_RECORD_RECORD_TOTALS_H

#include "convert/record/record_plan.h"

/* Adds what a recording with a sample (record_kept.h) says of the whole run to the definitions of the trace: exact
   totals of each process (PROPERTY_TOTALS, which metrics/totals.h reads), and a sentence on what was kept. Times count
   from `begin_ns` on the trace's clock. */
void record_totals_define(const struct record_run *run, const struct record_plan *plan, int64_t begin_ns,
                          struct defs *defs);

#endif
