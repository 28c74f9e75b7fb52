/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/counters_report.h"

#include "core/numbers.h"
#include "core/text.h"
#include "render/counter_text.h"
#include "render/facts.h"
#include "render/field.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS_MOST = 5, NAME_MOST = 30 };

static int64_t since(const struct counters_report *report, int64_t time_ns)
{
    return time_since(report->metrics->begin_ns, time_ns);
}

static double amount_of(const struct counter_table *table, size_t row, size_t counter)
{
    return table->amounts[row * table->counters->count + counter];
}

static double value_of(const struct counter_table *table, size_t row, size_t formula)
{
    return table->values[row * table->formulas->count + formula];
}

/* Sums of whole numbers are whole. */
static struct value number(double value)
{
    if (isnan(value))
        return value_null();
    if (value >= 0 && value < 9e15 && value == floor(value))
        return value_count((uint64_t)value);
    return value_ratio(value);
}

static struct value ratio(double value)
{
    return isnan(value) ? value_null() : value_ratio(value);
}

static const char *function_name(const struct counter_table *table, uint32_t state)
{
    return state == COUNTER_NO_STATE ? "(outside all)" : table->counters->defs->states[state].name;
}

static const char *part_name(const struct counters_report *report, const struct counter_row *row)
{
    const struct phase_metrics *phases = report->metrics->phases;
    return phases && row->part < phases->phase_count ? phases->phases[row->part].name : "";
}

static void row_name(char name[VALUE_TEXT_SIZE], const struct counters_report *report, size_t index)
{
    const struct counter_row *row = &report->table->row[index];
    char from[TEXT_NUMBER_SIZE];
    switch (report->table->by) {
    case COUNTERS_BY_FUNCTION:
        text_for_terminal(name, VALUE_TEXT_SIZE, function_name(report->table, row->state), NAME_MOST);
        break;
    case COUNTERS_BY_PHASE:
        text_for_terminal(name, VALUE_TEXT_SIZE, part_name(report, row), NAME_MOST);
        break;
    case COUNTERS_BY_TIME:
        snprintf(name, VALUE_TEXT_SIZE, "%s", text_duration(from, since(report, row->from_ns)));
        break;
    case COUNTERS_BY_READING:
        snprintf(name, VALUE_TEXT_SIZE, "%u.%u from %s", row->rank, row->thread,
                 text_duration(from, since(report, row->from_ns)));
        break;
    case COUNTERS_BY_ITERATION:
        snprintf(name, VALUE_TEXT_SIZE, "%u", row->part);
        break;
    case COUNTERS_BY_THREAD:
        snprintf(name, VALUE_TEXT_SIZE, "%u.%u", row->rank, row->thread);
        break;
    default:
        snprintf(name, VALUE_TEXT_SIZE, "%u", row->rank);
    }
}

static void write_counters(struct output *output, const struct counter_table *table)
{
    struct text_table *text = text_table_columns(5);
    static const char *const titles[] = {"amount", "rate", "mode", "readings"};
    char cell[VALUE_TEXT_SIZE], buffer[TEXT_NUMBER_SIZE];
    text_table_cell(text, "counter", true);
    for (size_t i = 0; i < 4; i++)
        text_table_cell(text, titles[i], false);
    for (size_t i = 0; i < table->counters->count; i++) {
        const struct counter_info *counter = &table->counters->counter[i];
        double amount = amount_of(table, 0, i);
        bool sum = !isnan(amount) && counter->mode != COUNTER_MODE_ABSOLUTE && table->row[0].ns > 0;
        text_for_terminal(cell, sizeof cell, counter->name, NAME_MOST);
        text_table_cell(text, cell, true);
        text_table_cell(text, counter_amount_text(buffer, counter->unit, amount), false);
        snprintf(buffer, sizeof buffer, "-");
        if (sum)
            counter_text(buffer, counter->unit, true, amount / ((double)table->row[0].ns / 1e9));
        text_table_cell(text, buffer, false);
        text_table_cell(text, counter_mode_name(counter->mode), false);
        text_table_cell(text, text_thousands(buffer, counter->readings), false);
    }
    output_text(output, "\nCounters, of all processes together\n");
    text_table_print(text, output, "  ");
    for (size_t i = 0; i < table->counters->count; i++)
        if (table->counters->counter[i].falls > 0) {
            char line[400];
            snprintf(line, sizeof line, "%.200s falls %s times, where it was taken as not having grown.",
                     table->counters->counter[i].name, text_number(table->counters->counter[i].falls).text);
            paragraph_write(output, "  ", "  ", line);
        }
}

