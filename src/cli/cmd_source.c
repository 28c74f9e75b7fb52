/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight source TRACE [FILE]`: the program's lines with what they cost. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/source_report.h"

#include <string.h>

static enum status needs_file(const struct options *options, const struct metrics *metrics, struct error *err)
{
    const struct profile *profile = metrics->profile;
    if (!profile)
        return error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no samples: give the trace",
                         options->inputs[0]);
    if (profile->samples == 0)
        return error_set(err, ERROR_USAGE, "%s: has no samples: record it with --samples", options->inputs[0]);
    struct profile_rows lines = profile_rows_of(profile, PROFILE_BY_LINE);
    bool found = source_file_find(&lines, options->file) != NULL;
    profile_rows_clear(&lines);
    if (found)
        return STATUS_OK;
    return error_set(err, ERROR_USAGE, "%s: there are no samples in a file '%s', or several are called so",
                     options->inputs[0], options->file ? options->file : "");
}

static void write_source(struct output *output, const struct options *options, const struct metrics *metrics)
{
    char title[300];
    struct profile_rows lines = profile_rows_of(metrics->profile, PROFILE_BY_LINE);
    struct source_report report = {.profile = metrics->profile,
                                   .lines = &lines,
                                   .title = title,
                                   .file = source_file_find(&lines, options->file),
                                   .trace = options->inputs[0],
                                   .all = options->all,
                                   .colour = run_wants_colour(options)};
    run_title(title, sizeof title, options);
    if (options->format && strcmp(options->format, "json") == 0)
        source_write_json(output, &report);
    else
        source_write_text(output, &report);
    profile_rows_clear(&lines);
}

int cmd_source(const struct command *command, const struct options *options)
{
    struct options of_trace = *options;
    if (options->input_count == 0 || options->input_count > 2)
        return command_usage(command, "give a trace, and maybe a file of its program's source");
    of_trace.file = options->input_count == 2 ? options->inputs[1] : NULL;
    of_trace.input_count = 1;
    return run_report(&of_trace, ENGINE_PROFILE, needs_file, write_source);
}
