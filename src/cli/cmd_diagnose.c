/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight TRACE`: the short diagnosis. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/diagnosis.h"

#include <string.h>

static void write_diagnosis(struct output *output, const struct options *options, const struct engine_result *run)
{
    char title[300];
    run_title(title, sizeof title, options);
    struct diagnosis diagnosis = {
        run->metrics, run->results, run->findings, title, options->verbose, run->stuck, run_wants_colour(options)};
    if (options->format && strcmp(options->format, "json") == 0)
        diagnosis_write_json(output, &diagnosis, false);
    else
        diagnosis_write_text(output, &diagnosis);
}

int cmd_diagnose(const struct command *command, const struct options *options)
{
    (void)command;
    return run_judged(options, 0, NULL, write_diagnosis);
}
