/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/heuristics_report.h"

#include "core/text.h"
#include "render/field.h"
#include "render/path_text.h"
#include "render/reports/findings_json.h"
#include "render/terminal.h"
#include "render/terminal_text.h"

#include <stdio.h>
#include <string.h>

/* A heuristic and its result, as one row. */
struct judged {
    const struct heuristic *heuristic;
    const struct heuristic_result *result;
};

#define GETTER(name, type, expression)                                                                                 \
    static struct value name(const void *context, const void *row_pointer)                                             \
    {                                                                                                                  \
        const type *row = row_pointer;                                                                                 \
        const struct metrics *metrics = context;                                                                       \
        (void)metrics;                                                                                                 \
        return expression;                                                                                             \
    }
GETTER(judged_id, struct judged, value_text(row->heuristic->id))
GETTER(judged_title, struct judged, value_text(row->heuristic->title))
GETTER(judged_question, struct judged, value_text(row->heuristic->question))
GETTER(judged_index, struct judged, value_ratio(row->result->index))
GETTER(judged_mean, struct judged, value_ratio(row->result->mean))
GETTER(judged_unit, struct judged, value_text(row->heuristic->unit))
GETTER(judged_verdict, struct judged, value_text(verdict_name(row->result->verdict)))
GETTER(judged_share, struct judged, value_ratio(row->result->share))
GETTER(judged_lost, struct judged, value_ratio(row->result->lost))
/* A shape describes deviations over processes; an index of the whole run has none. */
GETTER(judged_shape, struct judged,
       row->result->is_deviation ? value_text(shape_name(row->result->shape)) : value_null())
GETTER(judged_master, struct judged, value_if(row->result->master >= 0, value_integer(row->result->master)))
GETTER(judged_analysis, struct judged, value_text(row->result->analysis))

