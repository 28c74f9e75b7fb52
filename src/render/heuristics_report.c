/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/heuristics_report.h"

#include "core/text.h"
#include "heuristics/heuristic.h"
#include "render/field.h"

/* A heuristic and what it said, as one row. */
struct judged {
    const struct heuristic *heuristic;
    struct heuristic_result result;
};

#define GETTER(name, expression)                                                                                       \
    static struct value name(const void *context, const void *row_pointer)                                             \
    {                                                                                                                  \
        const struct judged *row = row_pointer;                                                                        \
        (void)context;                                                                                                 \
        return expression;                                                                                             \
    }
GETTER(heuristic_id, value_text(row->heuristic->id))
GETTER(heuristic_title, value_text(row->heuristic->title))
GETTER(heuristic_question, value_text(row->heuristic->question))
GETTER(heuristic_index, value_ratio(row->result.index))
GETTER(heuristic_mean, value_ratio(row->result.mean))
GETTER(heuristic_unit, value_text(row->heuristic->unit))
GETTER(heuristic_verdict, value_text(verdict_name(row->result.verdict)))
GETTER(heuristic_analysis, value_text(row->result.analysis))

static const struct field fields[] = {
    {"id", NULL, heuristic_id},
    {"title", NULL, heuristic_title},
    {"question", NULL, heuristic_question},
    {"index", NULL, heuristic_index},
    {"mean", NULL, heuristic_mean},
    {"unit", NULL, heuristic_unit},
    {"verdict", NULL, heuristic_verdict},
    {"analysis", NULL, heuristic_analysis},
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static struct judged judge(size_t index, const struct metrics *metrics)
{
    const struct heuristic *heuristic = heuristic_at(index);
    return (struct judged){.heuristic = heuristic, .result = heuristic->judge(metrics)};
}

void heuristics_write_json(struct output *output, const struct metrics *metrics)
{
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-findings/1"));
    json_open(&json, "heuristics", '[');
    for (size_t i = 0; i < heuristic_count(); i++) {
        struct judged row = judge(i, metrics);
        json_open(&json, NULL, '{');
        json_fields(&json, fields, FIELD_COUNT, NULL, &row);
        json_open(&json, "suggestions", '[');
        json_close(&json, ']');
        json_open(&json, "cells", '[');
        json_close(&json, ']');
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_open(&json, "findings", '[');
    json_close(&json, ']');
    json_close(&json, '}');
}

void heuristics_write_csv(struct output *output, const struct metrics *metrics)
{
    csv_header(output, fields, FIELD_COUNT);
    for (size_t i = 0; i < heuristic_count(); i++) {
        struct judged row = judge(i, metrics);
        csv_row(output, fields, FIELD_COUNT, NULL, &row);
    }
}

void heuristics_write_text(struct output *output, const struct metrics *metrics)
{
    char mean[TEXT_NUMBER_SIZE], deviation[TEXT_NUMBER_SIZE];
    for (size_t i = 0; i < heuristic_count(); i++) {
        struct judged row = judge(i, metrics);
        output_print(output, "%s%-72s%8s\n", i ? "\n" : "", row.heuristic->title, verdict_name(row.result.verdict));
        paragraph_write(output, "  ", row.heuristic->question);
        output_print(output, "  mean %s   deviation %s", text_duration(mean, (int64_t)(row.result.mean * 1e9)),
                     text_duration(deviation, (int64_t)(row.result.index * 1e9)));
        if (row.result.mean > 0)
            output_print(output, " (%.0f %% of the mean)   max/mean %.2f", row.result.index / row.result.mean * 100,
                         row.result.most / row.result.mean);
        output_text(output, "\n");
        paragraph_write(output, "  ", row.result.analysis);
    }
}
