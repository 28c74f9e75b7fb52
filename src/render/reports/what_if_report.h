/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_WHAT_IF_REPORT_H
#define SIGHT_RENDER_REPORTS_WHAT_IF_REPORT_H

#include "core/output.h"
#include "metrics/metrics.h"
#include "replay/what_if.h"
#include "stuck/stuck.h"

/* How long a run would take if something were different: the standard scenarios as a table, or the requested one in a
   sentence. */
struct what_if_report {
    const struct metrics *metrics; /* with an analysis */
    const struct stuck *stuck;     /* why the run hangs; NULL: not known */
    const char *title;             /* the trace's name */
    const struct scenarios *scenarios;
    bool standard;
};

/* `verbose`: with the options that ask for each. */
void what_if_write_text(struct output *output, const struct what_if_report *report, bool verbose);

/* "sight-what-if/1" */
void what_if_write_json(struct output *output, const struct what_if_report *report);

#endif
