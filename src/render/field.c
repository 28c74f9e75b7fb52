/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/field.h"

#include "core/json_text.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "core/xml_text.h"
#include "render/terminal.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void write_seconds(struct output *output, int64_t ns)
{
    uint64_t magnitude = magnitude_of(ns);
    const char *sign = ns < 0 ? "-" : "";
    output_print(output, "%s%llu.%09llu", sign, (unsigned long long)(magnitude / 1000000000),
                 (unsigned long long)(magnitude % 1000000000));
}

static void write_json_text(struct output *output, const char *text)
{
    /* Names of files are any bytes. */
    char *valid = NULL;
    if (!g_utf8_validate(text, -1, NULL))
        valid = g_utf8_make_valid(text, -1);
    char *quoted = json_text(valid != NULL ? valid : text);
    output_text(output, quoted);
    free(quoted);
    g_free(valid);
}

static void write_raw_number(struct output *output, struct value value)
{
    switch (value.kind) {
    case VALUE_COUNT:
    case VALUE_BYTES:
        output_print(output, "%llu", (unsigned long long)value.count);
        break;
    case VALUE_INTEGER:
        output_print(output, "%lld", (long long)value.integer);
        break;
    case VALUE_TIME:
        write_seconds(output, value.integer);
        break;
    /* Nine decimals, as times have: a share of a run of a second is then known to the nanosecond. */
    case VALUE_RATIO:
        output_print(output, "%.9f", value.ratio);
        break;
    default:
        output_text(output, value.truth ? "true" : "false");
    }
}

void value_write_json(struct output *output, struct value value)
{
    /* JSON has no infinity and no NaN: what cannot be written as a number is unknown to the reader. */
    if (value.kind == VALUE_NULL || (value.kind == VALUE_TEXT && !value.text) ||
        (value.kind == VALUE_RATIO && !isfinite(value.ratio)))
        output_text(output, "null");
    else if (value.kind == VALUE_TEXT)
        write_json_text(output, value.text);
    else
        write_raw_number(output, value);
}

/* Spreadsheets run a cell that begins so as a formula, whoever gave the function its name. */
static bool looks_like_formula(const char *text)
{
    return *text && strchr("=+-@\t\r", *text);
}

void value_write_csv(struct output *output, struct value value)
{
    if (value.kind == VALUE_NULL || (value.kind == VALUE_TEXT && !value.text))
        return;
    if (value.kind != VALUE_TEXT) {
        write_raw_number(output, value);
        return;
    }
    /* Quotes are needed for the marks below alone; most names have none and are written as they are. */
    bool formula = looks_like_formula(value.text);
    if (!formula && !strpbrk(value.text, "\",\r\n")) {
        output_text(output, value.text);
        return;
    }
    /* An apostrophe makes spreadsheets take the rest as text. */
    output_text(output, formula ? "\"'" : "\"");
    for (const char *at = value.text; *at; at++) {
        /* A quote within quotes is written twice (RFC 4180). */
        if (*at == '"')
            output_text(output, "\"");
        output_write(output, at, 1);
    }
    output_text(output, "\"");
}

void value_write_xml(struct output *output, struct value value)
{
    if (value.kind == VALUE_NULL || (value.kind == VALUE_TEXT && !value.text))
        return;
    if (value.kind != VALUE_TEXT) {
        write_raw_number(output, value);
        return;
    }
    struct xml_line line = {0};
    xml_put_utf8(&line, value.text);
    output_write(output, line.text, line.length);
    free(line.text);
}

/* Length of the character at `at`; `shown`: it is one that a terminal shows, and that does not turn the order of the
   others. A byte that is no UTF-8 is a character of its own. */
