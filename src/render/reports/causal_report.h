/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_CAUSAL_REPORT_H
#define SIGHT_RENDER_REPORTS_CAUSAL_REPORT_H

#include "core/output.h"
#include "metrics/metrics.h"
#include "profile/causal.h"
#include "stuck/stuck.h"

/* What the whole run would gain if functions were faster. */
struct causal_report {
    const struct metrics *metrics; /* with an analysis and a profile */
    const struct stuck *stuck;     /* why the run hangs; NULL: not known */
    const char *title;             /* the trace's name */
    const struct profile_rows *functions;
    const struct causal_row *row;
    size_t count;
};

void causal_write_text(struct output *output, const struct causal_report *report);

/* "sight-what-if/1", with "functions" instead of "scenarios" */
void causal_write_json(struct output *output, const struct causal_report *report);

#endif
