/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_SIGNIFICANCE_REPORT_H
#define SIGHT_RENDER_REPORTS_SIGNIFICANCE_REPORT_H

#include "core/output.h"
#include "render/field.h"
#include "runs/significance.h"

/* Whether a difference between versions is more than noise. */

/* "new takes 3.1 % longer than old (95 % interval +1.2 % to +5.0 %; p = 0.004)", or why that is not shown and how many
   runs would show it. */
enum { SIGNIFICANCE_SENTENCE_SIZE = 600, SIGNIFICANCE_CELL_SIZE = 64, SIGNIFICANCE_INTERVAL_SIZE = 160 };
void significance_sentence(const struct significance *significance, const char *before, const char *after,
                           char sentence[SIGNIFICANCE_SENTENCE_SIZE]);

/* "+3.1 %", "-2 points", "-30 ms" where it is no share. */
void significance_change(const struct tested *tested, double change, char cell[SIGNIFICANCE_CELL_SIZE]);

/* "+1.2 % to +5.0 %"; "" where it is not known. */
void significance_interval(const struct tested *tested, char cell[SIGNIFICANCE_INTERVAL_SIZE]);

/* "0.004", "< 0.001" */
void significance_p(double p, char cell[SIGNIFICANCE_CELL_SIZE]);

/* A section of text, at most `rows` parts; members of an open JSON object; a section of HTML. */
void significance_write_text(struct output *output, const struct significance *significance, const char *before,
                             const char *after, size_t rows);
void significance_write_json(struct json *json, const struct significance *significance, const char *after);
void significance_write_html(struct output *output, const struct significance *significance, const char *before,
                             const char *after);

#endif
