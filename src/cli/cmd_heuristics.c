/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/heuristics_report.h"

#include <string.h>

struct heuristics_request {
    const char *format;
    const struct metrics *metrics;
};

static void write_heuristics(struct output *output, const void *context)
{
    const struct heuristics_request *request = context;
    if (request->format && strcmp(request->format, "json") == 0)
        heuristics_write_json(output, request->metrics);
    else if (request->format && strcmp(request->format, "csv") == 0)
        heuristics_write_csv(output, request->metrics);
    else
        heuristics_write_text(output, request->metrics);
}

int cmd_heuristics(const struct command *command, const struct options *options)
{
    (void)command;
    struct error err = {0};
    struct run_metrics run = {0};
    int code;
    if (run_metrics(&run, options, &err) != STATUS_OK) {
        code = command_fault(&err);
    } else {
        struct heuristics_request request = {.format = options->format, .metrics = run.metrics};
        code = run_output(options, write_heuristics, &request,
                          run_report_damage(&run.metrics->end, time_since(run.metrics->begin_ns, run.metrics->end_ns)));
    }
    run_metrics_free(&run);
    return code;
}
