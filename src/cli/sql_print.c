/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/sql_print.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "render/terminal_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The first rows say how wide columns are; later ones may be wider. */
enum { ROWS_ALIGNED = 500, TEXT_LEAST = 8, TEXT_MOST = 10000 };

struct column {
    char *name;
    size_t width;
    bool text, seconds;
};

struct sql_printer {
    struct sql_result result;
    struct output *output;
    enum sql_format format;
    size_t width;
    struct column *columns;
    size_t column_count;
    char **cells; /* of rows to be aligned; NULL: null */
    size_t cell_count, cell_capacity;
    bool aligned, blocks;
    uint64_t rows;
    size_t results;
};

/* Characters, not bytes, of UTF-8. */
static size_t characters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* Digits that give the same number back, as few as that takes. */
static void ratio_text(char *buffer, size_t size, double ratio)
{
    snprintf(buffer, size, "%.15g", ratio);
    /* 15 digits are enough for most numbers; 17 always are (IEEE 754). */
    if (strtod(buffer, NULL) != ratio)
        snprintf(buffer, size, "%.17g", ratio);
}

static void number_text(char *buffer, size_t size, struct value value)
{
    /* Times to the nanosecond: as a double, a time of some weeks would lose them. */
    if (value.kind == VALUE_TIME)
        snprintf(buffer, size, "%s%" PRIu64 ".%09" PRIu64, value.integer < 0 ? "-" : "",
                 (uint64_t)llabs(value.integer) / 1000000000, (uint64_t)llabs(value.integer) % 1000000000);
    else if (value.kind == VALUE_RATIO)
        ratio_text(buffer, size, value.ratio);
    else
        snprintf(buffer, size, "%" PRId64, value.integer);
}

/* The cell for people; NULL of null. */
static char *cell_text(struct value value)
{
    char number[64];
    if (value.kind == VALUE_NULL)
        return NULL;
    if (value.kind != VALUE_TEXT) {
        number_text(number, sizeof number, value);
        return memory_copy_string(number);
    }
    /* A byte that a terminal does not show may become "…" or "?", at most three bytes. */
    size_t size = strlen(value.text) * 3 + 8;
    char *text = memory_new(size);
    text_for_terminal(text, size, value.text, TEXT_MOST);
    return text;
}

static const char *shown(const char *cell)
{
    return cell ? cell : "NULL";
}

/* Text, cut to the width of its column; numbers stand right, whole. */
static void write_cell(struct sql_printer *printer, const struct column *column, const char *cell, bool last)
{
    size_t length = characters(cell), room = column->width;
    if (!column->text) {
        /* Beyond the first rows a number may be wider than its column: it is written whole. */
        output_print(printer->output, "%*s%s", (int)(length < room ? room - length : 0), "", cell);
    } else if (length > room) {
        char *cut = memory_new(room * 4 + 8); /* UTF-8 has at most four bytes per character */
        text_for_terminal(cut, room * 4 + 8, cell, room);
        output_text(printer->output, cut);
        free(cut);
    } else {
        output_print(printer->output, "%s%*s", cell, last ? 0 : (int)(room - length), "");
    }
    output_text(printer->output, last ? "\n" : "  ");
}

static void write_line(struct sql_printer *printer, char *const *cells)
{
    for (size_t i = 0; i < printer->column_count; i++)
        write_cell(printer, &printer->columns[i], shown(cells[i]), i + 1 == printer->column_count);
}

/* A row as lines "name  value". */
static void write_block(struct sql_printer *printer, char *const *cells)
{
    size_t longest = 0;
    char first[128], indent[128];
    for (size_t i = 0; i < printer->column_count; i++) {
        /* A name of an expression may be as long as the query: it does not decide where values begin. */
        size_t length = characters(printer->columns[i].name);
        if (length < 40)
            longest = larger(longest, length);
    }
    if (printer->rows++ > 0)
        output_text(printer->output, "\n");
    for (size_t i = 0; i < printer->column_count; i++) {
        size_t length = characters(printer->columns[i].name);
        snprintf(first, sizeof first, "%.100s%*s  ", printer->columns[i].name,
                 (int)(length < longest ? longest - length : 0), "");
        snprintf(indent, sizeof indent, "%*s", (int)longest + 2, "");
        const char *text = shown(cells[i]);
        if (!*text) /* a paragraph without words would print nothing, not even the name */
            text = " ";
        paragraph_write(printer->output, first, indent, text);
    }
}

