/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/several_runs.h"
#include "core/memory.h"
#include "view/embed.h"

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

/* The timeline of a trace that can be read a second time, as a whole. */
struct timeline_part {
    struct engine_look look;
    struct view view;
    struct view_embed embed;
    struct report_timeline part;
};

static bool can_have_timeline(const struct options *options, const struct engine_result *run)
{
    return !run->metrics->own_defs && run->metrics->process_count > 0 && !options->from && !options->to &&
           !options->processes && strcmp(options->inputs[0], "-") != 0;
}

/* A fault becomes that of the output. */
static struct timeline_part *timeline_part_open(const struct options *options, const struct engine_result *run,
                                                const char *title, struct output *output)
{
    struct error err = {0};
    if (!can_have_timeline(options, run))
        return NULL;
    struct timeline_part *part = memory_new(sizeof *part);
    if (ask_look(options, true, &part->look, &err) != STATUS_OK) {
        output_fail(output, &err);
        free(part);
        return NULL;
    }
    view_begin(&part->view, part->look.timeline, title);
    part->embed = (struct view_embed){.view = &part->view,
                                      .judgement = {.metrics = run->metrics,
                                                    .results = run->results,
                                                    .findings = run->findings,
                                                    .overlay = timeline_overlay(part->look.timeline, &err)}};
    if (err.kind != ERROR_NONE)
        output_fail(output, &err);
    part->part = view_embed_timeline(&part->embed);
    return part;
}

static void timeline_part_close(struct timeline_part *part)
{
    if (!part)
        return;
    view_clear(&part->view);
    engine_look_close(&part->look);
    free(part);
}

static void write_html(struct output *output, const struct options *options, const struct engine_result *run,
                       struct report *report)
{
    struct timeline_part *part = timeline_part_open(options, run, report->title, output);
    report->timeline = part ? &part->part : NULL;
    report_write_html(output, report);
    timeline_part_close(part);
}

static void write_report(struct output *output, const struct options *options, const struct engine_result *run)
{
    char title[300];
    run_title(title, sizeof title, options);
    const char *slash = strrchr(title, '/');
    struct report report = {.title = slash && slash[1] ? slash + 1 : title,
                            .findings = run->findings,
                            .input = {.metrics = run->metrics,
                                      .scaling = options->scaling,
                                      .results = run->results,
                                      .by_bytes = options->by && strcmp(options->by, "bytes") == 0,
                                      .own_colours = options->colors && strcmp(options->colors, "mpe") == 0}};
    if (strcmp(report_format(options), "pdf") == 0)
        report_write_pdf(output, &report);
    else
        write_html(output, options, run, &report);
}

/* The largest of several runs, and how they scale. */
static int report_several(const struct options *options)
{
    struct error err = {0};
    struct several_runs several = {0};
    struct scaling *scaling = NULL;
    enum status status = STATUS_OK;
    int code = EXIT_DONE;
    for (size_t i = 0; i < options->input_count && status == STATUS_OK; i++)
        status = several_runs_add(&several, options, options->inputs[i], &code, &err);
    if (status == STATUS_OK)
        scaling = scaling_of(several.runs, several.count, false, &err);
    if (scaling) {
        struct options one = *options;
        one.inputs = &options->inputs[several_runs_largest(&several)];
        one.input_count = 1;
        one.scaling = scaling;
        int result = run_judged(&one, ENGINE_SEARCH, NULL, write_report);
        code = result == EXIT_DONE ? code : result;
    } else {
        code = command_fault(&err);
    }
    scaling_free(scaling);
    several_runs_clear(&several);
    return code;
}

int cmd_report(const struct command *command, const struct options *options)
{
    if (!options->output)
        return command_usage(command, "no output given (-o report.html)");
    if (!report_format(options))
        return command_usage(command, "cannot derive the format from '%s': give --format (html pdf)", options->output);
    if (several_runs_given(options->inputs, options->input_count))
        return report_several(options);
    return run_judged(options, ENGINE_SEARCH, NULL, write_report);
}
