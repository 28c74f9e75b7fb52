/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/metrics_report.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "metrics/functions_together.h"
#include "render/facts.h"
#include "render/reports/metrics_fields.h"
#include "render/reports/stuck_report.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

#define JSON_ROWS(json, key, fields, metrics, rows, count)                                                             \
    json_list((json), (key), (fields), COUNT_OF(fields), (metrics), (rows), (count), sizeof *(rows))

static void json_process(struct json *json, const struct metrics *metrics, const struct process_row *row)
{
    json_open(json, NULL, '{');
    json_fields(json, fields_of_process, COUNT_OF(fields_of_process), metrics, row);
    JSON_ROWS(json, "functions", fields_of_function, metrics, row->functions, row->function_count);
    JSON_ROWS(json, "sent", fields_of_sent, metrics, row->sent, row->sent_count);
    JSON_ROWS(json, "received", fields_of_received, metrics, row->received, row->received_count);
    JSON_ROWS(json, "marks", fields_of_mark, metrics, row->marks, row->mark_count);
    /* Only where the trace has threads: most have one for each process, which would repeat the process. */
    if (row->thread_count > 0)
        JSON_ROWS(json, "threads", fields_of_thread, metrics, row->threads, row->thread_count);
    json_close(json, '}');
}

void metrics_write_trace(struct json *json, const struct metrics *metrics)
{
    json_open(json, "trace", '{');
    json_fields(json, fields_of_trace, COUNT_OF(fields_of_trace), metrics, metrics);
    json_close(json, '}');
}

void metrics_write_json(struct output *output, const struct metrics *metrics)
{
    metrics_write_json_more(output, metrics, NULL, NULL);
}

void metrics_write_json_more(struct output *output, const struct metrics *metrics,
                             void (*more)(struct json *json, const void *context), const void *context)
{
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-metrics/1"));
    metrics_write_trace(&json, metrics);
    json_open(&json, "processes", '[');
    for (size_t i = 0; i < metrics->process_count; i++)
        json_process(&json, metrics, &metrics->process[i]);
    json_close(&json, ']');
    /* Accumulated by another version, or of a selection: null says unknown, empty would say none. */
    if (metrics->tables_unknown) {
        json_value(&json, "communicators", value_null());
        json_value(&json, "tags", value_null());
        json_value(&json, "message_sizes", value_null());
        if (more)
            more(&json, context);
        json_close(&json, '}');
        return;
    }
    JSON_ROWS(&json, "communicators", fields_of_communicator, metrics, metrics->communicators,
              metrics->communicator_count);
    JSON_ROWS(&json, "tags", fields_of_tag, metrics, metrics->tags, metrics->tag_count);
    JSON_ROWS(&json, "message_sizes", fields_of_size, metrics, metrics->sizes, metrics->size_count);
    if (more)
        more(&json, context);
    json_close(&json, '}');
}

/* The tables of CSV: those of a process get its rank as their first column. */
struct csv_table {
    const char *name;
    const struct field *fields;
    size_t field_count;
    size_t row_size;
    bool of_process;
    size_t rows_at, count_at; /* offsets in struct process_row or struct metrics */
};
#define PROCESS_TABLE(name, fields, type, member, counter)                                                             \
    {                                                                                                                  \
        name, fields, COUNT_OF(fields), sizeof(type), true, offsetof(struct process_row, member),                      \
            offsetof(struct process_row, counter)                                                                      \
    }
#define TRACE_TABLE(name, fields, type, member, counter)                                                               \
    {                                                                                                                  \
        name, fields, COUNT_OF(fields), sizeof(type), false, offsetof(struct metrics, member),                         \
            offsetof(struct metrics, counter)                                                                          \
    }
static const struct csv_table csv_tables[] = {
    TRACE_TABLE("processes", fields_of_process, struct process_row, process, process_count),
    PROCESS_TABLE("functions", fields_of_function, struct function_row, functions, function_count),
    PROCESS_TABLE("sent", fields_of_sent, struct partner_row, sent, sent_count),
    PROCESS_TABLE("received", fields_of_received, struct partner_row, received, received_count),
    PROCESS_TABLE("marks", fields_of_mark, struct mark_row, marks, mark_count),
    PROCESS_TABLE("threads", fields_of_thread, struct thread_row, threads, thread_count),
    TRACE_TABLE("communicators", fields_of_communicator, struct message_row, communicators, communicator_count),
    TRACE_TABLE("tags", fields_of_tag, struct message_row, tags, tag_count),
    TRACE_TABLE("sizes", fields_of_size, struct message_row, sizes, size_count),
};

