/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_PROFILE_REPORT_H
#define SIGHT_RENDER_REPORTS_PROFILE_REPORT_H

#include "core/output.h"
#include "profile/profile_rows.h"

/* Where a run spends its computing, from samples: as text, JSON (sight-profile/1), CSV, folded stacks (a line for each
   call path, for flame graphs: flamegraph.pl, inferno) and the file format of speedscope. */

struct profile_report {
    const struct profile *profile;
    const char *title; /* the trace's name */
    bool all;          /* all rows of text tables */
};

/* One of the tables: functions lines files tree. NULL: functions and tree. */
void profile_write_text(struct output *output, const struct profile_report *report, const char *table);
void profile_write_csv(struct output *output, const struct profile_report *report, const char *table);
void profile_write_json(struct output *output, const struct profile_report *report);
void profile_write_folded(struct output *output, const struct profile_report *report);
void profile_write_speedscope(struct output *output, const struct profile_report *report);

#endif
