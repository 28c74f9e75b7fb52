/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight query 'METRIC, ... @ FOCUS [@ PHASE]' TRACE`: metrics of parts of a run. */
#include "cli/commands.h"

#include "cli/run.h"
#include "core/text.h"
#include "query/answer_plot.h"
#include "render/charts/picture.h"
#include "render/field.h"
#include "render/terminal_text.h"
#include "render/text_table.h"
#include "search/expression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct printed {
    const struct query_options *options;
    const struct answer *answer;
};

static void write_text(struct output *output, const struct answer *answer)
{
    struct text_table *table = text_table_columns(answer->metric_count + 1);
    char cell[VALUE_TEXT_SIZE];
    text_table_cell(table, "focus", true);
    for (size_t i = 0; i < answer->metric_count; i++)
        text_table_cell(table, answer->titles[i], false);
    for (size_t row = 0; row < answer->row_count; row++) {
        text_for_terminal(cell, sizeof cell, answer->rows[row].focus, 40);
        text_table_cell(table, cell, true);
        for (size_t i = 0; i < answer->metric_count; i++) {
            double value = answer->values[row * answer->metric_count + i];
            const char *verdict = answer_verdict(answer, i, value);
            size_t length = strlen(answer_text(cell, answer, i, value));
            if (verdict)
                snprintf(cell + length, sizeof cell - length, " %s", verdict);
            text_table_cell(table, cell, false);
        }
    }
    text_table_print(table, output, "");
    /* A table has room for so many values: the rest must not pass for nothing. */
    if (answer->cut)
        output_text(output, "There are more values than rows.\n");
}

/* The names of columns are expressions, which may have commas: they are quoted like values. */
static void write_csv(struct output *output, const struct answer *answer)
{
    output_text(output, "focus");
    for (size_t i = 0; i < answer->metric_count; i++) {
        output_text(output, ",");
        value_write_csv(output, value_text(answer->metrics[i]));
    }
    output_text(output, "\n");
    for (size_t row = 0; row < answer->row_count; row++) {
        value_write_csv(output, value_text(answer->rows[row].focus));
        for (size_t i = 0; i < answer->metric_count; i++) {
            output_text(output, ",");
            value_write_csv(output, answer_value(answer, row, i));
        }
        output_text(output, "\n");
    }
}

/* Of metrics with limits only. */
static void write_verdicts(struct json *json, const struct answer *answer, size_t row)
{
    bool open = false;
    for (size_t i = 0; i < answer->metric_count; i++) {
        const char *verdict = answer_verdict(answer, i, answer->values[row * answer->metric_count + i]);
        if (verdict && !open)
            json_open(json, "verdicts", '{');
        open = open || verdict;
        if (verdict)
            json_value(json, answer->metrics[i], value_text(verdict));
    }
    if (open)
        json_close(json, '}');
}

static void write_json(struct output *output, const struct answer *answer)
{
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-query/1"));
    json_open(&json, "rows", '[');
    for (size_t row = 0; row < answer->row_count; row++) {
        json_open(&json, NULL, '{');
        json_value(&json, "focus", value_text(answer->rows[row].focus));
        for (size_t i = 0; i < answer->metric_count; i++)
            json_value(&json, answer->metrics[i], answer_value(answer, row, i));
        write_verdicts(&json, answer, row);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

/* A picture where --format or the name of the file says so. */
static bool picture_of(const struct query_options *options, enum canvas_kind *kind)
{
    if (options->format.word)
        return picture_kind(options->format.word, kind);
    return options->target.path && strchr(options->target.path, '.') && picture_kind(options->target.path, kind);
}

static void write_answer(struct output *output, const void *context)
{
    const struct printed *printed = context;
    enum canvas_kind kind;
    if (picture_of(printed->options, &kind))
        answer_plot_write(output, kind, CHART_WIDTH, CHART_HEIGHT, printed->answer);
    else if (choice_is(printed->options->format, "csv"))
        write_csv(output, printed->answer);
    else if (choice_is(printed->options->format, "json"))
        write_json(output, printed->answer);
    else
        write_text(output, printed->answer);
}

static int answer(const struct query_options *options, struct asking *asking, const char *text)
{
    struct error err = {0};
    struct answer found;
    struct question *question = NULL;
    struct definitions *definitions = NULL;
    /* The file of definitions is small: a fault in it ends the command before the trace is read. */
    if (options->definitions)
        definitions = definitions_read(options->definitions, &err);
    if (definitions || !options->definitions)
        question = question_new(&asking->request, question_names_counters(text, definitions), &err);
    if (!question || question_ask(question, text, definitions, asking->request.threads, &found, &err) != STATUS_OK) {
        definitions_free(definitions);
        question_free(question);
        asking_end(asking);
        return command_fault(&err);
    }
    asking_end(asking);
    struct printed printed = {options, &found};
    int code = run_output(&options->common, &options->target, write_answer, &printed,
                          run_report_damage(question_end(question), -1));
    answer_clear(&found);
    definitions_free(definitions);
    question_free(question);
    return code;
}

int cmd_query(const struct command *command, const struct query_options *options)
{
    struct asking asking;
    if (options->common.input_count < 2)
        return command_usage(command, "a question and a trace are needed: 'METRIC @ FOCUS' TRACE");
    asking_begin(&asking, &options->common, &options->trace, 0);
    /* The first argument is the question: the traces are those after it. */
    asking.request.inputs++; /* after the question */
    asking.request.input_count--;
    return answer(options, &asking, options->common.inputs[0]);
}
