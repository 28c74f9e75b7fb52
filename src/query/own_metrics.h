/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_QUERY_OWN_METRICS_H
#define SIGHT_QUERY_OWN_METRICS_H

#include "query/question.h"
#include "render/field.h"

/* All metrics of a user's file of definitions (search/definitions.h), of the run and of each process: what commands add
   to their own numbers. */
struct own_metrics {
    struct definitions *definitions; /* NULL: there is no such file */
    struct answer run, processes;
    struct trace_end end; /* what is damaged of the trace */
};

/* Reads the file, and then the processes of the request's trace. `file` NULL: there are no metrics.
   `only`: of these metrics that one; NULL: all. A fault where either cannot be read, of a window, and of standard
   input or a pipe, which the command itself reads. Free with own_metrics_clear, also after a fault. */
enum status own_metrics_ask(struct own_metrics *own, const char *file, const char *only,
                            const struct engine_request *request, struct error *err) MUST_CHECK;
void own_metrics_clear(struct own_metrics *own);

/* These write nothing where there are none. Text as a table of the metrics, or a paragraph for each as heuristics have
   them; JSON as a member "own" of the open object; CSV as a table of processes. */
void own_metrics_write_text(struct output *output, const struct own_metrics *own);
void own_metrics_write_judgements(struct output *output, const struct own_metrics *own);
void own_metrics_write_json(struct json *json, const void *own);
void own_metrics_write_csv(struct output *output, const struct own_metrics *own);

#endif
