/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight record -- mpiexec …`: runs a program and writes its trace. */
#include "cli/commands.h"

#include "cli/overhead.h"
#include "cli/recorder_counters.h"
#include "cli/recording.h"

int cmd_record(const struct command *command, const struct record_options *options)
{
    /* asks about a compiler, not about a program: it goes without one */
    if (options->link)
        return recording_print_link(options->common.input_count ? options->common.inputs[0] : "mpicc");
    if (options->list_counters)
        return recorder_counters_list();
    if (options->common.input_count == 0)
        return command_usage(command, "no program given");
    const struct recording recording = {.common = &options->common,
                                        .target = &options->target,
                                        .recorder = &options->recorder,
                                        .watch = &options->watch,
                                        .words = options->common.inputs,
                                        .count = options->common.input_count};
    if (options->measure_overhead.text)
        return overhead_measure(&recording, (size_t)options->measure_overhead.value);
    return recording_run(&recording);
}
