/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "convert/foreign.h"
#include "convert/reader.h"
#include "convert/writer.h"
#include "render/field.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <string.h>

/* A format that is read or written. Two tables, of readers and of writers, become one: by name. */
struct format_row {
    const char *name, *title, *suffix;
    bool read, written;
};

#define GETTER(name, expression)                                                                                       \
    static struct value name(const void *context, const void *row_pointer)                                             \
    {                                                                                                                  \
        const struct format_row *row = row_pointer;                                                                    \
        (void)row;                                                                                                     \
        (void)context;                                                                                                 \
        return expression;                                                                                             \
    }
GETTER(format_name, value_text(row->name))
GETTER(format_title, value_text(row->title))
GETTER(format_suffix, value_text(row->suffix))
GETTER(format_read, value_bool(row->read))
GETTER(format_written, value_bool(row->written))

static const struct field fields[] = {
    {"name", "format", format_name}, {"title", "name", format_title},        {"suffix", "suffix", format_suffix},
    {"read", "read", format_read},   {"written", "written", format_written},
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static size_t row_count(void)
{
    return format_count() + writer_format_count();
}

/* Formats that are read, then those that are only written; false: a number that stands for neither. */
static bool format_row(size_t index, struct format_row *row)
{
    if (index < format_count()) {
        const struct format *format = format_at(index);
        *row = (struct format_row){format->name, format->title, format->suffix, true,
                                   writer_format_find(format->name) != NULL};
        return true;
    }
    const struct writer_format *format = writer_format_at(index - format_count());
    *row = (struct format_row){format->name, format->title, format->suffix, false, true};
    return !format_is_read(format->name);
}

static void write_codecs(struct output *output)
{
    const char *gzip = input_has_gzip() ? "gzip" : "", *zstd = input_has_zstd() ? "zstd" : "";
    if (*gzip || *zstd)
        output_print(output, "Compressed traces are read directly: %s%s%s.\n", gzip, *gzip && *zstd ? " and " : "",
                     zstd);
}

static void write_formats(struct output *output, const void *context)
{
    const struct formats_options *options = context;
    struct format_row row;
    if (choice_is(options->format, "json")) {
        struct json json = {.output = output};
        json_open(&json, NULL, '{');
        json_value(&json, "schema", value_text("sight-formats/1"));
        json_open(&json, "formats", '[');
        for (size_t i = 0; i < row_count(); i++)
            if (format_row(i, &row))
                json_row(&json, fields, FIELD_COUNT, NULL, &row);
        json_close(&json, ']');
        json_close(&json, '}');
        return;
    }
    struct text_table *table = text_table_new(fields, FIELD_COUNT);
    for (size_t i = 0; i < row_count(); i++)
        if (format_row(i, &row))
            text_table_row(table, NULL, &row);
    text_table_print(table, output, "");
    /* so that people who have such a file learn what it is */
    output_text(output, "\nRecognised, but not read:\n");
    for (size_t i = 0; i < foreign_count(); i++)
        output_print(output, "  %s\n", foreign_at(i)->title);
    output_text(output, "\n");
    paragraph_write(output, "", "", "Traces are recognised by their content, not by their names.");
    write_codecs(output);
}

int cmd_formats(const struct command *command, const struct formats_options *options)
{
    if (options->common.input_count > 0)
        return command_usage(command, "unexpected argument '%s'", options->common.inputs[0]);
    return run_output(NULL, NULL, write_formats, options, EXIT_DONE);
}
