/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_OWN_NUMBERS_H
#define SIGHT_CLI_OWN_NUMBERS_H

#include "cli/run.h"
#include "query/own_metrics.h"

/* From options to the metrics of --definitions (`file`; NULL: not given), with progress; `only` that metric, NULL: all.
   Free with own_metrics_clear, also after a fault. */
enum status own_numbers_ask(struct own_metrics *own, const char *file, const char *only,
                            const struct common_options *common, const struct trace_options *trace,
                            struct error *err) MUST_CHECK;

#endif
