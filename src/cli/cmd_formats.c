/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "convert/reader.h"
#include "convert/writer.h"
#include "render/field.h"

#include <string.h>

#define GETTER(name, expression)                                                                                       \
    static struct value name(const void *context, const void *row_pointer)                                             \
    {                                                                                                                  \
        const struct format *row = row_pointer;                                                                        \
        (void)row;                                                                                                     \
        (void)context;                                                                                                 \
        return expression;                                                                                             \
    }
GETTER(format_name, value_text(row->name))
GETTER(format_title, value_text(row->title))
GETTER(format_suffix, value_text(row->suffix))
GETTER(format_read, value_bool(true))
GETTER(format_written, value_bool(writer_format_find(row->name) != NULL))

static const struct field fields[] = {
    {"name", "format", format_name}, {"title", "name", format_title},        {"suffix", "suffix", format_suffix},
    {"read", "read", format_read},   {"written", "written", format_written},
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static void write_formats(struct output *output, const void *context)
{
    const struct options *options = context;
    if (options->format && strcmp(options->format, "json") == 0) {
        struct json json = {.output = output};
        json_open(&json, NULL, '{');
        json_value(&json, "schema", value_text("sight-formats/1"));
        json_open(&json, "formats", '[');
        for (size_t i = 0; i < format_count(); i++)
            json_row(&json, fields, FIELD_COUNT, NULL, format_at(i));
        json_close(&json, ']');
        json_close(&json, '}');
        return;
    }
    struct text_table *table = text_table_new(fields, FIELD_COUNT);
    for (size_t i = 0; i < format_count(); i++)
        text_table_row(table, NULL, format_at(i));
    text_table_print(table, output, "");
    output_text(output, "\nTraces are recognised by their content, not by their names. ");
    output_print(output, "Compressed traces are read directly: gzip %s, zstd %s.\n", input_has_gzip() ? "yes" : "no",
                 input_has_zstd() ? "yes" : "no");
}

int cmd_formats(const struct command *command, const struct options *options)
{
    if (options->input_count > 0)
        return command_usage(command, "unexpected argument '%s'", options->inputs[0]);
    return run_output(options, write_formats, options, EXIT_DONE);
}
