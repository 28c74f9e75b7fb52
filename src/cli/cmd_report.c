/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "render/report.h"

#include <stdio.h>
#include <string.h>

/* "html", "pdf" or NULL: of --format, else of the output's name. */
static const char *report_format(const struct options *options)
{
    if (options->format)
        return options->format;
    const char *dot = strrchr(options->output, '.');
    if (dot && (strcmp(dot, ".pdf") == 0))
        return "pdf";
    return dot && (strcmp(dot, ".html") == 0 || strcmp(dot, ".htm") == 0) ? "html" : NULL;
}

static void write_report(struct output *output, const struct options *options, const struct judged_run *run)
{
    char title[300];
    run_title(title, sizeof title, options);
    const char *slash = strrchr(title, '/');
    struct report report = {.title = slash && slash[1] ? slash + 1 : title,
                            .findings = run->findings,
                            .input = {.metrics = run->metrics,
                                      .results = run->results,
                                      .by_bytes = options->by && strcmp(options->by, "bytes") == 0,
                                      .own_colours = options->colors && strcmp(options->colors, "mpe") == 0}};
    if (strcmp(report_format(options), "pdf") == 0)
        report_write_pdf(output, &report);
    else
        report_write_html(output, &report);
}

int cmd_report(const struct command *command, const struct options *options)
{
    if (!options->output)
        return command_usage(command, "no output given (-o report.html)");
    if (!report_format(options))
        return command_usage(command, "cannot tell the format from '%s': give --format (html pdf)", options->output);
    struct options deep = *options;
    deep.search = true;
    return run_judged(&deep, NULL, write_report);
}
