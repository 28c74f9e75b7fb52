/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight profile TRACE`: what is computed, by function, line and file, and as a tree of calls. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/profile_report.h"

#include <string.h>

static enum status needs_samples(const struct options *options, const struct metrics *metrics, struct error *err)
{
    if (!metrics->profile)
        return error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no samples: give the trace",
                         options->inputs[0]);
    if (!metrics->profile->defs || metrics->profile->defs->path_count == 0)
        return error_set(err, ERROR_USAGE, "%s: has no samples: record it with --samples", options->inputs[0]);
    return STATUS_OK;
}

static void write_profile(struct output *output, const struct options *options, const struct metrics *metrics)
{
    char title[300];
    const char *format = options->format ? options->format : "text";
    struct profile_report report = {.profile = metrics->profile, .title = title, .all = options->all};
    run_title(title, sizeof title, options);
    if (strcmp(format, "json") == 0)
        profile_write_json(output, &report);
    else if (strcmp(format, "csv") == 0)
        profile_write_csv(output, &report, options->table);
    else if (strcmp(format, "folded") == 0)
        profile_write_folded(output, &report);
    else if (strcmp(format, "speedscope") == 0)
        profile_write_speedscope(output, &report);
    else
        profile_write_text(output, &report, options->table);
}

int cmd_profile(const struct command *command, const struct options *options)
{
    if (options->input_count == 0)
        return command_usage(command, "no trace given");
    if (options->table && !profile_table_exists(options->table))
        return command_usage(command, "unknown table '%s'; there are: functions lines files tree", options->table);
    return run_report(options, ENGINE_PROFILE, needs_samples, write_profile);
}
