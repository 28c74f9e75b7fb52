/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_METRICS_FILE_H
#define SIGHT_METRICS_METRICS_FILE_H

#include "core/input.h"
#include "metrics/metrics.h"

/* Metrics files: the metrics of a run without its trace (dtd/sight-metrics.dtd, sight-metrics(5)). They are
   written by render/reports/metrics_report.h from the same fields as JSON. */

enum { METRICS_FILE_VERSION = 1 };

/* True if the first bytes of a file are those of a metrics file. */
bool metrics_file_probe(const unsigned char *data, size_t size);

/* Reads a metrics file to its end; free with metrics_free. Input that is not well-formed or out of bounds is damage of
   the result (metrics->end). NULL and a fault if nothing can be used: not a metrics file, or one of an unknown version.
 */
struct metrics *metrics_file_read(struct input *input, struct error *err);

/* Keeps only these processes (sorted ranks); messages by communicator, tag and size are not known by process and are
   dropped: metrics->tables_unknown. */
void metrics_select(struct metrics *metrics, const uint32_t *ranks, size_t count);

#endif
