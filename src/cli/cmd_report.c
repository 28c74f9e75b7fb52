/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/several_runs.h"
#include "core/memory.h"
#include "core/text.h"
#include "render/charts/scene.h"
#include "view/embed.h"

#include <stdio.h>
#include <string.h>

/* "html", "pdf" or NULL: of --format, else of the output's name. */
static const char *report_format(const struct report_options *options)
{
    if (options->format.word)
        return options->format.word;
    const char *dot = strrchr(options->target.path, '.');
    if (dot && strcmp(dot, ".pdf") == 0)
        return "pdf";
    if (dot && (strcmp(dot, ".html") == 0 || strcmp(dot, ".htm") == 0))
        return "html";
    return NULL;
}

/* A report on its way: of the inputs, or of one of them. */
struct asked {
    const struct report_options *options;
    const struct common_options *common;
    const struct scaling *scaling; /* of several runs; the input is the largest. NULL: one run */
};

/* The timeline of a trace that can be read a second time, as a whole. */
struct timeline_part {
    struct engine_look look;
    struct view view;
    struct view_embed embed;
    struct report_timeline part;
};

/* A timeline shows the whole run, from the file: a report about a part of it would contradict its own picture. */
static bool can_have_timeline(const struct asked *asked, const struct engine_result *run)
{
    const struct trace_options *trace = &asked->options->trace;
    /* A metrics file has no events, and standard input cannot be read a second time. */
    return !run->metrics->own_defs && run->metrics->process_count > 0 && !trace->from.text && !trace->to.text &&
           !trace->processes.text && strcmp(asked->common->inputs[0], "-") != 0;
}

/* A fault becomes that of the output: the page is being written when the timeline is opened, and must not be kept. */
static struct timeline_part *timeline_part_open(const struct asked *asked, const struct engine_result *run,
                                                const char *title, struct output *output)
{
    struct error err = {0};
    if (!can_have_timeline(asked, run))
        return NULL;
    struct timeline_part *part = memory_new(sizeof *part);
    if (ask_look(asked->common, &asked->options->trace, true, &part->look, &err) != STATUS_OK) {
        output_fail(output, &err);
        free(part);
        return NULL;
    }
    view_begin(&part->view, part->look.timeline, title);
    /* The judgement is that of the report: page and timeline cannot contradict each other. */
    part->embed = (struct view_embed){.view = &part->view,
                                      .judgement = {.metrics = run->metrics,
                                                    .trace = asked->common->inputs[0],
                                                    .results = run->results,
                                                    .findings = run->findings,
                                                    .stuck = run->stuck,
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

static void write_html(struct output *output, const struct asked *asked, const struct engine_result *run,
                       struct report *report)
{
    struct timeline_part *part = timeline_part_open(asked, run, report->title, output);
    if (part)
        report->timeline = &part->part;
    report_write_html(output, report);
    timeline_part_close(part);
}

/* As in a page without JavaScript: a line of a process, or of several where there are many. */
enum { PICTURE_COLUMNS = 560, PICTURE_LINES = 72, PICTURE_COUNTER = 10, PICTURE_STATES = 3000 };

static void write_pdf(struct output *output, const struct asked *asked, const struct engine_result *run,
                      struct report *report)
{
    struct error err = {0};
    struct engine_look look = {0};
    struct scene scene;
    const struct scene_options how = {
        .columns = PICTURE_COLUMNS, .lines = PICTURE_LINES, .counter_lines = PICTURE_COUNTER, .states = PICTURE_STATES};
    bool looks = can_have_timeline(asked, run) &&
                 ask_look(asked->common, &asked->options->trace, true, &look, &err) == STATUS_OK;
    bool made = looks && scene_make(&scene, look.timeline, &look.view, how, &err) == STATUS_OK;
    if (err.kind != ERROR_NONE)
        output_fail(output, &err);
    /* For as long as the report is written: it points into this function. */
    report->input.scene = made ? &scene : NULL;
    report_write_pdf(output, report);
    report->input.scene = NULL;
    if (made)
        scene_clear(&scene);
    engine_look_close(&look);
}

static void write_report(struct output *output, const void *context, const struct engine_result *run)
{
    const struct asked *asked = context;
    const struct report_options *options = asked->options;
    char title[300];
    run_title(title, sizeof title, asked->common);
    struct report report = {.title = text_file_name(title),
                            .trace = asked->common->inputs[0],
                            .findings = run->findings,
                            .stuck = run->stuck,
                            .may_hang = run->may_hang,
                            .left_over = run->left_over,
                            .input = {.metrics = run->metrics,
                                      .scaling = asked->scaling,
                                      .results = run->results,
                                      .by_bytes = choice_is(options->by, "bytes"),
                                      .own_colours = choice_is(options->colors, "mpe")}};
    /* The format was checked before the trace was read. */
    if (strcmp(report_format(options), "pdf") == 0)
        write_pdf(output, asked, run, &report);
    else
        write_html(output, asked, run, &report);
}

static int report(const struct asked *asked)
{
    return run_report(&(struct run_report){.common = asked->common,
                                           .target = &asked->options->target,
                                           .trace = &asked->options->trace,
                                           .wants = ENGINE_SEARCH | ENGINE_ANALYSIS | ENGINE_FINDINGS | ENGINE_COUNTERS,
                                           .context = asked,
                                           .write = write_report});
}

/* The largest of several runs, and how they scale. */
static int report_several(const struct report_options *options)
{
    struct common_options one = options->common;
    struct error err = {0};
    struct several_runs several = {0};
    struct scaling *scaling = NULL;
    enum status status = STATUS_OK;
    int code = EXIT_DONE;
    /* Those of all sizes are read without findings: only the largest is judged. */
    for (size_t i = 0; i < one.input_count && status == STATUS_OK; i++)
        status = several_runs_add(&several, &options->common, &options->trace, one.inputs[i], &code, &err);
    if (status == STATUS_OK)
        scaling = scaling_of(several.runs, several.count, false, &err);
    if (scaling) {
        /* The largest shows best what stops the program from scaling. */
        one.inputs += several_runs_largest(&several);
        one.input_count = 1;
        int result = report(&(struct asked){options, &one, scaling});
        if (result != EXIT_DONE)
            code = result;
    } else {
        code = command_fault(&err);
    }
    scaling_free(scaling);
    several_runs_clear(&several);
    return code;
}

int cmd_report(const struct command *command, const struct report_options *options)
{
    if (!options->target.path)
        return command_usage(command, "no output given (-o report.html)");
    if (!report_format(options))
        return command_usage(command, "cannot tell the format from the name '%s': give --format (html pdf)",
                             options->target.path);
    if (several_runs_given(options->common.inputs, options->common.input_count))
        return report_several(options);
    return report(&(struct asked){options, &options->common, NULL});
}
