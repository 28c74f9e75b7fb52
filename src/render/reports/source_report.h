/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_SOURCE_REPORT_H
#define SIGHT_RENDER_REPORTS_SOURCE_REPORT_H

#include "core/output.h"
#include "profile/profile_rows.h"
#include "render/field.h"

/* A file of the program's source with what its lines cost, from samples: as text, and as JSON (sight-source/1). */

struct source_report {
    const struct profile *profile;
    const struct profile_rows *lines; /* by line */
    const char *title;                /* the trace's name */
    const char *file;                 /* as in the profile */
    const char *trace; /* where the trace is: the file is looked for there, too, after the directories that
                          it was compiled in */
    bool all;          /* all lines, not only those near costly ones */
    bool colour;
};

/* The file of the profile that `wanted` means: its whole name, or the last parts of it; NULL: the one with the
   costliest line, if possible of those that are here. NULL where there is none, or where it may be several. */
const char *source_file_find(const struct profile *profile, const struct profile_rows *lines, const char *wanted,
                             const char *trace);

void source_write_text(struct output *output, const struct source_report *report);
void source_write_json(struct output *output, const struct source_report *report);

/* The lines with most of the computing and what is around them, of the costliest files: a section of a page, and an
   array of objects ({"file", "share", "found", "lines": [{"line", "share", "text"}]}). Nothing, or [], without
   samples. Pages are sent on: only files that are called as source files are read. */
void source_write_html(struct output *output, const struct profile *profile, const char *trace);
void source_write_hottest(struct json *json, const char *name, const struct profile *profile, const char *trace);
bool source_is_known(const struct profile *profile); /* whether there is anything; NULL: no */

#endif