static size_t character(const char *at, bool *shown)
{
    gunichar c = g_utf8_get_char_validated(at, -1);
    /* g_utf8_get_char_validated() marks errors by values beyond the last character of Unicode. */
    bool valid = c < 0x110000;
    /* Escape sequences of a name would change colours or move the cursor: C0, DEL and C1 are replaced. */
    /* Line separators, embeddings and isolates (U+2028 to U+202E, U+2066 to U+2069) turn the order of what follows. */
    bool control = c < 0x20 || (c >= 0x7F && c < 0xA0),
         turns = (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    *shown = valid && !control && !turns;
    return valid ? (size_t)(g_utf8_next_char(at) - at) : 1;
}

/* Columns of a terminal that the character at `at` takes: none if it joins the one before, two for those of East Asia.
 */
static size_t character_columns(const char *at)
{
    gunichar c = (unsigned char)*at < 0x80 ? (gunichar)*at : g_utf8_get_char_validated(at, -1);
    if (c < 0x300 || c >= 0x110000)
        return 1;
    if (g_unichar_iszerowidth(c))
        return 0;
    return g_unichar_iswide(c) ? 2 : 1;
}

static size_t text_columns(const char *text)
{
    size_t count = 0, length;
    bool shown;
    for (const char *at = text; *at; at += length) {
        length = character(at, &shown);
        count += shown ? character_columns(at) : 1;
    }
    return count;
}

/* Paths, and names with their namespace or class: "/" or "::", and blanks only within brackets. */
static bool says_most_at_its_end(const char *text)
{
    int depth = 0;
    if (*text == '/')
        return true;
    for (const char *at = text; *at; at++) {
        depth += *at == '<' || *at == '(';
        depth -= *at == '>' || *at == ')';
        if (*at == ' ' && depth <= 0)
            return false;
    }
    return strstr(text, "::") || strchr(text, '/');
}

/* Of such a name: from where it and the mark of the cut fit; of a path whole parts. */
static const char *fitting_end(const char *text, size_t size, size_t columns)
{
    size_t count = text_columns(text), length;
    const char *at = text;
    for (bool shown; *at && (count + 1 > columns || strlen(at) + sizeof "…" > size); at += length) {
        length = character(at, &shown);
        count -= shown ? character_columns(at) : 1;
    }
    /* An operator of C++ may be a slash, too. */
    const char *slash = strstr(text, "::") ? NULL : strchr(at, '/');
    return slash && slash[1] ? slash : at;
}

void text_for_terminal(char *buffer, size_t size, const char *text, size_t columns)
{
    if (says_most_at_its_end(text) && text_columns(text) > columns) {
        memcpy(buffer, "…", sizeof "…" - 1);
        buffer += sizeof "…" - 1;
        size -= sizeof "…" - 1;
        text = fitting_end(text, size, columns--);
    }
    size_t used = 0, last = 0, count = 0, length;
    for (const char *at = text; *at; at += length) {
        bool shown;
        length = character(at, &shown);
        /* What is not shown is a question mark. */
        size_t wide = shown ? character_columns(at) : 1;
        /* Room for the mark of the cut is kept from the start, so that it never needs to be made afterwards. */
        if (count + wide > columns || used + length + sizeof "…" > size) {
            memcpy(buffer + last, "…", 3);
            used = last + 3;
            break;
        }
        /* The mark takes the place of the last character that leaves it one. */
        if (count < columns)
            last = used;
        count += wide;
        if (!shown) {
            buffer[used++] = '?';
            continue;
        }
        memcpy(buffer + used, at, length);
        used += length;
    }
    buffer[used] = '\0';
}

void value_text_for_people(char buffer[VALUE_TEXT_SIZE], struct value value)
{
    switch (value.kind) {
    case VALUE_COUNT:
        text_thousands(buffer, value.count);
        break;
    case VALUE_BYTES:
        text_bytes(buffer, value.count);
        break;
    case VALUE_TIME:
        text_duration(buffer, value.integer);
        break;
    case VALUE_INTEGER:
        snprintf(buffer, VALUE_TEXT_SIZE, "%lld", (long long)value.integer);
        break;
    case VALUE_RATIO:
        snprintf(buffer, VALUE_TEXT_SIZE, "%.4f", value.ratio);
        break;
    case VALUE_TEXT:
        /* An empty cell would look like a missing one. */
        text_for_terminal(buffer, VALUE_TEXT_SIZE, value.text && *value.text ? value.text : "(no name)", 40);
        break;
    case VALUE_BOOL:
        snprintf(buffer, VALUE_TEXT_SIZE, "%s", value.truth ? "yes" : "no");
        break;
    case VALUE_NULL:
        snprintf(buffer, VALUE_TEXT_SIZE, "-");
    }
}

static void json_next(struct json *json, const char *key)
{
    if (json->depth > 0)
        output_print(json->output, "%s\n%*s", json->first ? "" : ",", json->depth * 2, "");
    json->first = false;
    /* Names from a trace may be keys. */
    if (key) {
        write_json_text(json->output, key);
        output_text(json->output, ": ");
    }
}

void json_open(struct json *json, const char *key, char bracket)
{
    json_next(json, key);
    output_write(json->output, &bracket, 1);
    json->depth++;
    json->first = true;
}

void json_close(struct json *json, char bracket)
{
    json->depth--;
    if (!json->first)
        output_print(json->output, "\n%*s", json->depth * 2, "");
    output_write(json->output, &bracket, 1);
    /* The level above has had a value now: this one. */
    json->first = false;
    if (json->depth == 0)
        output_text(json->output, "\n");
}

void json_value(struct json *json, const char *key, struct value value)
{
    json_next(json, key);
    value_write_json(json->output, value);
}

void json_fields(struct json *json, const struct field *fields, size_t count, const void *context, const void *row)
{
    /* A row over several lines, as what it is part of is short. */
    for (size_t i = 0; i < count; i++)
        json_value(json, fields[i].name, fields[i].get(context, row));
}

void json_row(struct json *json, const struct field *fields, size_t count, const void *context, const void *row)
{
    /* A row of a long list is kept on one line, which is shorter and can be searched by line. */
    json_next(json, NULL);
    for (size_t i = 0; i < count; i++) {
        output_print(json->output, "%s\"%s\": ", i == 0 ? "{" : ", ", fields[i].name);
        value_write_json(json->output, fields[i].get(context, row));
    }
    output_text(json->output, "}");
}

void json_list(struct json *json, const char *key, const struct field *fields, size_t field_count, const void *context,
               const void *rows, size_t count, size_t size)
{
    json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        json_row(json, fields, field_count, context, (const char *)rows + i * size);
    json_close(json, ']');
}

void json_row_values(struct json *json, const char *const *names, const struct value *values, size_t count)
{
    json_next(json, NULL);
    for (size_t i = 0; i < count; i++) {
        output_print(json->output, "%s\"%s\": ", i == 0 ? "{" : ", ", names[i]);
        value_write_json(json->output, values[i]);
    }
    output_text(json->output, "}");
}

void json_line(struct output *output, const struct field *fields, size_t count, const void *context, const void *row)
{
    /* One object for each line, without commas between them: it can be read while it is written (JSON Lines). */
    for (size_t i = 0; i < count; i++) {
        output_print(output, "%s\"%s\": ", i ? ", " : "{", fields[i].name);
        value_write_json(output, fields[i].get(context, row));
    }
    output_text(output, "}\n");
}

void csv_header(struct output *output, const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        output_print(output, "%s%s", i ? "," : "", fields[i].name);
    output_text(output, "\n");
}

void csv_row(struct output *output, const struct field *fields, size_t count, const void *context, const void *row)
{
    for (size_t i = 0; i < count; i++) {
        if (i)
            output_text(output, ",");
        value_write_csv(output, fields[i].get(context, row));
    }
    output_text(output, "\n");
}

struct value value_finite(double ratio)
{
    return isfinite(ratio) ? value_ratio(ratio) : value_null();
}

void xml_attribute(struct output *output, const char *name, struct value value)
{
    if (value.kind == VALUE_NULL || (value.kind == VALUE_TEXT && !value.text))
        return;
    output_print(output, " %s=\"", name);
    value_write_xml(output, value);
    output_text(output, "\"");
}

void xml_row(struct output *output, const char *element, const struct field *fields, size_t count, const void *context,
             const void *row, const char *close)
{
    output_print(output, "<%s", element);
    for (size_t i = 0; i < count; i++)
        xml_attribute(output, fields[i].name, fields[i].get(context, row));
    output_text(output, close);
}

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

/* Bytes of the character at `at`. */
static size_t character_length(const char *at)
{
    bool shown;
    return (unsigned char)*at < 0x80 ? 1 : character(at, &shown);
}

/* Columns of a terminal. */
static size_t shown_length(const char *text)
{
    size_t length = 0;
    for (; *text; text += character_length(text))
        length += character_columns(text);
    return length;
}

/* Bytes of the begin of a text that fits into so many columns. */
static size_t fitting_length(const char *text, size_t columns)
{
    const char *at = text;
    for (size_t used = 0; *at; at += character_length(at)) {
        used += character_columns(at);
        if (used > columns)
            break;
    }
    return (size_t)(at - text);
}

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

/* True if the text continues with a unit, which must stay on the line of its number. */
static bool is_unit(const char *text)
{
    static const char *const units[] = {"%", "s", "ms", "µs", "ns", "B", "kB", "MB", "GB", "TB"};
    size_t length = strcspn(text, " ,.;:)");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == length && memcmp(text, units[i], length) == 0)
            return true;
    return false;
}

