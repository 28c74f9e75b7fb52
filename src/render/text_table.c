/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/text_table.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "render/terminal.h"
#include "render/terminal_text.h"

#include <stdio.h>
#include <string.h>

struct text_table {
    const struct field *fields;
    size_t field_count;
    size_t columns;
    char **cells; /* row by row; the first row is the titles */
    size_t cell_count, cell_capacity;
    const char **styles; /* of the first cells; NULL: plain */
    size_t style_count, style_capacity;
    size_t title_rows; /* so many rows are titles */
    bool *left;        /* columns of text stand to the left */
};

struct text_table *text_table_columns(size_t columns)
{
    struct text_table *table = memory_new(sizeof *table);
    table->columns = columns;
    table->title_rows = 1;
    table->left = memory_new(columns);
    return table;
}

void text_table_titles(struct text_table *table, size_t rows)
{
    table->title_rows = rows;
}

void text_table_cell(struct text_table *table, const char *text, bool left)
{
    /* One text makes the column one of texts: numbers in it stand at the left as well. */
    table->left[table->cell_count % table->columns] |= left;
    ARRAY_PUSH(table->cells, table->cell_count, table->cell_capacity, memory_copy_string(text));
}

void text_table_style(struct text_table *table, const char *style)
{
    /* Cells before the first with a style get none now: most tables never need the list. */
    while (table->style_count < table->cell_count)
        ARRAY_PUSH(table->styles, table->style_count, table->style_capacity, NULL);
    table->styles[table->cell_count - 1] = style;
}

struct text_table *text_table_new(const struct field *fields, size_t count)
{
    return text_table_after(NULL, fields, count);
}

struct text_table *text_table_after(const char *first, const struct field *fields, size_t count)
{
    size_t columns = first != NULL;
    for (size_t i = 0; i < count; i++)
        /* Fields without a title are only for programs (JSON, CSV). */
        columns += fields[i].title != NULL;
    struct text_table *table = text_table_columns(columns);
    table->fields = fields;
    table->field_count = count;
    if (first)
        text_table_cell(table, first, false);
    for (size_t i = 0; i < count; i++)
        if (fields[i].title)
            text_table_cell(table, fields[i].title, false);
    return table;
}

void text_table_row(struct text_table *table, const void *context, const void *row)
{
    char text[VALUE_TEXT_SIZE];
    for (size_t i = 0; i < table->field_count; i++) {
        if (!table->fields[i].title)
            continue;
        struct value value = table->fields[i].get(context, row);
        value_text_for_people(text, value);
        text_table_cell(table, text, value_is_words(value));
    }
}

static void table_print_row(const struct text_table *table, struct output *output, size_t first, size_t columns,
                            const size_t *widths)
{
    /* Cells that are empty at the end would leave blanks there, which tests and diffs would see. */
    while (columns > 1 && !*table->cells[first + columns - 1])
        columns--; /* no blanks at the end of a line */
    for (size_t i = 0; i < columns; i++) {
        const char *text = table->cells[first + i];
        /* Styles are escape sequences without width: they must not be counted when padding. */
        const char *style = first + i < table->style_count ? table->styles[first + i] : NULL;
        if (output->colour && first < table->title_rows * table->columns)
            style = TERMINAL_BOLD;
        const char *begin = style ? style : "", *end = style ? TERMINAL_PLAIN : "";
        int pad = (int)(widths[i] - terminal_columns(text));
        bool last = i + 1 == columns;
        if (table->left[i])
            output_print(output, "%s%s%s%*s", begin, text, end, last ? 0 : pad, "");
        else
            output_print(output, "%*s%s%s%s", pad, "", begin, text, end);
        output_text(output, last ? "\n" : "  ");
    }
}

/* A cell keeps within a width. */
static char *cut_cell(char *cell, size_t width)
{
    if (terminal_columns(cell) <= width || width == 0)
        return cell;
    char cut[VALUE_TEXT_SIZE];
    text_for_terminal(cut, sizeof cut, cell, width);
    free(cell);
    return memory_copy_string(cut);
}

/* How narrow a column may become: numbers stay whole, their titles need not, and texts keep their begin. */
static size_t least_width(const struct text_table *table, size_t column)
{
    enum { TITLE = 5, TEXT = 12 };
    size_t least = table->left[column] ? TEXT : TITLE;
    /* Only numbers are measured: a text may be cut anywhere, and title rows are skipped. */
    for (size_t i = column + table->title_rows * table->columns; i < table->cell_count && !table->left[column];
         i += table->columns) {
        size_t length = terminal_columns(table->cells[i]);
        least = larger(length, least);
    }
    return least;
}

/* Takes what is beyond the screen from the columns that have most to spare. */
static void narrow(struct text_table *table, size_t *widths, size_t indent)
{
    enum { SCREEN = 80, GAP = 2 };
    size_t columns = table->columns, all = indent + GAP * (columns - 1);
    size_t *least = memory_new(columns * sizeof *least);
    for (size_t i = 0; i < columns; i++) {
        all += widths[i];
        least[i] = least_width(table, i);
    }
    while (all > SCREEN) {
        size_t most = columns;
        for (size_t i = 0; i < columns; i++)
            /* One character after the other from the widest, so that columns become equally narrow. */
            if (widths[i] > least[i] && (most == columns || widths[i] - least[i] > widths[most] - least[most]))
                most = i;
        if (most == columns)
            break;
        widths[most]--;
        all--;
    }
    /* Only now is it known how wide each column is. */
    for (size_t i = 0; i < table->cell_count; i++)
        table->cells[i] = cut_cell(table->cells[i], widths[i % columns]);
    free(least);
}

void text_table_print(struct text_table *table, struct output *output, const char *indent)
{
    size_t columns = table->columns;
    size_t *widths = memory_new(columns * sizeof *widths);
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t length = terminal_columns(table->cells[i]);
        widths[i % columns] = larger(length, widths[i % columns]);
    }
    narrow(table, widths, terminal_columns(indent));
    for (size_t first = 0; first < table->cell_count; first += columns) {
        output_text(output, indent);
        table_print_row(table, output, first, columns, widths);
    }
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table->styles);
    free(table->left);
    free(widths);
    free(table);
}

void text_rest_write(struct output *output, size_t shown, size_t all)
{
    char number[TEXT_NUMBER_SIZE];
    if (all > shown)
        output_print(output, "  … %s more (--all)\n", text_thousands(number, all - shown));
}
