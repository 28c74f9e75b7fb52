/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_REPORT_H
#define SIGHT_RENDER_REPORTS_REPORT_H

#include "heuristics/finding.h"
#include "heuristics/iterations.h"
#include "render/charts/chart.h"
#include "render/reports/page.h"
#include "render/reports/phases_report.h"
#include "stuck/left_over.h"
#include "stuck/may_hang.h"
#include "stuck/stuck.h"

/* The whole report: verdict, key figures, heuristics, charts, tables. As a self-contained page of HTML, or as PDF. Its
   size is bounded for any number of processes. */
/* The timeline of a report, which is made elsewhere: see view/embed.h. */
struct report_timeline {
    struct page_extras extras; /* what draws it */
    void (*write)(struct output *output, const void *context);
    void (*write_finding)(struct output *output, const void *context, size_t index); /* a picture of its window */
    const void *context;
};

struct report {
    struct chart_input input;
    const struct findings *findings;        /* empty without an analysis */
    const struct stuck *stuck;              /* why the run hangs; NULL: not known, as the next two */
    const struct may_hang *may_hang;        /* of a run that does not */
    const struct left_over *left_over;      /* of the same */
    const char *title;                      /* the trace's name */
    const char *trace;                      /* where it is: source files are looked for there, too */
    const struct report_timeline *timeline; /* of a page; NULL: none. PDF has the chart of input.scene instead */
};

void report_write_html(struct output *output, const struct report *report);

/* Errors are kept as the output's fault. */
void report_write_pdf(struct output *output, const struct report *report);

/* The common part of both. */

enum { REPORT_LINE_SIZE = 400 };

/* A description of the damage, or "". */
void report_damage(const struct report *report, char line[REPORT_LINE_SIZE]);

/* What is wrong with a run although it came to its end, as sentences; returns how many of them there are. */
enum { REPORT_FAULTS = 2 };
size_t report_faults(const struct report *report, const char *faults[REPORT_FAULTS]);

/* The figures at the top: a name and a value each. */
enum { REPORT_FIGURES = 6 };
struct figure {
    const char *name;
    char value[48];
    const char *meaning;
};
void report_figures(const struct report *report, struct figure figures[REPORT_FIGURES]);

/* "could save up to 94.0 ms (52 %)" */
void report_saving(const struct finding *finding, char line[REPORT_LINE_SIZE]);

/* "2. Late senders: ...": the heading of the finding at a place, counted from 0. */
void report_finding_title(const struct findings *findings, size_t place, char line[REPORT_LINE_SIZE]);

/* "Caused by finding 1: fix that first."; "" if nothing causes it. */
void report_finding_root(const struct findings *findings, size_t place, char line[REPORT_LINE_SIZE]);

/* The text if there are no findings; "" if they were not searched. */
void report_no_findings(const struct report *report, char line[REPORT_LINE_SIZE]);

/* The iterations in a sentence or more, and the slow ones as rows of a table. */
struct report_iterations {
    char text[ITERATIONS_TEXT_SIZE];
    struct phases_report context; /* of the fields */
    const struct field *fields;
    size_t field_count;
    const struct slow_iteration *slow; /* borrowed from the metrics */
    size_t count;
};

/* False where there are no iterations. */
bool report_iterations(const struct metrics *metrics, struct report_iterations *found);

/* Charts that this report can have: chart_at(index) is one of them. */
bool report_has_chart(const struct report *report, size_t index);

/* The processes that tables show, at most `most`: all, or else those that compute least and most. Rows of the metrics,
   ascending; to be freed. */
size_t *report_processes(const struct report *report, size_t most, size_t *count);

#endif
