/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/own_metrics.h"

#include "core/input.h"
#include "core/memory.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TITLE_COLUMNS = 36, TITLE_WIDE = 80, MACHINE_SIZE = 24 };

/* "mine, yours @ /Machine/0,3/" and a star: these metrics of these processes. */
static char *question_text(const struct definitions *definitions, const char *only,
                           const struct engine_request *request, const char *ending)
{
    size_t size = MACHINE_SIZE + request->rank_count * MACHINE_SIZE + (only ? strlen(only) : 0);
    for (size_t i = 0; i < definitions->count; i++)
        size += strlen(definitions->list[i].name) + 2;
    char *text = memory_new(size);
    if (only)
        text_append(text, size, "%s", only);
    for (size_t i = 0; !only && i < definitions->count; i++)
        text_append(text, size, "%s%s", i ? ", " : "", definitions->list[i].name);
    if (request->ranks || *ending)
        text_append(text, size, " @ /Machine");
    for (size_t i = 0; i < request->rank_count; i++)
        text_append(text, size, "%s%u", i ? "," : "/", request->ranks[i]);
    text_append(text, size, "%s", ending);
    return text;
}

static enum status ask(struct own_metrics *own, struct question *question, const char *only,
                       const struct engine_request *request, const char *ending, struct answer *answer,
                       struct error *err)
{
    char *text = question_text(own->definitions, only, request, ending);
    enum status status = question_ask(question, text, own->definitions, request->threads, answer, err);
    free(text);
    return status;
}

static bool is_defined(const struct definitions *definitions, const char *name)
{
    for (size_t i = 0; i < definitions->count; i++)
        if (strcmp(definitions->list[i].name, name) == 0)
            return true;
    return false;
}

static enum status check(const struct definitions *definitions, const char *file, const char *only,
                         const struct engine_request *request, struct error *err)
{
    if (definitions->count == 0)
        return error_set(err, ERROR_USAGE, "%s: defines no metric", file);
    if (only && !is_defined(definitions, only))
        return error_set(err, ERROR_USAGE, "%s: defines no metric '%s'", file, only);
    if (request->window.from.kind != ENGINE_TIME_OPEN || request->window.to.kind != ENGINE_TIME_OPEN)
        return error_set(err, ERROR_USAGE,
                         "metrics of your own are of the whole run: --definitions without --from and --to");
    for (size_t i = 0; i < request->input_count; i++)
        if (input_is_once(request->inputs[i]))
            return error_set(err, ERROR_USAGE, "metrics of your own need the trace as a file: it is read twice");
    return STATUS_OK;
}

enum status own_metrics_ask(struct own_metrics *own, const char *file, const char *only,
                            const struct engine_request *request, struct error *err)
{
    *own = (struct own_metrics){0};
    if (!file)
        return STATUS_OK;
    own->definitions = definitions_read(file, err);
    if (!own->definitions || check(own->definitions, file, only, request, err) != STATUS_OK)
        return STATUS_FAILED;
    struct question *question = question_new(request, own->definitions->counter_count > 0, err);
    if (!question)
        return STATUS_FAILED;
    enum status status = ask(own, question, only, request, "", &own->run, err);
    if (status == STATUS_OK)
        status = ask(own, question, only, request, "/*", &own->processes, err);
    own->end = *question_end(question);
    question_free(question);
    return status;
}

void own_metrics_clear(struct own_metrics *own)
{
    definitions_free(own->definitions);
    answer_clear(&own->run);
    answer_clear(&own->processes);
    *own = (struct own_metrics){0};
}

/* The processes with the least and the largest value; false: none has one. */
static bool find_extremes(const struct own_metrics *own, size_t metric, size_t *least, size_t *most)
{
    const struct answer *answer = &own->processes;
    bool any = false;
    for (size_t row = 0; row < answer->row_count; row++) {
        double value = answer->values[row * answer->metric_count + metric];
        if (isnan(value))
            continue;
        if (!any || value < answer->values[*least * answer->metric_count + metric])
            *least = row;
        if (!any || value > answer->values[*most * answer->metric_count + metric])
            *most = row;
        any = true;
    }
    return any;
}

/* Values as text, "-" where there is none. */
struct words {
    char run[TEXT_NUMBER_SIZE], least[TEXT_NUMBER_SIZE], most[TEXT_NUMBER_SIZE], rank[TEXT_NUMBER_SIZE];
    const char *verdict; /* "": the definition sets no limits */
    bool any;
};

