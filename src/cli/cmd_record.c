/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight record -- mpiexec …`: runs a program and writes its trace. */
#include "cli/commands.h"

#include "cli/overhead.h"
#include "cli/recording.h"

#include <stdlib.h>

int cmd_record(const struct command *command, const struct options *options)
{
    if (options->link)
        return recording_print_link(options->input_count ? options->inputs[0] : "mpicc");
    if (options->input_count == 0)
        return command_usage(command, "no program given");
    if (options->measure_overhead)
        return overhead_measure(command, options);
    char *output = recording_output(options);
    int code = recording_run(options, output, NULL);
    free(output);
    return code;
}
