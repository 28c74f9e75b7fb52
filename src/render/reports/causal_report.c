/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/causal_report.h"

#include "core/text.h"
#include "render/facts.h"
#include "render/field.h"
#include "render/reports/stuck_report.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 24, PLACE_MOST = 16 };

/* A function with this share of the computing is hot; if the run gains less than a hundredth without it, that is worth
   a sentence. */
static const double HOT = 0.1, GAIN = 0.01;

static int64_t saving_ns(const struct causal_report *report, const struct causal_row *row, size_t speed)
{
    return report->metrics->analysis->replay - row->end_ns[speed];
}

static double share_of_computing(const struct causal_report *report, const struct causal_row *row)
{
    const struct profile *profile = report->metrics->profile;
    return profile->samples ? (double)report->functions->row[row->row].samples / (double)profile->samples : 0;
}

static const char *place_text(char *text, size_t size, const struct profile_row *row)
{
    const char *slash = strrchr(row->file, '/'), *file = slash && slash[1] ? slash + 1 : row->file;
    snprintf(text, size, "%.*s", text_beginning(file, 200), file);
    if (*file && row->line > 0)
        snprintf(text, size, "%.*s:%d", text_beginning(file, 200), file, (int)row->line);
    return text;
}

static void cell(struct text_table *table, const char *text, size_t most)
{
    char shown[VALUE_TEXT_SIZE];
    text_for_terminal(shown, sizeof shown, text, most);
    text_table_cell(table, shown, true);
}

static void write_row(struct text_table *table, const struct causal_report *report, const struct causal_row *row)
{
    const struct profile_row *function = &report->functions->row[row->row];
    char text[VALUE_TEXT_SIZE], number[TEXT_NUMBER_SIZE];
    for (size_t speed = 0; speed < CAUSAL_SPEEDS; speed++)
        text_table_cell(table, text_duration(number, saving_ns(report, row, speed)), false);
    text_table_cell(table, text_share(number, share_of_computing(report, row)), false);
    cell(table, function->name, NAME_MOST);
    cell(table, place_text(text, sizeof text, function), PLACE_MOST);
}

static void write_table(struct output *output, const struct causal_report *report)
{
    struct text_table *table = text_table_columns(CAUSAL_SPEEDS + 3);
    for (size_t speed = 0; speed < CAUSAL_SPEEDS; speed++) {
        char title[TEXT_NUMBER_SIZE];
        snprintf(title, sizeof title, speed + 1 < CAUSAL_SPEEDS ? "%d %%" : "%d %% ↓", causal_percent[speed]);
        text_table_cell(table, title, false);
    }
    text_table_cell(table, "computing", false);
    text_table_cell(table, "function", true);
    text_table_cell(table, "place", true);
    for (size_t i = 0; i < report->count; i++)
        write_row(table, report, &report->row[i]);
    text_table_print(table, output, "  ");
}

/* Hot functions that hardly anybody waits for: what people would make faster first, for next to nothing. */
static void write_vain(struct output *output, const struct causal_report *report)
{
    double least_ns = GAIN * (double)report->metrics->analysis->replay;
    for (size_t i = 0; i < report->count; i++) {
        char line[300], share[TEXT_NUMBER_SIZE];
        const char *name = report->functions->row[report->row[i].row].name;
        if (share_of_computing(report, &report->row[i]) < HOT ||
            (double)saving_ns(report, &report->row[i], CAUSAL_SPEEDS - 1) >= least_ns)
            continue;
        snprintf(line, sizeof line,
                 "%.*s has %s of the computing, but the run would gain less than 1 %% without it: hardly any process "
                 "waits for it.",
                 text_beginning(name, 80), name, text_share(share, share_of_computing(report, &report->row[i])));
        output_text(output, "\n");
        paragraph_write(output, "  ", "  ", line);
    }
}

void causal_write_text(struct output *output, const struct causal_report *report)
{
    char facts[FACTS_SIZE];
    headline_write(output, report->title, facts_text(facts, report->metrics));
    stuck_write_note(output, report->stuck);
    output_text(output, "\n");
    paragraph_write(output, "  ", "  ",
                    "So much shorter would the run be if a function's own code took 10, 25, 50 or 100 % less time on "
                    "all processes:");
    output_text(output, "\n");
    write_table(output, report);
    write_vain(output, report);
    output_text(output, "\n");
    paragraph_write(output, "  ", "  ",
                    "Each change alone, by replay, with what samples say about each stretch of computing; what a "
                    "function calls takes as long as before.");
}

struct speed {
    const struct causal_report *report;
    const struct causal_row *row;
    size_t index;
};

#define GETTER(name, type, expression)                                                                                 \
    static struct value name(const void *context, const void *row_pointer)                                             \
    {                                                                                                                  \
        const type *row = row_pointer;                                                                                 \
        (void)context;                                                                                                 \
        return expression;                                                                                             \
    }
GETTER(function_name, struct profile_row, value_text(row->name))
GETTER(function_file, struct profile_row, value_if(*row->file, value_text(row->file)))
GETTER(function_line, struct profile_row, value_if(row->line > 0, value_count((uint64_t)row->line)))
GETTER(function_samples, struct profile_row, value_count(row->samples))
GETTER(function_self, struct profile_row, value_time(row->self_ns))
GETTER(speed_part, struct speed, value_ratio(causal_percent[row->index] / 100.0))
GETTER(speed_run, struct speed, value_time(row->row->end_ns[row->index]))
GETTER(speed_saving, struct speed, value_time(saving_ns(row->report, row->row, row->index)))
static const struct field function_fields[] = {{"name", NULL, function_name},
                                               {"file", NULL, function_file},
                                               {"line", NULL, function_line},
                                               {"samples", NULL, function_samples},
                                               {"self_s", NULL, function_self}},
                          speed_fields[] = {
                              {"less", NULL, speed_part}, {"run_s", NULL, speed_run}, {"saving_s", NULL, speed_saving}};

void causal_write_json(struct output *output, const struct causal_report *report)
{
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-what-if/1"));
    json_value(&json, "duration_s", value_time(report->metrics->analysis->duration));
    json_value(&json, "replay_s", value_time(report->metrics->analysis->replay));
    json_open(&json, "functions", '[');
    for (size_t i = 0; i < report->count; i++) {
        json_open(&json, NULL, '{');
        json_fields(&json, function_fields, sizeof function_fields / sizeof *function_fields, NULL,
                    &report->functions->row[report->row[i].row]);
        json_open(&json, "faster", '[');
        for (size_t speed = 0; speed < CAUSAL_SPEEDS; speed++)
            json_row(&json, speed_fields, sizeof speed_fields / sizeof *speed_fields, NULL,
                     &(struct speed){report, &report->row[i], speed});
        json_close(&json, ']');
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}
