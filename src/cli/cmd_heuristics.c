/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/diagnosis.h"
#include "render/reports/heuristics_report.h"

/* People get the findings' savings as well, which the indices cannot give: how much a remedy is worth. CSV is a table
   of one kind of row. */
static void write_heuristics(struct output *output, const void *context, const struct engine_result *run)
{
    const struct heuristics_options *options = context;
    if (choice_is(options->format, "json"))
        heuristics_write_json(output, run->metrics, run->results, run->findings);
    else if (choice_is(options->format, "csv"))
        heuristics_write_csv(output, run->metrics, run->results);
    else {
        heuristics_write_text(output, run->results, options->common.verbose);
        diagnosis_write_savings(output, run->findings);
    }
}

int cmd_heuristics(const struct command *command, const struct heuristics_options *options)
{
    (void)command;
    return run_report(&(struct run_report){RUN_OPTIONS(options), .wants = ENGINE_FINDINGS, .fail_on = options->fail_on,
                                           .write = write_heuristics});
}
