/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/own_numbers.h"
#include "render/reports/diagnosis.h"
#include "render/reports/heuristics_report.h"
#include "render/reports/stuck_report.h"

struct asked {
    const struct heuristics_options *options;
    const struct own_metrics *own;
};

/* People get the findings' savings as well, which the indices cannot give: how much a remedy is worth. CSV is a table
   of one kind of row. */
static void write_heuristics(struct output *output, const void *context, const struct engine_result *run)
{
    const struct asked *asked = context;
    if (choice_is(asked->options->format, "json"))
        heuristics_write_json_more(output, run->metrics, run->results, run->findings, own_metrics_write_json,
                                   asked->own);
    else if (choice_is(asked->options->format, "csv"))
        heuristics_write_csv(output, run->metrics, run->results);
    else {
        stuck_write_first(output, run->stuck);
        heuristics_write_text(output, run->results, asked->options->common.verbose);
        own_metrics_write_judgements(output, asked->own);
        diagnosis_write_savings(output, run->findings);
    }
}

int cmd_heuristics(const struct command *command, const struct heuristics_options *options)
{
    struct own_metrics own;
    struct error err = {0};
    if (options->definitions && choice_is(options->format, "csv"))
        return command_usage(command, "--definitions needs text or json: CSV has one table, of sight's own heuristics");
    if (own_numbers_ask(&own, options->definitions, NULL, &options->common, &options->trace, &err) != STATUS_OK) {
        own_metrics_clear(&own);
        return command_fault(&err);
    }
    struct run_report report = {RUN_OPTIONS(options), .wants = ENGINE_ANALYSIS | ENGINE_FINDINGS,
                                .fail_on = options->fail_on, .write = write_heuristics};
    report.context = &(struct asked){options, &own};
    int code = run_report(&report);
    own_metrics_clear(&own);
    return code;
}