static size_t width_of(const struct sql_printer *printer)
{
    size_t sum = 0;
    for (size_t i = 0; i < printer->column_count; i++)
        sum += printer->columns[i].width + (i > 0 ? 2 : 0); /* and two blanks between columns */
    return sum;
}

/* Makes the widest column of text one narrower; false: none can be. Numbers are never cut: half a number is a wrong
   one. A column keeps room for its name, which says what it is. */
static bool narrow(struct sql_printer *printer)
{
    struct column *widest = NULL;
    for (size_t i = 0; i < printer->column_count; i++) {
        struct column *column = &printer->columns[i];
        if (column->text && column->width > TEXT_LEAST && column->width > characters(column->name) &&
            (!widest || column->width > widest->width))
            widest = column;
    }
    if (widest)
        widest->width--;
    return widest;
}

static void align(struct sql_printer *printer)
{
    /* A column is as wide as its name at least. */
    for (size_t i = 0; i < printer->column_count; i++)
        printer->columns[i].width = characters(printer->columns[i].name);
    for (size_t i = 0; i < printer->cell_count; i++) {
        struct column *column = &printer->columns[i % printer->column_count];
        size_t length = characters(shown(printer->cells[i]));
        column->width = larger(length, column->width);
    }
    /* A table that cannot be made narrow enough would be broken by the terminal: its rows become blocks. */
    while (width_of(printer) > printer->width && !printer->blocks)
        printer->blocks = !narrow(printer);
}

/* Of blocks the head is only wanted where there are none: names, over several lines. */
static void write_head(struct sql_printer *printer)
{
    if (printer->blocks) {
        size_t length;
        struct output *names = output_open_memory();
        for (size_t i = 0; i < printer->column_count; i++)
            output_print(names, "%s%s", i ? " " : "", printer->columns[i].name);
        char *text = output_take(names, &length);
        paragraph_write(printer->output, "", "", text);
        free(text);
        return;
    }
    for (size_t i = 0; i < printer->column_count; i++)
        write_cell(printer, &printer->columns[i], printer->columns[i].name, i + 1 == printer->column_count);
}

static void write_row(struct sql_printer *printer, char *const *cells)
{
    if (printer->blocks)
        write_block(printer, cells);
    else
        write_line(printer, cells);
}

/* Prints the rows that were kept for their widths. */
static void print_aligned(struct sql_printer *printer)
{
    if (printer->format != SQL_TEXT || printer->aligned || printer->column_count == 0)
        return;
    align(printer);
    printer->aligned = true;
    /* In blocks each row has the names beside it; they are listed only where there is no row. */
    if (!printer->blocks || printer->cell_count == 0)
        write_head(printer);
    for (size_t i = 0; i < printer->cell_count; i += printer->column_count)
        write_row(printer, &printer->cells[i]);
    for (size_t i = 0; i < printer->cell_count; i++)
        free(printer->cells[i]);
    printer->cell_count = 0;
}

static void drop_columns(struct sql_printer *printer)
{
    for (size_t i = 0; i < printer->column_count; i++)
        free(printer->columns[i].name);
    free(printer->columns);
    printer->columns = NULL;
    printer->column_count = 0;
}

static void write_csv_head(struct sql_printer *printer)
{
    for (size_t i = 0; i < printer->column_count; i++) {
        output_text(printer->output, i ? "," : "");
        value_write_csv(printer->output, value_text(printer->columns[i].name));
    }
    output_text(printer->output, "\n");
}

