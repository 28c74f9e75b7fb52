/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight TRACE`: the short diagnosis. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/diagnosis.h"

static void write_diagnosis(struct output *output, const struct options *options, const struct judged_run *run)
{
    char title[300];
    run_title(title, sizeof title, options);
    diagnosis_write_text(output, &(struct diagnosis){run->metrics, run->results, run->findings, title});
}

int cmd_diagnose(const struct command *command, const struct options *options)
{
    (void)command;
    return run_judged(options, NULL, write_diagnosis);
}
