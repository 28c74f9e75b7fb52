/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/metrics_report.h"

#include <string.h>

enum { TEXT_ROWS = 20 };

struct metrics_request {
    const struct options *options;
    const struct metrics *metrics;
    const char *table;
};

static void write_metrics(struct output *output, const void *context)
{
    const struct metrics_request *request = context;
    const char *format = request->options->format ? request->options->format : "text";
    char title[300];
    run_title(title, sizeof title, request->options);
    if (strcmp(format, "json") == 0)
        metrics_write_json(output, request->metrics);
    else if (strcmp(format, "csv") == 0)
        metrics_write_csv(output, request->metrics, request->table);
    else
        metrics_write_text(output, request->metrics, title, request->options->all ? SIZE_MAX : TEXT_ROWS);
}

static bool table_exists(const char *name)
{
    for (size_t i = 0; metrics_table_name(i); i++)
        if (strcmp(metrics_table_name(i), name) == 0)
            return true;
    return false;
}

int cmd_metrics(const struct command *command, const struct options *options)
{
    const char *table = options->table ? options->table : "processes";
    if (!table_exists(table))
        return command_usage(command,
                             "unknown table '%s'; there are: processes functions sent received marks threads "
                             "communicators tags sizes",
                             table);
    struct error err = {0};
    struct run_metrics run = {0};
    int code;
    if (run_metrics(&run, options, &err) != STATUS_OK) {
        code = command_fault(&err);
    } else {
        struct metrics_request request = {.options = options, .metrics = run.metrics, .table = table};
        code = run_output(options, write_metrics, &request,
                          run_report_damage(&run.metrics->end, time_since(run.metrics->begin_ns, run.metrics->end_ns)));
    }
    run_metrics_free(&run);
    return code;
}
