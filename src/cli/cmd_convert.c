/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "convert/writer.h"
#include "core/memory.h"
#include "core/text.h"
#include "engine/spans.h"
#include "graph/match.h"
#include "timeline/fix_clocks.h"

#include <stdio.h>
#include <string.h>

static bool ends_with(const char *text, size_t length, const char *suffix)
{
    size_t size = strlen(suffix);
    return length >= size && strncmp(text + length - size, suffix, size) == 0;
}

/* The format of --format, else of the output's suffix; NULL and a fault. */
static const struct writer_format *convert_format(const struct convert_options *options, struct error *err)
{
    char all[128] = "";
    for (size_t i = 0; i < writer_format_count(); i++) {
        const struct writer_format *format = writer_format_at(i);
        if (choice_is(options->format, format->name))
            return format;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, " %s", format->name);
    }
    if (options->format.word) {
        error_set(err, ERROR_USAGE, "unknown format '%s'; there are:%s", options->format.word, all);
        return NULL;
    }
    size_t length = strlen(options->target.path);
    if (ends_with(options->target.path, length, ".gz"))
        length -= strlen(".gz");
    else if (ends_with(options->target.path, length, ".zst"))
        length -= strlen(".zst");
    for (size_t i = 0; i < writer_format_count(); i++) {
        const struct writer_format *format = writer_format_at(i);
        if (ends_with(options->target.path, length, format->suffix) ||
            (format->other_suffix && ends_with(options->target.path, length, format->other_suffix)))
            return format;
    }
    error_set(err, ERROR_USAGE, "cannot derive the format from '%s': give --format (%s)", options->target.path,
              all + 1);
    return NULL;
}

static void report_losses(const struct convert_options *options, const struct writer *writer)
{
    char number[TEXT_NUMBER_SIZE];
    if (writer->loss_count == 0 || options->common.quiet)
        return;
    fprintf(stderr, "sight: %s: %s cannot hold:", options->target.path, writer->format->title);
    for (size_t i = 0; i < writer->loss_count; i++)
        fprintf(stderr, "%s %s (%s)", i ? "," : "", writer->losses[i].what,
                text_thousands(number, writer->losses[i].count));
    fputc('\n', stderr);
}

/* The effect of --fix-clocks, and the remaining errors. */
static void report_clocks(const struct convert_options *options, const struct clocks *clocks, struct match_counts after)
{
    char early[TEXT_NUMBER_SIZE], all[TEXT_NUMBER_SIZE], error[TEXT_NUMBER_SIZE], left[TEXT_NUMBER_SIZE];
    command_note(&options->common, "%s of %s messages arrived before they were sent, by up to %s; in %s %s do",
                 text_thousands(early, clocks->recorded.early), text_thousands(all, clocks->recorded.messages),
                 text_duration(error, clocks->recorded.worst_ns), options->target.path,
                 text_thousands(left, after.received_before_sent));
}

/* Waits and findings, where the format has a place for them. */
static enum status diagnose(const struct convert_options *options, struct asking *asking, struct writer *writer,
                            struct error *err)
{
    enum engine_lack lack = ENGINE_LACKS_NOTHING;
    if (!writer->format->span || options->no_waits)
        return STATUS_OK;
    for (size_t i = 0; i < options->common.input_count; i++)
        if (strcmp(options->common.inputs[i], "-") == 0) {
            command_note(&options->common, "no waits and findings: standard input cannot be read twice");
            return STATUS_OK;
        }
    enum status status = engine_give_spans(&asking->request, writer, &lack, err);
    if (status == STATUS_FAILED && err->kind == ERROR_INPUT) {
        command_note(&options->common, "no waits and findings: %s", err->text);
        *err = (struct error){0};
        return STATUS_OK;
    }
    if (status == STATUS_OK && lack == ENGINE_LACKS_ROOM)
        command_note(&options->common, "no waits and findings: too many calls");
    return status;
}

static enum status convert(const struct convert_options *options, struct asking *asking, struct reader *reader,
                           struct writer *writer, int *code, struct error *err)
{
    if (writer_open(writer, options->target.path, options->target.force, err) != STATUS_OK)
        return STATUS_FAILED;
    struct matcher *matcher = reader_clocks(reader) ? matcher_new() : NULL;
    struct sink *sinks[] = {&writer->sink, matcher ? matcher_sink(matcher) : NULL};
    enum status status = engine_stream(&asking->request, reader, sinks, matcher ? 2 : 1, err);
    progress_end(&asking->progress);
    struct match_counts after = matcher ? matcher_counts(matcher) : (struct match_counts){0};
    matcher_free(matcher);
    struct error closing = {0};
    if (writer_close(writer, status == STATUS_OK, &closing) != STATUS_OK && status == STATUS_OK) {
        *err = closing;
        status = STATUS_FAILED;
    }
    if (status != STATUS_OK)
        return status;
    report_losses(options, writer);
    if (reader_clocks(reader))
        report_clocks(options, reader_clocks(reader), after);
    *code = run_report_damage(&reader->end, -1);
    return STATUS_OK;
}

int cmd_convert(const struct command *command, const struct convert_options *options)
{
    if (!options->target.path)
        return command_usage(command, "no output given (-o OUT)");
    struct error err = {0};
    const struct writer_format *format = convert_format(options, &err);
    struct asking asking;
    if (!format)
        return command_fault(&err);
    asking_begin(&asking, &options->common, &options->trace, 0);
    struct reader *reader = engine_open(&asking.request, &err);
    if (!reader) {
        asking_end(&asking);
        return command_fault(&err);
    }
    struct writer *writer = format->create();
    writer->format = format;
    int code = EXIT_DONE;
    if (diagnose(options, &asking, writer, &err) != STATUS_OK ||
        convert(options, &asking, reader, writer, &code, &err) != STATUS_OK)
        code = command_fault(&err);
    format->free(writer);
    reader_close(reader);
    asking_end(&asking);
    return code;
}