static const struct field fields[] = {
    {"id", NULL, judged_id},           {"title", NULL, judged_title},   {"question", NULL, judged_question},
    {"index", NULL, judged_index},     {"mean", NULL, judged_mean},     {"unit", NULL, judged_unit},
    {"verdict", NULL, judged_verdict}, {"share", NULL, judged_share},   {"lost_s", NULL, judged_lost},
    {"shape", NULL, judged_shape},     {"master", NULL, judged_master}, {"analysis", NULL, judged_analysis},
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

GETTER(cell_rank, struct cell, value_count(row->rank))
/* A cell of a process as a whole has no function. */
GETTER(cell_function, struct cell,
       row->state == CELL_ALL_FUNCTIONS ? value_null() : value_text(metrics->defs->states[row->state].name))
GETTER(cell_index, struct cell, value_ratio(row->index))

static const struct field cell_fields[] = {
    {"rank", NULL, cell_rank}, {"function", NULL, cell_function}, {"index", NULL, cell_index}};

static void write_result(struct json *json, const struct metrics *metrics, const struct judged *row)
{
    const struct heuristic_result *result = row->result;
    json_open(json, NULL, '{');
    json_fields(json, fields, FIELD_COUNT, metrics, row);
    json_open(json, "details", '{');
    for (size_t i = 0; i < result->detail_count; i++)
        json_value(json, result->details[i].name, value_ratio(result->details[i].value));
    json_close(json, '}');
    json_open(json, "suggestions", '[');
    for (size_t i = 0; i < result->suggestion_count; i++)
        json_value(json, NULL, value_text(result->suggestions[i]));
    json_close(json, ']');
    json_open(json, "cells", '[');
    for (size_t i = 0; i < result->cell_count; i++)
        json_row(json, cell_fields, sizeof cell_fields / sizeof *cell_fields, metrics, &result->cells[i]);
    json_close(json, ']');
    json_close(json, '}');
}

void heuristics_write_json(struct output *output, const struct metrics *metrics, const struct heuristic_result *results,
                           const struct findings *findings)
{
    heuristics_write_json_more(output, metrics, results, findings, NULL, NULL);
}

void heuristics_write_json_more(struct output *output, const struct metrics *metrics,
                                const struct heuristic_result *results, const struct findings *findings,
                                void (*more)(struct json *json, const void *context), const void *context)
{
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-findings/1"));
    json_open(&json, "heuristics", '[');
    for (size_t i = 0; i < heuristic_count(); i++)
        write_result(&json, metrics, &(struct judged){heuristic_at(i), &results[i]});
    json_close(&json, ']');
    if (metrics->analysis && metrics->analysis->process_count == metrics->process_count) {
        clocks_write_json(&json, metrics->analysis);
        path_write_json(&json, metrics);
    }
    json_open(&json, "findings", '[');
    for (size_t i = 0; i < findings->count; i++)
        finding_write_json(&json, &findings->finding[i]);
    json_close(&json, ']');
    json_value(&json, "caveat", value_text(*findings->caveat ? findings->caveat : NULL));
    if (more)
        more(&json, context);
    json_close(&json, '}');
}

void heuristics_write_csv(struct output *output, const struct metrics *metrics, const struct heuristic_result *results)
{
    csv_header(output, fields, FIELD_COUNT);
    for (size_t i = 0; i < heuristic_count(); i++)
        csv_row(output, fields, FIELD_COUNT, metrics, &(struct judged){heuristic_at(i), &results[i]});
}

void heuristic_numbers(const struct heuristic_result *result, char numbers[HEURISTIC_NUMBERS_SIZE])
{
    char mean[TEXT_NUMBER_SIZE], index[TEXT_NUMBER_SIZE], lost[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    numbers[0] = '\0';
    /* Numbers of a verdict that could not be given would mislead. */
    if (result->verdict == VERDICT_UNKNOWN)
        return;
    if (result->rule) {
        snprintf(numbers, HEURISTIC_NUMBERS_SIZE, "index %.4f", result->index);
        return;
    }
    if (!result->is_deviation) {
        snprintf(numbers, HEURISTIC_NUMBERS_SIZE, "index %.4f: %s of the processes' time", result->index,
                 text_share(share, result->index));
        return;
    }
    int used = snprintf(numbers, HEURISTIC_NUMBERS_SIZE, "mean %s, deviation %s (%s of the mean), max/mean %.2f",
                        seconds_text(mean, result->mean), seconds_text(index, result->index),
                        text_share(share, result->share), result->measure.most_over_mean);
    if (result->lost > 0)
        snprintf(numbers + used, HEURISTIC_NUMBERS_SIZE - (size_t)used, ", max - mean %s",
                 seconds_text(lost, result->lost));
}

static void write_details(struct output *output, const struct heuristic *heuristic,
                          const struct heuristic_result *result)
{
    char line[512];
    output_text(output, "\n");
    snprintf(line, sizeof line, "formula: %s", heuristic->formula);
    paragraph_write(output, "    ", "      ", line);
    snprintf(line, sizeof line, "source: %s", heuristic->source);
    paragraph_write(output, "    ", "      ", line);
    const char *by = "by the index", *also = "";
    if (result->is_deviation) {
        by = "by the larger of deviation / mean and (max - mean) / run";
        also = "; also good where (max - mean) / run is at most 1 %";
    }
    snprintf(line, sizeof line, "verdict: %s; up to %d %% is good, up to %d %% fair, above poor%s", by,
             VERDICT_GOOD_PERCENT, VERDICT_FAIR_PERCENT, also);
    if (result->rule)
        snprintf(line, sizeof line, "verdict: %s", result->rule);
    paragraph_write(output, "    ", "      ", line);
    /* Nine decimals, as in JSON: who asks for details wants to check them. */
    output_print(output, "    %-28s %.9f\n", "index", result->index);
    output_print(output, "    %-28s %.9f\n", "mean", result->mean);
    for (size_t i = 0; i < result->detail_count; i++)
        output_print(output, "    %-28s %.9g\n", result->details[i].name, result->details[i].value);
}

static void write_text_result(struct output *output, const struct heuristic *heuristic,
                              const struct heuristic_result *result, bool verbose)
{
    static const char *const styles[] = {[VERDICT_GOOD] = TERMINAL_GREEN,
                                         [VERDICT_FAIR] = TERMINAL_YELLOW,
                                         [VERDICT_POOR] = TERMINAL_RED,
                                         [VERDICT_UNKNOWN] = NULL};
    const char *verdict = verdict_name(result->verdict);
    terminal_style(output, TERMINAL_BOLD);
    output_print(output, "%-72s", heuristic->title);
    terminal_style(output, NULL);
    output_print(output, "%*s", (int)(8 - strlen(verdict)), "");
    terminal_style(output, styles[result->verdict]);
    output_text(output, verdict);
    terminal_style(output, NULL);
    output_text(output, "\n");
    paragraph_write(output, "  ", "  ", heuristic->question);
    char numbers[HEURISTIC_NUMBERS_SIZE];
    heuristic_numbers(result, numbers);
    if (*numbers)
        paragraph_write(output, "  ", "  ", numbers);
    paragraph_write(output, "  ", "  ", result->analysis);
    for (size_t i = 0; i < result->suggestion_count; i++)
        paragraph_write(output, "  → ", "    ", result->suggestions[i]);
    if (verbose)
        write_details(output, heuristic, result);
}

void heuristics_write_text(struct output *output, const struct heuristic_result *results, bool verbose)
{
    /* In the order of the table, whatever the verdicts: readers find each at the same place. */
    for (size_t i = 0; i < heuristic_count(); i++) {
        if (results[i].absent)
            continue;
        if (i > 0)
            output_text(output, "\n");
        write_text_result(output, heuristic_at(i), &results[i], verbose);
    }
}