/* Columns of a table of rows: of formulas or of counters. */
static void write_rows(struct output *output, const struct counters_report *report, const size_t *columns, size_t count,
                       bool formulas)
{
    const struct counter_table *table = report->table;
    struct text_table *text = text_table_columns(count + 1);
    char cell[VALUE_TEXT_SIZE];
    text_table_cell(text, counters_by_name(table->by), true);
    for (size_t i = 0; i < count; i++) {
        const char *name =
            formulas ? table->formulas->list[columns[i]].name : table->counters->counter[columns[i]].name;
        text_for_terminal(cell, sizeof cell, name, NAME_MOST);
        text_table_cell(text, cell, false);
    }
    size_t shown = 0;
    for (size_t row = 0; row < table->count && shown <= report->rows; row++, shown++) {
        snprintf(cell, sizeof cell, "all");
        if (row > 0)
            row_name(cell, report, row);
        text_table_cell(text, cell, true);
        for (size_t i = 0; i < count; i++) {
            if (!formulas) {
                const char *unit = table->counters->counter[columns[i]].unit;
                text_table_cell(text, counter_amount_text(cell, unit, amount_of(table, row, columns[i])), false);
                continue;
            }
            const struct definition *formula = &table->formulas->list[columns[i]];
            double value = value_of(table, row, columns[i]);
            const char *verdict = definition_verdict(formula->limits, formula->higher, value);
            size_t length = strlen(search_unit_text(cell, formula->base.unit, formula->percent, value));
            if (verdict && strcmp(verdict, "good") != 0)
                snprintf(cell + length, sizeof cell - length, " %s", verdict);
            text_table_cell(text, cell, false);
        }
    }
    output_text(output, "\n");
    text_table_print(text, output, "  ");
    text_rest_write(output, shown, table->count);
}

/* A few columns at once: as many as fit. */
static void write_tables(struct output *output, const struct counters_report *report, bool formulas)
{
    const struct counter_table *table = report->table;
    size_t all = formulas ? table->formulas->count : table->counters->count, columns[COLUMNS_MOST], count = 0,
           width = 0;
    for (size_t i = 0; i < all; i++) {
        const char *name = formulas ? table->formulas->list[i].name : table->counters->counter[i].name;
        size_t wide = larger(strlen(name), (size_t)12) + 2;
        if (formulas && !counter_table_has(table, i))
            continue;
        if (count == COLUMNS_MOST || (count > 0 && width + wide > 60)) {
            write_rows(output, report, columns, count, formulas);
            count = width = 0;
        }
        columns[count++] = i;
        width += wide;
    }
    if (count > 0)
        write_rows(output, report, columns, count, formulas);
}

/* What the columns mean, and what is missing of the formulas without a value. */
static void write_legend(struct output *output, const struct counter_table *table)
{
    char line[600];
    output_text(output, "\n");
    for (size_t i = 0; i < table->formulas->count; i++) {
        const struct definition *formula = &table->formulas->list[i];
        if (!counter_table_has(table, i) || strcmp(formula->name, formula->title) == 0)
            continue;
        snprintf(line, sizeof line, "%s: %.200s%s", formula->name, formula->title,
                 formula->higher ? "; more is better" : "");
        paragraph_write(output, "  ", "    ", line);
    }
}

void counters_write_text(struct output *output, const struct counters_report *report)
{
    char facts[FACTS_SIZE];
    bool any = false;
    headline_write(output, report->title, facts_text(facts, report->metrics));
    write_counters(output, report->table);
    for (size_t i = 0; i < report->table->formulas->count; i++)
        any = any || counter_table_has(report->table, i);
    if (any) {
        write_tables(output, report, true);
        write_legend(output, report->table);
    } else if (!report->moment) {
        paragraph_write(output, "\n", "",
                        "No formula has all its counters in this trace; --formulas names a file of your own.");
    }
    if (report->counters || !any)
        write_tables(output, report, false);
}

/* What a row is, as columns of CSV and members of JSON. */
struct place {
    const char *name;
    struct value (*get)(const struct counters_report *report, const struct counter_row *row);
    unsigned of; /* bits of enum counters_by */
};

static struct value place_rank(const struct counters_report *report, const struct counter_row *row)
{
    (void)report;
    return value_if(row->rank != UINT32_MAX, value_count(row->rank));
}
static struct value place_thread(const struct counters_report *report, const struct counter_row *row)
{
    (void)report;
    return value_if(row->thread != UINT32_MAX, value_count(row->thread));
}
static struct value place_function(const struct counters_report *report, const struct counter_row *row)
{
    return value_if(row->state != COUNTER_NO_STATE, value_text(function_name(report->table, row->state)));
}
static struct value place_phase(const struct counters_report *report, const struct counter_row *row)
{
    return value_text(part_name(report, row));
}
static struct value place_iteration(const struct counters_report *report, const struct counter_row *row)
{
    (void)report;
    return value_count(row->part);
}
static struct value place_from(const struct counters_report *report, const struct counter_row *row)
{
    return value_time(since(report, row->from_ns));
}
static struct value place_to(const struct counters_report *report, const struct counter_row *row)
{
    return value_time(since(report, row->to_ns));
}