/* Bytes up to the next place where a line may end. */
static size_t word_length(const char *text)
{
    size_t length = strcspn(text, " ");
    /* "12 ms" is one word here: a line must not end between a number and its unit. */
    if (length > 0 && text[length] == ' ' && text[length - 1] >= '0' && text[length - 1] <= '9' &&
        is_unit(text + length + 1))
        length += 1 + strcspn(text + length + 1, " ");
    return length;
}

size_t paragraph_write(struct output *output, const char *first, const char *indent, const char *text)
{
    enum { COLUMNS = 80 };
    size_t column = 0, lines = 0;
    while (*text) {
        char word[VALUE_TEXT_SIZE];
        const char *margin = column > 0 ? indent : first;
        /* A word that is longer than a line goes on in the next. */
        size_t room = COLUMNS - smaller(shown_length(margin), COLUMNS / 2);
        size_t length = smaller(word_length(text), larger(fitting_length(text, room), 1));
        length = smaller(length, sizeof word - 1);
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        size_t width = shown_length(word);
        bool fits = column > 0 && column + 1 + width <= COLUMNS;
        /* Without an output only the lines are counted, by the same rules. */
        lines += !fits;
        const char *end = column > 0 ? "\n" : ""; /* of the line before */
        if (output && fits)
            output_print(output, " %s", word);
        else if (output)
            output_print(output, "%s%s%s", end, margin, word);
        column = fits ? column + 1 + width : shown_length(margin) + width;
        text += length;
        text += strspn(text, " ");
    }
    if (output)
        output_text(output, "\n");
    return lines;
}

void headline_write(struct output *output, const char *title, const char *facts)
{
    size_t size = strlen(title) + strlen(facts) + 8;
    char *line = memory_new(size);
    snprintf(line, size, "%s — %s", title, facts);
    paragraph_write(output, "", "  ", line);
    free(line);
}

void heading_write(struct output *output, const char *title)
{
    output_text(output, "\n");
    terminal_style(output, TERMINAL_BOLD);
    output_text(output, title);
    terminal_style(output, NULL);
    output_text(output, "\n");
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
        int pad = (int)(widths[i] - shown_length(text));
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
    if (shown_length(cell) <= width || width == 0)
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
        size_t length = shown_length(table->cells[i]);
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
        size_t length = shown_length(table->cells[i]);
        widths[i % columns] = larger(length, widths[i % columns]);
    }
    narrow(table, widths, shown_length(indent));
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