const struct field *metrics_process_fields(size_t *count)
{
    *count = COUNT_OF(fields_of_process);
    return fields_of_process;
}

const struct field *metrics_function_fields(size_t *count)
{
    *count = COUNT_OF(fields_of_function);
    return fields_of_function;
}

const char *metrics_table_name(size_t index)
{
    if (index >= COUNT_OF(csv_tables))
        return NULL;
    return csv_tables[index].name;
}

bool metrics_table_of_trace(const char *name)
{
    static const char *const names[] = {"communicators", "tags", "sizes"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static const struct csv_table *table_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(csv_tables); i++)
        if (strcmp(csv_tables[i].name, name) == 0)
            return &csv_tables[i];
    return NULL;
}

/* The rows that belong to a process, or to the trace. */
static const char *table_rows(const struct csv_table *table, const void *owner, size_t *count)
{
    const char *rows;
    /* Place and count are at offsets that the table knows: copied, as casts would break aliasing rules. */
    memcpy(&rows, (const char *)owner + table->rows_at, sizeof rows);
    memcpy(count, (const char *)owner + table->count_at, sizeof *count);
    return rows;
}

static void csv_rows(struct output *output, const struct metrics *metrics, const struct csv_table *table,
                     const void *owner, const uint32_t *rank)
{
    size_t count;
    const char *rows = table_rows(table, owner, &count);
    for (size_t i = 0; i < count; i++) {
        if (rank)
            /* Rows of processes have the rank as their first column, so that tables can be joined. */
            output_print(output, "%u,", *rank);
        csv_row(output, table->fields, table->field_count, metrics, rows + i * table->row_size);
    }
}

bool metrics_write_csv(struct output *output, const struct metrics *metrics, const char *name)
{
    const struct csv_table *table = table_find(name);
    if (!table)
        return false;
    if (table->of_process)
        output_text(output, "rank,");
    csv_header(output, table->fields, table->field_count);
    if (!table->of_process)
        csv_rows(output, metrics, table, metrics, NULL);
    for (size_t i = 0; table->of_process && i < metrics->process_count; i++)
        csv_rows(output, metrics, table, &metrics->process[i], &metrics->process[i].rank);
    return true;
}

/* Returns how many rows there are. Only the first are put into the table, up to `most` with those before. */
static size_t text_rows(struct text_table *text, const struct metrics *metrics, const struct csv_table *table,
                        const void *owner, const uint32_t *rank, size_t before, size_t most)
{
    size_t count;
    const char *rows = table_rows(table, owner, &count);
    char number[TEXT_NUMBER_SIZE];
    for (size_t i = 0; i < count && before + i < most; i++) {
        if (rank)
            text_table_cell(text, text_thousands(number, *rank), false);
        text_table_row(text, metrics, rows + i * table->row_size);
    }
    return count;
}

static void text_table_of(struct output *output, const struct metrics *metrics, const char *name, size_t rows)
{
    const struct csv_table *table = table_find(name);
    struct text_table *text = text_table_after(table->of_process ? "process" : NULL, table->fields, table->field_count);
    size_t all = 0;
    if (!table->of_process)
        all = text_rows(text, metrics, table, metrics, NULL, all, rows);
    for (size_t i = 0; table->of_process && i < metrics->process_count; i++) {
        const struct process_row *process = &metrics->process[i];
        all += text_rows(text, metrics, table, process, &process->rank, all, rows);
    }
    output_text(output, "\n");
    text_table_print(text, output, "  ");
    text_rest_write(output, rows, all);
}

static void text_functions(struct output *output, const struct metrics *metrics, size_t rows)
{
    size_t count;
    struct function_row *sums = metrics_functions_together(metrics, &count);
    if (count > 0) {
        /* Two columns more where calls never returned: in other runs they would be full of zeros. */
        struct text_table *table;
        if (metrics->open)
            table = text_table_new(fields_of_open_function, COUNT_OF(fields_of_open_function));
        else
            table = text_table_new(fields_of_function, COUNT_OF(fields_of_function));
        for (size_t i = 0; i < count && i < rows; i++)
            text_table_row(table, metrics, &sums[i]);
        heading_write(output, "Functions and states of all processes, by time ↓");
        text_table_print(table, output, "  ");
        text_rest_write(output, rows, count);
    }
    free(sums);
}

