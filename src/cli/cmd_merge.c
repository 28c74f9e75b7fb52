/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight merge DIRECTORY... -o OUT`: the trace of a recording that was left unmerged, or its metrics. */
#include "cli/commands.h"

#include "cli/in_place.h"
#include "cli/merging.h"

int cmd_merge(const struct command *command, const struct merge_options *options)
{
    if (options->common.input_count == 0)
        return command_usage(command, "give a directory with a recording");
    if (!options->target.path)
        return command_usage(command, "no output given (-o OUT)");
    if (!options->diagnose)
        return recording_merge(&options->common, &options->target);
    if (options->common.input_count > 1)
        return command_usage(command, "--diagnose takes one directory");
    if (!merging_names_file(options->target.path))
        return command_usage(command, "--diagnose needs a file for the metrics (-o FILE)");
    struct in_place place;
    return in_place_diagnose(&options->common, options->common.inputs[0], &options->target, true, &place);
}
