/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_SOURCE_REPORT_H
#define SIGHT_RENDER_REPORTS_SOURCE_REPORT_H

#include "core/output.h"
#include "profile/profile_rows.h"

/* A file of the program's source with what its lines cost, from samples: as text, and as JSON (sight-source/1). */

struct source_report {
    const struct profile *profile;
    const struct profile_rows *lines; /* by line */
    const char *title;                /* the trace's name */
    const char *file;                 /* as in the profile */
    const char *trace;                /* where the trace is: the file is looked for there, too */
    bool all;                         /* all lines, not only those near costly ones */
    bool colour;
};

/* The file of the profile that `wanted` means: its whole name, or the last parts of it; NULL: the costliest one. NULL
   where there is none, or where it may be several. */
const char *source_file_find(const struct profile_rows *lines, const char *wanted);

void source_write_text(struct output *output, const struct source_report *report);
void source_write_json(struct output *output, const struct source_report *report);

#endif