#define BY(name) (1u << COUNTERS_BY_##name)
static const struct place places[] = {{"rank", place_rank, BY(PROCESS) | BY(THREAD) | BY(READING)},
                                      {"thread", place_thread, BY(THREAD) | BY(READING)},
                                      {"function", place_function, BY(FUNCTION)},
                                      {"phase", place_phase, BY(PHASE)},
                                      {"iteration", place_iteration, BY(ITERATION)},
                                      {"from_s", place_from, BY(TIME) | BY(READING)},
                                      {"to_s", place_to, BY(TIME) | BY(READING)}};
enum { PLACES = sizeof places / sizeof *places };

static bool has_place(const struct counter_table *table, const struct place *place)
{
    return (place->of >> table->by & 1) != 0;
}

void counters_write_csv(struct output *output, const struct counters_report *report)
{
    const struct counter_table *table = report->table;
    for (size_t i = 0; i < PLACES; i++)
        if (has_place(table, &places[i]))
            output_print(output, "%s,", places[i].name);
    output_text(output, "time_s");
    for (size_t i = 0; i < table->counters->count; i++) {
        output_text(output, ",");
        value_write_csv(output, value_text(table->counters->counter[i].name));
    }
    for (size_t i = 0; i < table->formulas->count; i++)
        output_print(output, ",%s", table->formulas->list[i].name);
    output_text(output, "\n");
    for (size_t row = 1; row < table->count; row++) {
        for (size_t i = 0; i < PLACES; i++)
            if (has_place(table, &places[i])) {
                value_write_csv(output, places[i].get(report, &table->row[row]));
                output_text(output, ",");
            }
        value_write_csv(output, value_time(table->row[row].ns));
        for (size_t i = 0; i < table->counters->count; i++) {
            output_text(output, ",");
            value_write_csv(output, number(amount_of(table, row, i)));
        }
        for (size_t i = 0; i < table->formulas->count; i++) {
            output_text(output, ",");
            value_write_csv(output, ratio(value_of(table, row, i)));
        }
        output_text(output, "\n");
    }
}

static void json_counters(struct json *json, const struct counter_table *table)
{
    json_open(json, "counters", '[');
    for (size_t i = 0; i < table->counters->count; i++) {
        const struct counter_info *counter = &table->counters->counter[i];
        json_open(json, NULL, '{');
        json_value(json, "name", value_text(counter->name));
        json_value(json, "unit", value_if(*counter->unit != '\0', value_text(counter->unit)));
        json_value(json, "mode", value_text(counter_mode_name(counter->mode)));
        json_value(json, "readings", value_count(counter->readings));
        json_value(json, "falls", value_count(counter->falls));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_formulas(struct json *json, const struct counter_table *table)
{
    json_open(json, "formulas", '[');
    for (size_t i = 0; i < table->formulas->count; i++) {
        const struct definition *formula = &table->formulas->list[i];
        json_open(json, NULL, '{');
        json_value(json, "name", value_text(formula->name));
        json_value(json, "title", value_text(formula->title));
        json_value(json, "better", value_text(formula->higher ? "higher" : "lower"));
        json_value(json, "fair", ratio(formula->limits[0]));
        json_value(json, "poor", ratio(formula->limits[1]));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_numbers(struct json *json, const struct counter_table *table, size_t row)
{
    json_value(json, "time_s", value_time(table->row[row].ns));
    json_open(json, "counters", '{');
    for (size_t i = 0; i < table->counters->count; i++)
        json_value(json, table->counters->counter[i].name, number(amount_of(table, row, i)));
    json_close(json, '}');
    json_open(json, "formulas", '{');
    for (size_t i = 0; i < table->formulas->count; i++)
        json_value(json, table->formulas->list[i].name, ratio(value_of(table, row, i)));
    json_close(json, '}');
    json_open(json, "verdicts", '{');
    for (size_t i = 0; i < table->formulas->count; i++) {
        const struct definition *formula = &table->formulas->list[i];
        const char *verdict = definition_verdict(formula->limits, formula->higher, value_of(table, row, i));
        if (verdict)
            json_value(json, formula->name, value_text(verdict));
    }
    json_close(json, '}');
}

void counters_write_json(struct output *output, const struct counters_report *report)
{
    const struct counter_table *table = report->table;
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-counters/1"));
    json_counters(&json, table);
    json_formulas(&json, table);
    json_open(&json, "run", '{');
    json_numbers(&json, table, 0);
    json_close(&json, '}');
    json_value(&json, "by", value_text(counters_by_name(table->by)));
    json_open(&json, "rows", '[');
    for (size_t row = 1; row < table->count; row++) {
        json_open(&json, NULL, '{');
        for (size_t i = 0; i < PLACES; i++)
            if (has_place(table, &places[i]))
                json_value(&json, places[i].name, places[i].get(report, &table->row[row]));
        json_numbers(&json, table, row);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}
