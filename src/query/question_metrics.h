/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_QUERY_QUESTION_METRICS_H
#define SIGHT_QUERY_QUESTION_METRICS_H

#include "search/cube.h"
#include "search/formulas.h"

/* Metrics of a question besides those of metrics.def, numbered from METRIC_COUNT on: those of the user's file, sight's
   formulas of counters, and counter(NAME) for each counter of the trace that the question names. */

enum { QUESTION_METRICS = 150 };

/* A file of definitions, and which counters of the trace its counters are. */
struct metric_file {
    const struct definitions *definitions;
    size_t *found; /* by counter of the file: of the trace; SIZE_MAX: it has none */
};

struct question_metrics {
    struct expression_names names;
    struct question_metric {
        const struct definition *definition;
        const struct metric_file *file;
    } * list;                        /* by number */
    struct metric_file own;          /* the user's */
    struct metric_file known;        /* sight's formulas */
    struct metric_file plain;        /* a counter each */
    const struct counters *counters; /* NULL: not read; borrowed */
    uint8_t *slots;                  /* by counter of the trace: see cube_meter.h */
    size_t slot_count;
};

/* True if metrics of counters may be named by the metrics of a question: then the trace's counters must be read. */
bool question_names_counters(const char *text, const struct definitions *own);

/* `own` and `formulas` may be NULL. Everything is borrowed. question_metrics_free frees it. */
struct question_metrics *question_metrics_of(const char *text, const struct definitions *own,
                                             const struct definitions *formulas, const struct counters *counters);
void question_metrics_free(struct question_metrics *metrics); /* NULL: nothing */

/* Gives the counters of a metric that is used a slot. False: there are too many. */
bool question_metrics_use(struct question_metrics *metrics, size_t which);

/* Sets the values of the counters that a metric's base names, and of the time that they were read in: `values` by
   metric, also those of counters. */
void question_metrics_values(const struct question_metrics *metrics, size_t which, const struct cube_cell *cell,
                             double *values);

#endif
