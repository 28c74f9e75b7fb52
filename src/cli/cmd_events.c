/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight events TRACE`: all events as lines of CSV or JSON. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/events_report.h"

/* Writes the events into the output, which it closes. */
static enum status stream(const struct events_options *options, const struct engine_request *request,
                          struct reader *reader, struct error *err)
{
    struct output *output = run_open(&options->target, err);
    if (!output)
        return STATUS_FAILED;
    bool json = choice_is(options->format, "jsonl");
    struct events_report report = events_report_to(output, json, request->ranks, request->rank_count);
    struct sink *sinks[] = {&report.sink};
    struct error closing = {0}; /* the first fault is reported: a full disk shows in writing, and again in closing */
    enum status status = engine_stream(request, reader, sinks, 1, err);
    if (status == STATUS_OK && reader->end.complete)
        status = engine_check_ranks(request, reader->defs->processes, err);
    if (output_close(output, status == STATUS_OK, &closing) != STATUS_OK && status == STATUS_OK) {
        *err = closing;
        status = STATUS_FAILED;
    }
    return status;
}

int cmd_events(const struct command *command, const struct events_options *options)
{
    (void)command;
    struct error err = {0};
    struct asking asking;
    asking_begin(&asking, &options->common, &options->trace, 0);
    struct reader *reader = engine_open(&asking.request, &err);
    enum status status = reader ? stream(options, &asking.request, reader, &err) : STATUS_FAILED;
    asking_end(&asking);
    int code = status == STATUS_OK ? run_report_damage(&reader->end, -1) : command_fault(&err);
    reader_close(reader);
    return code;
}
