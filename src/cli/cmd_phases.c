/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight phases TRACE`: the course of a run: phases, loops, iterations. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/phases_report.h"

/* Loops are found in the order of all calls: a part of the run, or of its processes, has others. */
static enum status needs_phases(const void *context, const struct engine_result *run, struct error *err)
{
    const struct phases_options *options = context;
    if (run->metrics->phases)
        return STATUS_OK;
    return error_set(err, ERROR_USAGE,
                     "%s: phases need the events of the whole run: a trace without --from, --to, --processes",
                     options->common.inputs[0]);
}

static void write_phases(struct output *output, const void *context, const struct engine_result *run)
{
    const struct phases_options *options = context;
    char title[300];
    struct phases_report report = {
        .metrics = run->metrics, .title = title, .all = options->all, .bottleneck = LOOP_BOTTLENECK_SHARE};
    if (options->bottleneck.text)
        report.bottleneck = options->bottleneck.value;
    run_title(title, sizeof title, &options->common);
    if (choice_is(options->format, "json"))
        phases_write_json(output, &report);
    else if (choice_is(options->format, "csv"))
        phases_write_csv(output, &report, options->table.word ? options->table.word : "phases");
    else
        phases_write_text(output, &report);
}

int cmd_phases(const struct command *command, const struct phases_options *options)
{
    if (options->table.word && !choice_is(options->format, "csv"))
        return command_usage(command, "--table needs --format csv");
    return run_report(&(struct run_report){RUN_OPTIONS(options),
                                           .wants = ENGINE_ANALYSIS | ENGINE_PHASES | ENGINE_BEFORE_HANG,
                                           .check = needs_phases, .write = write_phases});
}