/* The columns of the next statement: the last one's rows are still to be aligned. */
static void take_columns(void *context, char *const *names, const bool *seconds, size_t count)
{
    struct sql_printer *printer = context;
    sql_printer_end(printer);
    if (printer->results++ > 0 && printer->format == SQL_TEXT)
        output_text(printer->output, "\n");
    printer->columns = memory_new(count * sizeof *printer->columns);
    printer->column_count = count;
    for (size_t i = 0; i < count; i++)
        printer->columns[i] = (struct column){.name = memory_copy_string(names[i]), .seconds = seconds[i]};
    printer->aligned = printer->blocks = false;
    printer->rows = 0;
    if (printer->format == SQL_CSV)
        write_csv_head(printer);
}

/* Keeps the first rows, and prints later ones as they come: a result may be larger than memory, and people read its
   beginning. */
static void row_text(struct sql_printer *printer, const struct value *values)
{
    for (size_t i = 0; i < printer->column_count; i++) {
        ARRAY_PUSH(printer->cells, printer->cell_count, printer->cell_capacity, cell_text(values[i]));
        /* Only the first rows decide: a column must not change its side while it is printed. */
        printer->columns[i].text = printer->columns[i].text || (!printer->aligned && values[i].kind == VALUE_TEXT);
    }
    if (!printer->aligned && printer->cell_count < ROWS_ALIGNED * printer->column_count)
        return;
    if (!printer->aligned) {
        print_aligned(printer);
        return;
    }
    write_row(printer, printer->cells);
    for (size_t i = 0; i < printer->cell_count; i++)
        free(printer->cells[i]);
    printer->cell_count = 0;
}

static void write_raw(struct output *output, enum sql_format format, struct value value)
{
    char number[64];
    if (value.kind == VALUE_TEXT || value.kind == VALUE_NULL) {
        if (format == SQL_CSV)
            value_write_csv(output, value);
        else
            value_write_json(output, value);
        return;
    }
    number_text(number, sizeof number, value);
    /* JSON has no infinity and no NaN (RFC 8259, 6) */
    if (format == SQL_JSON && value.kind == VALUE_RATIO && !isfinite(value.ratio))
        output_text(output, "null");
    else
        output_text(output, number);
}

static void row_csv(struct sql_printer *printer, const struct value *values)
{
    for (size_t i = 0; i < printer->column_count; i++) {
        output_text(printer->output, i ? "," : "");
        write_raw(printer->output, SQL_CSV, values[i]);
    }
    output_text(printer->output, "\n");
}

static void row_json(struct sql_printer *printer, const struct value *values)
{
    for (size_t i = 0; i < printer->column_count; i++) {
        output_text(printer->output, i ? ", " : "{");
        value_write_json(printer->output, value_text(printer->columns[i].name));
        output_text(printer->output, ": ");
        write_raw(printer->output, SQL_JSON, values[i]);
    }
    output_text(printer->output, "}\n");
}

/* A reader that has gone wants no more. */
static bool take_row(void *context, const struct value *values, size_t count)
{
    struct sql_printer *printer = context;
    (void)count;
    if (printer->format == SQL_TEXT)
        row_text(printer, values);
    else if (printer->format == SQL_CSV)
        row_csv(printer, values);
    else
        row_json(printer, values);
    /* The query is then ended: its other rows would be computed for nobody. */
    return printer->output->fault.kind == ERROR_NONE;
}

struct sql_printer *sql_printer_new(struct output *output, enum sql_format format, size_t width)
{
    struct sql_printer *printer = memory_new(sizeof *printer);
    printer->output = output;
    printer->format = format;
    printer->width = width;
    printer->result = (struct sql_result){printer, take_columns, take_row};
    return printer;
}

const struct sql_result *sql_printer_result(struct sql_printer *printer)
{
    return &printer->result;
}

void sql_printer_end(struct sql_printer *printer)
{
    print_aligned(printer);
    drop_columns(printer);
}

void sql_printer_free(struct sql_printer *printer)
{
    drop_columns(printer);
    for (size_t i = 0; i < printer->cell_count; i++)
        free(printer->cells[i]);
    free(printer->cells);
    free(printer);
}
