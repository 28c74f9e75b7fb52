/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/diagnosis.h"
#include "render/reports/heuristics_report.h"

#include <string.h>

static void write_heuristics(struct output *output, const struct options *options, const struct engine_result *run)
{
    if (options->format && strcmp(options->format, "json") == 0)
        heuristics_write_json(output, run->metrics, run->results, run->findings);
    else if (options->format && strcmp(options->format, "csv") == 0)
        heuristics_write_csv(output, run->metrics, run->results);
    else {
        heuristics_write_text(output, run->results, options->verbose);
        diagnosis_write_savings(output, run->findings);
    }
}

int cmd_heuristics(const struct command *command, const struct options *options)
{
    (void)command;
    return run_judged(options, 0, NULL, write_heuristics);
}
