/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight source TRACE [FILE]`: the program's lines with what they cost. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/source_report.h"

struct asked {
    const struct source_options *options;
    const char *trace, *file; /* the file of the program; NULL: the costliest */
};

static enum status needs_file(const void *context, const struct engine_result *run, struct error *err)
{
    const struct asked *asked = context;
    const struct profile *profile = run->metrics->profile;
    if (!profile)
        return error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no samples: give the trace", asked->trace);
    if (profile->samples == 0)
        return error_set(err, ERROR_USAGE, "%s: has no samples, which sight record takes by default", asked->trace);
    struct profile_rows lines = profile_rows_of(profile, PROFILE_BY_LINE);
    /* by the end of its path, as people name files: two that end alike are none */
    bool found = source_file_find(profile, &lines, asked->file, asked->trace) != NULL;
    profile_rows_clear(&lines);
    if (found)
        return STATUS_OK;
    return error_set(err, ERROR_USAGE, "%s: there are no samples in a file '%s', or several are called so",
                     asked->trace, asked->file ? asked->file : "");
}

static void write_source(struct output *output, const void *context, const struct engine_result *run)
{
    const struct asked *asked = context;
    const struct source_options *options = asked->options;
    const struct profile *profile = run->metrics->profile;
    char title[300];
    struct profile_rows lines = profile_rows_of(profile, PROFILE_BY_LINE);
    struct source_report report = {.profile = profile,
                                   .lines = &lines,
                                   .title = title,
                                   .file = source_file_find(profile, &lines, asked->file, asked->trace),
                                   .trace = asked->trace,
                                   .all = options->all,
                                   .colour = run_wants_colour(&options->common, &options->target)};
    run_title(title, sizeof title, &(struct common_options){.inputs = options->common.inputs, .input_count = 1});
    if (choice_is(options->format, "json"))
        source_write_json(output, &report);
    else
        source_write_text(output, &report);
    profile_rows_clear(&lines);
}

int cmd_source(const struct command *command, const struct source_options *options)
{
    struct common_options common = options->common;
    if (common.input_count == 0 || common.input_count > 2)
        return command_usage(command, "give a trace, and maybe a file of its program's source");
    const struct asked asked = {options, common.inputs[0], common.input_count == 2 ? common.inputs[1] : NULL};
    common.input_count = 1;
    return run_report(&(struct run_report){.common = &common,
                                           .target = &options->target,
                                           .trace = &options->trace,
                                           .wants = ENGINE_PROFILE,
                                           .context = &asked,
                                           .check = needs_file,
                                           .write = write_source});
}
