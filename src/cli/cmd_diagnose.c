/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight TRACE`: the short diagnosis. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/diagnosis.h"

struct diagnosing {
    const struct diagnose_options *options;
    size_t *begun; /* lines that are written already */
};

/* Who looks at a run that hangs need not wait for what it did before. */
static void write_hang(struct output *output, const void *context, const struct metrics *metrics,
                       const struct stuck *stuck)
{
    const struct diagnosing *diagnosing = context;
    const struct diagnose_options *options = diagnosing->options;
    char title[300];
    run_title(title, sizeof title, &options->common);
    *diagnosing->begun =
        diagnosis_begin_text(output, &(struct diagnosis){.metrics = metrics, .title = title, .stuck = stuck});
}

static void write_diagnosis(struct output *output, const void *context, const struct engine_result *run)
{
    const struct diagnosing *diagnosing = context;
    const struct diagnose_options *options = diagnosing->options;
    char title[300];
    run_title(title, sizeof title, &options->common);
    struct diagnosis diagnosis = {.begun = *diagnosing->begun,
                                  .metrics = run->metrics,
                                  .results = run->results,
                                  .findings = run->findings,
                                  .title = title,
                                  .input = options->common.input_count == 1 ? options->common.inputs[0] : NULL,
                                  .verbose = options->common.verbose,
                                  .stuck = run->stuck,
                                  .may_hang = run->may_hang,
                                  .left_over = run->left_over,
                                  .colour = run_wants_colour(&options->common, &options->target)};
    if (choice_is(options->format, "json"))
        diagnosis_write_json(output, &diagnosis, false);
    else
        diagnosis_write_text(output, &diagnosis);
}

int cmd_diagnose(const struct command *command, const struct diagnose_options *options)
{
    (void)command;
    size_t begun = 0;
    struct run_report report = {.common = &options->common,
                                .target = &options->target,
                                .trace = &options->trace,
                                .context = &(struct diagnosing){options, &begun},
                                .wants = ENGINE_FINDINGS,
                                .fail_on = options->fail_on,
                                .write = write_diagnosis};
    if (!choice_is(options->format, "json"))
        report.write_early = write_hang;
    return run_report(&report);
}
