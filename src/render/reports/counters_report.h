/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_COUNTERS_REPORT_H
#define SIGHT_RENDER_REPORTS_COUNTERS_REPORT_H

#include "core/output.h"
#include "metrics/metrics.h"
#include "search/formulas.h"

/* What the counters of a run add up to, and what formulas make of them, as text, JSON (sight-counters/1) and CSV. */

struct counters_report {
    const struct metrics *metrics;
    const struct counter_table *table;
    const char *title; /* the trace's name */
    size_t rows;       /* of text */
    bool moment;       /* values at one: formulas are of parts of the run */
    bool counters;     /* text has the amounts of each row as well */
};

void counters_write_text(struct output *output, const struct counters_report *report);
void counters_write_csv(struct output *output, const struct counters_report *report);
void counters_write_json(struct output *output, const struct counters_report *report);

#endif