static void text_warnings(struct output *output, const struct metrics *metrics)
{
    char number[TEXT_NUMBER_SIZE];
    if (metrics->open)
        output_print(output,
                     "\n%s %s never left: for MPI functions, only the time up to the last event of the process counts "
                     "as communication.\n",
                     text_thousands(number, metrics->open), text_plural(metrics->open, "state was", "states were"));
    if (metrics->stray)
        output_print(output, "\n%s states were left without being entered.\n", text_thousands(number, metrics->stray));
    if (metrics->time_back)
        output_print(output, "\n%s times, the clock of a process goes backwards.\n",
                     text_thousands(number, metrics->time_back));
}

struct sorted {
    double value;
    size_t row;
};

static int by_value(const void *a, const void *b)
{
    const struct sorted *left = a, *right = b;
    if (left->value != right->value)
        return order_by(right->value, left->value);
    return order_by(left->row, right->row);
}

static int by_row(const void *a, const void *b)
{
    const struct sorted *left = a, *right = b;
    return order_by(left->row, right->row);
}

static double number_of(struct value value)
{
    switch (value.kind) {
    case VALUE_COUNT:
    case VALUE_BYTES:
        return (double)value.count;
    case VALUE_INTEGER:
    case VALUE_TIME:
        return (double)value.integer;
    case VALUE_RATIO:
        return value.ratio;
    /* Texts have no order here: no column that can be sorted by is one. */
    default:
        return 0;
    }
}

static const struct field *process_field(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(fields_of_process); i++)
        if (fields_of_process[i].name && strcmp(fields_of_process[i].name, name) == 0)
            return &fields_of_process[i];
    return NULL;
}

bool metrics_sorts_by(const char *name)
{
    return process_field(name) != NULL;
}

/* The processes by a number of theirs, the largest first. */
static struct sorted *processes_by(const struct metrics *metrics, const char *name)
{
    const struct field *field = process_field(name);
    struct sorted *sorted = memory_new(metrics->process_count * sizeof *sorted);
    for (size_t i = 0; i < metrics->process_count; i++)
        sorted[i] = (struct sorted){number_of(field->get(metrics, &metrics->process[i])), i};
    qsort(sorted, metrics->process_count, sizeof *sorted, by_value);
    return sorted;
}

/* All processes; of too many the first by what they are sorted by, or else those that compute least and most. */
static void text_processes(struct output *output, const struct metrics *metrics, size_t rows, const char *sort)
{
    size_t all = metrics->process_count, count = smaller(all, rows);
    struct sorted *sorted = processes_by(metrics, sort ? sort : "compute_s");
    if (!sort && count < all)
        /* The first half is in place; the last half of all follows it. */
        memmove(sorted + count / 2, sorted + all - (count - count / 2), (count - count / 2) * sizeof *sorted);
    /* In the order of ranks, unless the user asked for another one. */
    if (!sort)
        qsort(sorted, count, sizeof *sorted, by_row);
    struct text_table *table = text_table_new(fields_of_process, COUNT_OF(fields_of_process));
    for (size_t i = 0; i < count; i++)
        text_table_row(table, metrics, &metrics->process[sorted[i].row]);
    char title[100] = "Processes";
    if (sort)
        snprintf(title, sizeof title, "Processes, by %.60s ↓", sort);
    else if (count < all)
        snprintf(title, sizeof title, "Processes: the %zu that compute most and the %zu that compute least", count / 2,
                 count - count / 2);
    heading_write(output, title);
    text_table_print(table, output, "  ");
    text_rest_write(output, rows, all);
    free(sorted);
}

void metrics_write_text(struct output *output, const struct metrics *metrics, const struct metrics_text *shown)
{
    char facts[FACTS_SIZE], title[VALUE_TEXT_SIZE];
    text_for_terminal(title, sizeof title, shown->title, 100);
    headline_write(output, title, facts_text(facts, metrics));
    stuck_write_note(output, metrics->stuck);
    if (metrics->process_count == 0)
        return;
    if (shown->table && strcmp(shown->table, "processes") != 0) {
        text_table_of(output, metrics, shown->table, shown->rows);
        return;
    }
    text_processes(output, metrics, shown->rows, shown->sort);
    if (!shown->table)
        text_functions(output, metrics, shown->rows);
    text_warnings(output, metrics);
}
