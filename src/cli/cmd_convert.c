/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "convert/writer.h"
#include "core/output.h"
#include "core/text.h"
#include "engine/convert.h"

#include <stdio.h>
#include <string.h>

/* The format of --format, else of the output's suffix; NULL and a fault. */
static const struct writer_format *convert_format(const struct convert_options *options, struct error *err)
{
    char all[128] = "";
    for (size_t i = 0; i < writer_format_count(); i++) {
        const struct writer_format *format = writer_format_at(i);
        /* Checked in the order of the table, which is that of help. */
        if (choice_is(options->format, format->name))
            return format;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, " %s", format->name);
    }
    if (options->format.word) {
        error_set(err, ERROR_USAGE, "unknown format '%s'; there are:%s", options->format.word, all);
        return NULL;
    }
    /* app.xml.gz is XML: the output compresses what it is given by the last suffix */
    size_t length = output_plain_length(options->target.path);
    for (size_t i = 0; i < writer_format_count(); i++) {
        const struct writer_format *format = writer_format_at(i);
        if (text_ends_with(options->target.path, length, format->suffix) ||
            (format->other_suffix && text_ends_with(options->target.path, length, format->other_suffix)))
            return format;
    }
    error_set(err, ERROR_USAGE, "cannot tell the format from the name '%s': give --format (%s)", options->target.path,
              all + 1);
    return NULL;
}

/* A directory is not what "-" and the suffixes of compressions promise. */
static enum status check_path(const struct writer_format *format, const char *path, struct error *err)
{
    if (!format->directory)
        return STATUS_OK;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return error_set(err, ERROR_USAGE, "%s is a directory, which standard output cannot be: give -o NAME%s",
                         format->title, format->suffix);
    if (output_plain_length(path) < strlen(path))
        return error_set(err, ERROR_USAGE, "%s: %s is a directory, which is not compressed: give -o NAME%s", path,
                         format->title, format->suffix);
    return STATUS_OK;
}

/* What a format has no place for is lost without a fault, but not without a word. */
static void report_losses(const struct convert_options *options, const struct writer *writer)
{
    char number[TEXT_NUMBER_SIZE];
    /* A quiet command still ends with the code of what it did. */
    if (writer->loss_count == 0 || options->common.quiet)
        return;
    fprintf(stderr, "sight: %s: %s cannot hold:", options->target.path, writer->format->title);
    for (size_t i = 0; i < writer->loss_count; i++)
        fprintf(stderr, "%s %s (%s)", i ? "," : "", writer->losses[i].what,
                text_thousands(number, writer->losses[i].count));
    fputc('\n', stderr);
}

/* The effect of --fix-clocks, and the remaining errors. */
static void report_clocks(const struct convert_options *options, const struct convert_result *result)
{
    char early[TEXT_NUMBER_SIZE], all[TEXT_NUMBER_SIZE], error[TEXT_NUMBER_SIZE], left[TEXT_NUMBER_SIZE];
    if (!result->clocks)
        return;
    command_note(&options->common, "%s of %s messages arrived before they were sent, by up to %s; in %s %s do",
                 text_thousands(early, result->clocks->recorded.early),
                 text_thousands(all, result->clocks->recorded.messages),
                 text_duration(error, result->clocks->recorded.worst_ns), options->target.path,
                 text_thousands(left, result->messages.received_before_sent));
}

/* Waits and findings are beside the trace: without them the output is complete, and no fault. */
static void report_lack(const struct convert_options *options, const struct convert_result *result)
{
    const char *why = NULL;
    switch (result->lack) {
    case CONVERT_LACKS_NOTHING:
        return; /* not asked for, or all there */
    case CONVERT_LACKS_FILE:
        why = "standard input cannot be read twice";
        break;
    case CONVERT_LACKS_ROOM:
        why = "too many calls";
        break;
    case CONVERT_LACKS_INPUT:
        why = result->fault.text;
        break;
    }
    command_note(&options->common, "no waits and findings: %s", why);
}

int cmd_convert(const struct command *command, const struct convert_options *options)
{
    if (!options->target.path)
        return command_usage(command, "no output given (-o OUT)");
    struct error err = {0};
    struct asking asking;
    struct convert_result result;
    const struct writer_format *format = convert_format(options, &err);
    if (!format || check_path(format, options->target.path, &err) != STATUS_OK)
        return command_fault(&err);
    /* The format is known by now: a wrong one must not cost the reading of a large trace. */
    asking_begin(&asking, &options->common, &options->trace, 0);
    enum status status = engine_convert(&(struct convert_request){.trace = &asking.request,
                                                                  .format = format,
                                                                  .path = options->target.path,
                                                                  .replace = options->target.force,
                                                                  .no_spans = options->no_waits},
                                        &result, &err);
    asking_end(&asking);
    report_lack(options, &result);
    int code;
    if (status == STATUS_OK) {
        report_losses(options, result.writer);
        report_clocks(options, &result);
        code = run_report_damage(result.end, -1);
    } else {
        code = command_fault(&err);
    }
    engine_convert_clear(&result);
    return code;
}
