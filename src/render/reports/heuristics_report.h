/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_HEURISTICS_REPORT_H
#define SIGHT_RENDER_REPORTS_HEURISTICS_REPORT_H

#include "heuristics/finding.h"
#include "render/field.h"

#include <stdbool.h>

/* The results of the heuristics, as JSON (sight-findings/1), CSV and text, from one list of fields. */

/* The line of numbers under a heuristic's question; "" where nothing is known. */
enum { HEURISTIC_NUMBERS_SIZE = 240 };
void heuristic_numbers(const struct heuristic_result *result, char numbers[HEURISTIC_NUMBERS_SIZE]);

/* `findings` may be empty: without events. */
void heuristics_write_json(struct output *output, const struct metrics *metrics, const struct heuristic_result *results,
                           const struct findings *findings);
/* The same; `more` (NULL: nothing) adds members at its end. */
void heuristics_write_json_more(struct output *output, const struct metrics *metrics,
                                const struct heuristic_result *results, const struct findings *findings,
                                void (*more)(struct json *json, const void *context), const void *context);
void heuristics_write_csv(struct output *output, const struct metrics *metrics, const struct heuristic_result *results);

/* For people. `verbose`: with formula, source, the rule of the verdict, and every number. */
void heuristics_write_text(struct output *output, const struct heuristic_result *results, bool verbose);

#endif
