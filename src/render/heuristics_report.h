/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_HEURISTICS_REPORT_H
#define SIGHT_RENDER_HEURISTICS_REPORT_H

#include "core/output.h"
#include "metrics/metrics.h"

/* All heuristics of a run, judged and printed: text, JSON (sight-findings/1), CSV. */
void heuristics_write_text(struct output *output, const struct metrics *metrics);
void heuristics_write_json(struct output *output, const struct metrics *metrics);
void heuristics_write_csv(struct output *output, const struct metrics *metrics);

#endif
