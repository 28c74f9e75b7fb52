/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight TRACE`: the short diagnosis. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/diagnosis.h"

static void write_diagnosis(struct output *output, const struct options *options, const struct metrics *metrics)
{
    char title[300];
    run_title(title, sizeof title, options);
    diagnosis_write_text(output, metrics, title);
}

int cmd_diagnose(const struct command *command, const struct options *options)
{
    (void)command;
    return run_report(options, NULL, write_diagnosis);
}
