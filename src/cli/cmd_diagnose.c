/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight TRACE`: the short diagnosis. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/diagnosis.h"

static void write_diagnosis(struct output *output, const void *context, const struct engine_result *run)
{
    const struct diagnose_options *options = context;
    char title[300];
    run_title(title, sizeof title, &options->common);
    struct diagnosis diagnosis = {.metrics = run->metrics,
                                  .results = run->results,
                                  .findings = run->findings,
                                  .title = title,
                                  .verbose = options->common.verbose,
                                  .stuck = run->stuck,
                                  .may_hang = run->may_hang,
                                  .colour = run_wants_colour(&options->common, &options->target)};
    if (choice_is(options->format, "json"))
        diagnosis_write_json(output, &diagnosis, false);
    else
        diagnosis_write_text(output, &diagnosis);
}

int cmd_diagnose(const struct command *command, const struct diagnose_options *options)
{
    (void)command;
    return run_report(&(struct run_report){RUN_OPTIONS(options), .wants = ENGINE_FINDINGS, .fail_on = options->fail_on,
                                           .write = write_diagnosis});
}
