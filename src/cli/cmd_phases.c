/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight phases TRACE`: the course of a run: phases, loops, iterations. */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/reports/phases_report.h"

#include <stdlib.h>
#include <string.h>

static enum status bottleneck_of(const struct options *options, double *share, struct error *err)
{
    *share = LOOP_BOTTLENECK_SHARE;
    if (!options->bottleneck)
        return STATUS_OK;
    char *end;
    *share = strtod(options->bottleneck, &end);
    if (end != options->bottleneck && strcmp(end, "%") == 0)
        *share /= 100;
    else if (end == options->bottleneck || *end)
        *share = -1;
    if (*share >= 0 && *share <= 1)
        return STATUS_OK;
    return error_set(err, ERROR_USAGE, "--bottleneck: '%s' is not a share from 0 to 1, or from 0 %% to 100 %%",
                     options->bottleneck);
}

static enum status needs_phases(const struct options *options, const struct metrics *metrics, struct error *err)
{
    double share;
    if (bottleneck_of(options, &share, err) != STATUS_OK)
        return STATUS_FAILED;
    if (!metrics->phases)
        return error_set(err, ERROR_USAGE,
                         "%s: phases need the events of the whole run: a trace without --from, --to, --processes",
                         options->inputs[0]);
    return STATUS_OK;
}

static void write_phases(struct output *output, const struct options *options, const struct metrics *metrics)
{
    char title[300];
    struct error err = {0};
    struct phases_report report = {.metrics = metrics, .title = title, .all = options->all};
    run_title(title, sizeof title, options);
    if (bottleneck_of(options, &report.bottleneck, &err) != STATUS_OK)
        return;
    if (options->format && strcmp(options->format, "json") == 0)
        phases_write_json(output, &report);
    else if (options->format && strcmp(options->format, "csv") == 0)
        phases_write_csv(output, &report, options->table ? options->table : "phases");
    else
        phases_write_text(output, &report);
}

int cmd_phases(const struct command *command, const struct options *options)
{
    if (options->table && !phases_table_exists(options->table))
        return command_usage(command, "unknown table '%s'; there are: phases shares loops iterations slowest",
                             options->table);
    return run_report(options, ENGINE_ANALYSIS | ENGINE_PHASES, needs_phases, write_phases);
}