static struct words words_of(const struct own_metrics *own, size_t metric)
{
    struct words words = {.least = "-", .most = "-", .rank = "-"};
    const struct answer *answer = &own->processes;
    size_t least = 0, most = 0;
    const char *verdict = answer_verdict(&own->run, metric, own->run.values[metric]);
    words.verdict = verdict ? verdict : "";
    answer_text(words.run, &own->run, metric, own->run.values[metric]);
    words.any = find_extremes(own, metric, &least, &most);
    if (!words.any)
        return words;
    answer_text(words.least, answer, metric, answer->values[least * answer->metric_count + metric]);
    answer_text(words.most, answer, metric, answer->values[most * answer->metric_count + metric]);
    snprintf(words.rank, sizeof words.rank, "%u", answer->rows[most].rank);
    return words;
}

void own_metrics_write_text(struct output *output, const struct own_metrics *own)
{
    static const char *const titles[] = {"metric", "run", "", "least", "most", "process"};
    if (!own->definitions)
        return;
    struct text_table *table = text_table_columns(sizeof titles / sizeof *titles);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        text_table_cell(table, titles[i], i == 0 || i == 2);
    for (size_t i = 0; i < own->run.metric_count; i++) {
        struct words words = words_of(own, i);
        char title[VALUE_TEXT_SIZE];
        text_for_terminal(title, sizeof title, own->run.titles[i], TITLE_COLUMNS);
        text_table_cell(table, title, true);
        text_table_cell(table, words.run, false);
        text_table_cell(table, words.verdict, true);
        text_table_cell(table, words.least, false);
        text_table_cell(table, words.most, false);
        text_table_cell(table, words.rank, false);
    }
    output_text(output, "\nMetrics of your own: the run, and its processes\n");
    text_table_print(table, output, "  ");
}

void own_metrics_write_judgements(struct output *output, const struct own_metrics *own)
{
    if (!own->definitions)
        return;
    for (size_t i = 0; i < own->run.metric_count; i++) {
        struct words words = words_of(own, i);
        char title[VALUE_TEXT_SIZE], line[VALUE_TEXT_SIZE];
        text_for_terminal(title, sizeof title, own->run.titles[i], TITLE_WIDE);
        snprintf(line, sizeof line, "the run: %s%s%s", words.run, *words.verdict ? ", " : "", words.verdict);
        if (words.any)
            text_append(line, sizeof line, "; its processes: %s to %s, most in process %s", words.least, words.most,
                        words.rank);
        output_print(output, "\n%s\n", title);
        paragraph_write(output, "  ", "  ", line);
    }
}

static void write_processes(struct json *json, const struct answer *answer, size_t metric)
{
    static const char *const names[] = {"rank", "value", "verdict"};
    json_open(json, "processes", '[');
    for (size_t row = 0; row < answer->row_count; row++) {
        const char *verdict = answer_verdict(answer, metric, answer->values[row * answer->metric_count + metric]);
        const struct value values[] = {value_count(answer->rows[row].rank), answer_value(answer, row, metric),
                                       value_text(verdict)};
        json_row_values(json, names, values, sizeof values / sizeof *values);
    }
    json_close(json, ']');
}

void own_metrics_write_json(struct json *json, const void *context)
{
    const struct own_metrics *own = context;
    if (!own->definitions)
        return;
    json_open(json, "own", '[');
    for (size_t i = 0; i < own->run.metric_count; i++) {
        json_open(json, NULL, '{');
        json_value(json, "name", value_text(own->run.metrics[i]));
        json_value(json, "title", value_text(own->run.titles[i]));
        json_value(json, "value", answer_value(&own->run, 0, i));
        json_value(json, "verdict", value_text(answer_verdict(&own->run, i, own->run.values[i])));
        write_processes(json, &own->processes, i);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void own_metrics_write_csv(struct output *output, const struct own_metrics *own)
{
    const struct answer *answer = &own->processes;
    output_text(output, "rank");
    for (size_t i = 0; i < answer->metric_count; i++)
        output_print(output, ",%s", answer->metrics[i]);
    output_text(output, "\n");
    for (size_t row = 0; row < answer->row_count; row++) {
        output_print(output, "%u", answer->rows[row].rank);
        for (size_t i = 0; i < answer->metric_count; i++) {
            output_text(output, ",");
            value_write_csv(output, answer_value(answer, row, i));
        }
        output_text(output, "\n");
    }
}
