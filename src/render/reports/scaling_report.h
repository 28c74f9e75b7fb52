/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_SCALING_REPORT_H
#define SIGHT_RENDER_REPORTS_SCALING_REPORT_H

#include "core/output.h"
#include "runs/scaling.h"

/* The output of `sight scaling`: speed-ups, efficiencies, the parts with their laws, and predictions for larger runs.
 */

/* For people, at most `rows` parts. */
void scaling_write_text(struct output *output, const struct scaling *scaling, size_t rows);

/* Schema sight-scaling/1 (sight-scaling(1)). */
void scaling_write_json(struct output *output, const struct scaling *scaling);

/* A row a size. */
void scaling_write_csv(struct output *output, const struct scaling *scaling);

/* The answer and the table of sizes, as part of a page. */
void scaling_write_html(struct output *output, const struct scaling *scaling);

#endif
