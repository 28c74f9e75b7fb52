/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_METRICS_REPORT_H
#define SIGHT_RENDER_REPORTS_METRICS_REPORT_H

#include "core/output.h"
#include "metrics/metrics.h"
#include "render/field.h"

/* Metrics as text, JSON (sight-metrics/1) and CSV, all from one list of fields a table. */

/* The fields of a process (a row is a struct process_row) and of a function (struct function_row); the context is the
   metrics. */
const struct field *metrics_process_fields(size_t *count);
const struct field *metrics_function_fields(size_t *count);

/* Names of the tables that CSV and text can print: "processes", "functions", ...; NULL after the last. */
const char *metrics_table_name(size_t index);

/* True of a table over all processes: metrics->tables_unknown says whether it is known. */
bool metrics_table_of_trace(const char *name);

/* Describes the trace, as the member "trace" of the open object. */
void metrics_write_trace(struct json *json, const struct metrics *metrics);

void metrics_write_json(struct output *output, const struct metrics *metrics);
/* The same; `more` (NULL: nothing) adds members at its end. */
void metrics_write_json_more(struct output *output, const struct metrics *metrics,
                             void (*more)(struct json *json, const void *context), const void *context);

/* The metrics file: metrics/metrics_file.h reads it. */
void metrics_write_xml(struct output *output, const struct metrics *metrics);

/* False if there is no such table. */
bool metrics_write_csv(struct output *output, const struct metrics *metrics, const char *table);

/* As readable text. Of more processes than `rows` those are shown that compute least and most, or by `sort` the
   largest. */
struct metrics_text {
    const char *title;
    const char *table; /* of metrics_table_name, alone; NULL: processes and functions */
    const char *sort;  /* a name of process fields; NULL: by rank */
    size_t rows;       /* at most so many of each table; SIZE_MAX: all */
};
void metrics_write_text(struct output *output, const struct metrics *metrics, const struct metrics_text *shown);

/* True of the name of a number of processes: they can be sorted by it. */
bool metrics_sorts_by(const char *name);

#endif
