/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight search TRACE`: hypotheses tested one by one. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/diagnosis.h"
#include "render/reports/search_report.h"

#include <string.h>

/* Only a whole trace can be searched; the search in a metrics file may have used other hypotheses. */
static enum status check_search(const struct options *options, const struct metrics *metrics, struct error *err)
{
    bool own = options->hypotheses || options->threshold;
    if (metrics->own_defs && own)
        return error_set(err, ERROR_USAGE,
                         "%s: is a metrics file, which has no events: --hypotheses and --threshold need the trace",
                         options->inputs[0]);
    if (!metrics->search)
        return error_set(err, ERROR_USAGE, "%s: this metrics file has no search: give the trace", options->inputs[0]);
    return STATUS_OK;
}

static void write_search(struct output *output, const struct options *options, const struct engine_result *run)
{
    char title[300];
    run_title(title, sizeof title, options);
    if (options->format && strcmp(options->format, "json") == 0)
        search_write_json(output, run->metrics);
    else {
        search_write_text(output, run->metrics, title, options->all || options->verbose);
        diagnosis_write_savings(output, run->findings);
    }
}

int cmd_search(const struct command *command, const struct options *options)
{
    if (options->input_count == 0)
        return command_usage(command, "no trace given");
    return run_judged(options, ENGINE_SEARCH, check_search, write_search);
}
