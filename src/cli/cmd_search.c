/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight search TRACE`: hypotheses tested one by one. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/diagnosis.h"
#include "render/reports/search_report.h"

/* Only a whole trace can be searched; the search in a metrics file may have used other hypotheses. */
static enum status check_search(const void *context, const struct engine_result *run, struct error *err)
{
    const struct search_options *options = context;
    const struct metrics *metrics = run->metrics;
    bool own = options->hypotheses || options->threshold.text;
    if (metrics->own_defs && own)
        return error_set(err, ERROR_USAGE,
                         "%s: is a metrics file, which has no events: --hypotheses and --threshold need the trace",
                         options->common.inputs[0]);
    if (!metrics->search)
        return error_set(err, ERROR_USAGE, "%s: this metrics file has no search: give the trace",
                         options->common.inputs[0]);
    return STATUS_OK;
}

static void write_search(struct output *output, const void *context, const struct engine_result *run)
{
    const struct search_options *options = context;
    char title[300];
    run_title(title, sizeof title, &options->common);
    if (choice_is(options->format, "json")) {
        search_write_json(output, run->metrics);
    } else if (choice_is(options->format, "dot")) {
        search_write_dot(output, run->metrics);
    } else {
        search_write_text(output, run->metrics, title, options->all || options->common.verbose);
        diagnosis_write_savings(output, run->findings);
    }
}

int cmd_search(const struct command *command, const struct search_options *options)
{
    (void)command;
    return run_report(&(struct run_report){RUN_OPTIONS(options), .search = options,
                                           .wants = ENGINE_SEARCH | ENGINE_ANALYSIS | ENGINE_FINDINGS,
                                           .check = check_search, .write = write_search});
}
