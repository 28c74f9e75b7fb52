/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/field.h"

#include "core/json_text.h"
#include "core/numbers.h"
#include "core/text.h"
#include "core/xml_text.h"
#include "render/terminal_text.h"

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
