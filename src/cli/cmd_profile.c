/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight profile TRACE`: what is computed, by function, line and file, and as a tree of calls. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/profile_report.h"

/* A profile without rows would look as if nothing had been computed. */
static enum status needs_samples(const void *context, const struct engine_result *run, struct error *err)
{
    const struct profile_options *options = context;
    const struct profile *profile = run->metrics->profile;
    if (!profile)
        return error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no samples: give the trace",
                         options->common.inputs[0]);
    if (!profile->defs || profile->defs->path_count == 0)
        return error_set(err, ERROR_USAGE, "%s: has no samples, which sight record takes by default", options->common.inputs[0]);
    return STATUS_OK;
}

static void write_profile(struct output *output, const void *context, const struct engine_result *run)
{
    const struct profile_options *options = context;
    char title[300];
    struct profile_report report = {.profile = run->metrics->profile, .title = title, .all = options->all};
    run_title(title, sizeof title, &options->common);
    if (choice_is(options->format, "json"))
        profile_write_json(output, &report);
    else if (choice_is(options->format, "csv"))
        profile_write_csv(output, &report, options->table);
    else if (choice_is(options->format, "folded"))
        profile_write_folded(output, &report);
    else if (choice_is(options->format, "speedscope"))
        profile_write_speedscope(output, &report);
    else
        profile_write_text(output, &report, options->table);
}

int cmd_profile(const struct command *command, const struct profile_options *options)
{
    if (options->common.input_count == 0)
        return command_usage(command, "no trace given");
    if (options->table && !profile_table_exists(options->table))
        return command_usage(command, "unknown table '%s'; there are: functions lines files tree", options->table);
    return run_report(&(struct run_report){RUN_OPTIONS(options), .wants = ENGINE_PROFILE, .check = needs_samples,
                                           .write = write_profile});
}
