/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight merge DIRECTORY... -o OUT`: the trace of a recording that was left unmerged. */
#include "cli/commands.h"

#include "cli/merging.h"

int cmd_merge(const struct command *command, const struct merge_options *options)
{
    if (options->common.input_count == 0)
        return command_usage(command, "give a directory with a recording");
    if (!options->target.path)
        return command_usage(command, "no output given (-o OUT)");
    return recording_merge(&options->common, &options->target);
}
