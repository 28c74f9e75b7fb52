/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/own_numbers.h"
#include "cli/several_runs.h"
#include "core/guess.h"
#include "core/memory.h"
#include "core/text.h"
#include "query/answer_plot.h"
#include "render/charts/counter_graphs.h"
#include "render/charts/picture.h"
#include "render/charts/scene.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Cairo's pictures have at most this many pixels per side, and a gigabyte of them is useless. */
static const double PIXELS_A_SIDE = 32767, PIXELS = 2.5e8;

/* How fine the cells of a timeline are, and how many states at most are drawn one by one: a picture has a limit. */
enum { COLUMN_PIXELS = 2, LINE_PIXELS = 5, SCENE_STATES = 5000 };

struct charts {
    const struct chart **chart;
    size_t count, capacity;
};

static enum status unknown_chart(const char *name, int length, struct error *err)
{
    /* a near name is better than a list, a list better than nothing */
    char names[256] = "", nearest[GUESS_TEXT];
    struct guess guess = guess_of(name, (size_t)length);
    for (size_t i = 0; i < chart_count(); i++) {
        text_append(names, sizeof names, " %s", chart_at(i)->name);
        guess_try(&guess, chart_at(i)->name);
    }
    if (guess.best)
        return error_set(err, ERROR_USAGE, "unknown chart '%.*s'%s", length, name, guess_text(nearest, &guess, "", ""));
    return error_set(err, ERROR_USAGE, "unknown chart '%.*s'; there are:%s (or all)", length, name, names);
}

/* "compute,balance" or "all", in the order of the list: it is that of pages. */
static enum status charts_parse(const char *names, struct charts *charts, struct error *err)
{
    bool all = strcmp(names, "all") == 0;
    for (size_t i = 0; all && i < chart_count(); i++)
        ARRAY_PUSH(charts->chart, charts->count, charts->capacity, chart_at(i));
    for (const char *at = names; !all; at++) {
        char name[32];
        int length = (int)strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", length, at);
        const struct chart *chart = chart_find(name);
        if (!chart)
            return unknown_chart(at, length, err);
        ARRAY_PUSH(charts->chart, charts->count, charts->capacity, chart);
        at += length;
        if (!*at)
            break;
    }
    return STATUS_OK;
}

static double number_or(const struct number_option *number, double usual)
{
    return number->text ? (double)number->value : usual;
}

/* Sizes are in pixels of 1/96 inch (CSS); only a PNG has pixels of its own, as many as --dpi asks for. */
static enum status picture_options(const struct chart_options *options, struct picture *picture, struct error *err)
{
    *picture = (struct picture){.width = number_or(&options->width, CHART_WIDTH),
                                .height = number_or(&options->height, CHART_HEIGHT),
                                .dpi = number_or(&options->dpi, 96)};
    const char *format = options->format.word;
    if (!format)
        format = options->target.path;
    /* no known suffix: a directory of SVG, if check_output does not refuse it */
    if (!picture_kind(format, &picture->kind) && !options->format.word)
        picture->kind = CANVAS_SVG;
    double wide = picture->width * picture->dpi / 96, high = picture->height * picture->dpi / 96;
    if (picture->kind == CANVAS_PNG && (wide > PIXELS_A_SIDE || high > PIXELS_A_SIDE || wide * high > PIXELS))
        return error_set(err, ERROR_USAGE, "a PNG of %.0f x %.0f pixels is too large: lower --dpi", wide, high);
    picture->theme = THEME_LIGHT;
    if (choice_is(options->theme, "dark"))
        picture->theme = THEME_DARK;
    picture->input.by_bytes = choice_is(options->by, "bytes");
    picture->input.own_colours = choice_is(options->colors, "mpe");
    return STATUS_OK;
}

static void write_picture(struct output *output, const void *context)
{
    picture_write(output, context);
}

/* Several charts that do not fit into one file: a file each in a directory, created if missing. */
static int write_directory(const struct target_options *target, const struct picture *picture, int code)
{
    struct error err = {0};
    char path[4096];
    if (mkdir(target->path, 0777) != 0 && errno != EEXIST) {
        (void)error_set(&err, ERROR_OUTPUT, "%s: cannot create the directory: %s", target->path, strerror(errno));
        return command_fault(&err);
    }
    /* The first fault ends it: a full disk would not have room for the next chart either. */
    for (size_t i = 0; i < picture->count; i++) {
        struct picture one = *picture;
        one.charts = &picture->charts[i];
        one.count = 1;
        snprintf(path, sizeof path, "%s/%s.%s", target->path, picture->charts[i]->name, picture_suffix(picture->kind));
        const struct target_options where = {path, target->force};
        int result = run_output(NULL, &where, write_picture, &one, code);
        if (result != code)
            return result;
    }
    return code;
}

static bool is_directory(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Where one file will not do, it must be a directory; a suffix in its name says that a file was meant. */
static enum status check_output(const struct chart_options *options, const struct picture *picture, bool *directory,
                                struct error *err)
{
    enum canvas_kind kind;
    bool pages = picture->kind == CANVAS_PDF || picture->kind == CANVAS_PS;
    const char *path = options->target.path;
    /* "charts.d" has a dot, and is no name of a picture. */
    bool named = picture_kind(path, &kind) && strchr(path, '.');
    *directory = is_directory(path) || (picture->count > 1 && !pages && !named);
    if (*directory || (picture->count > 1 && pages))
        return STATUS_OK;
    if (picture->count > 1)
        return error_set(err, ERROR_USAGE, "%s: a .%s file holds one chart: give a directory or a .pdf", path,
                         picture_suffix(picture->kind));
    if (!named && !options->format.word)
        return error_set(err, ERROR_USAGE, "cannot tell the format from the name '%s': give --format (svg pdf png ps)",
                         path);
    return STATUS_OK;
}

/* Each fault says what would have to be given instead. A chart that cannot be drawn is a fault if it was requested by
 * name, and left out if all were requested. */
static enum status check_charts(const struct common_options *common, struct picture *picture, struct charts *charts,
                                struct error *err)
{
    bool all = strcmp(common->inputs[0], "all") == 0;
    size_t kept = 0;
    for (size_t i = 0; i < charts->count; i++) {
        const struct chart *chart = charts->chart[i];
        if (chart_can(chart, &picture->input)) {
            charts->chart[kept++] = chart;
            continue;
        }
        if (!all && chart->needs == NEEDS_EVENTS)
            return error_set(err, ERROR_USAGE, "%s: chart '%s' needs events: give the trace as a file",
                             common->inputs[1], chart->name);
        if (!all && chart->needs == NEEDS_SCALING)
            return error_set(err, ERROR_USAGE, "chart '%s' needs runs of several sizes: a file each", chart->name);
        if (!all && chart->needs == NEEDS_SAMPLES)
            return error_set(err, ERROR_USAGE,
                             "%s: has no samples, which sight record takes by default: chart '%s' has "
                             "nothing to show",
                             common->inputs[1], chart->name);
        if (!all && chart->needs == NEEDS_COUNTERS)
            return error_set(err, ERROR_USAGE, "%s: has no readings of counters: chart '%s' has nothing to show",
                             common->inputs[1], chart->name);
        if (!all && chart->needs == NEEDS_SIZES)
            return error_set(err, ERROR_USAGE,
                             "%s: a metrics file has no message sizes by process: --processes needs the trace for that",
                             common->inputs[1]);
        if (!all && chart->needs == NEEDS_ITERATIONS && picture->input.metrics->phases)
            return error_set(err, ERROR_USAGE,
                             "%s: the processes have no iterations in common: chart 'iterations' has nothing to show",
                             common->inputs[1]);
        if (!all)
            return error_set(
                err, ERROR_USAGE,
                "%s: chart '%s' needs the events of the whole run: a trace without --from, --to, --processes",
                common->inputs[1], chart->name);
    }
    picture->count = charts->count = kept;
    return STATUS_OK;
}

static int write_charts(const struct target_options *target, const struct picture *picture, bool directory, int code)
{
    if (directory)
        return write_directory(target, picture, code);
    return run_output(NULL, target, write_picture, picture, code);
}

/* The window of the chart of events, if it is among the charts and there are events. */
static enum status make_scene(const struct common_options *common, const struct trace_options *trace,
                              const struct picture *picture, const struct charts *charts, struct engine_look *look,
                              struct scene *scene, bool *made, struct error *err)
{
    bool wanted = false, standard = false; /* an index cannot be made of standard input, which is read only once */
    *made = false;
    for (size_t i = 0; i < charts->count; i++)
        wanted = wanted || charts->chart[i]->needs == NEEDS_EVENTS;
    for (size_t i = 0; i < common->input_count; i++)
        standard = standard || strcmp(common->inputs[i], "-") == 0;
    if (!wanted || standard)
        return STATUS_OK;
    const struct engine_request request = {.inputs = common->inputs, .input_count = common->input_count};
    if (engine_check_trace(&request, err) != STATUS_OK) {
        /* A metrics file has no events, which check_charts reports if it matters; everything else is a fault. */
        if (err->kind != ERROR_USAGE)
            return STATUS_FAILED;
        *err = (struct error){0};
        return STATUS_OK;
    }
    if (ask_look(common, trace, false, look, err) != STATUS_OK)
        return STATUS_FAILED;
    struct scene_options how = {.columns = (uint32_t)(picture->width / COLUMN_PIXELS),
                                .lines = (uint32_t)(picture->height / LINE_PIXELS),
                                .counter_lines = COUNTER_GRAPH_PIXELS / LINE_PIXELS + 1,
                                .states = SCENE_STATES};
    enum status status = scene_make(scene, look->timeline, &look->view, how, err);
    *made = status == STATUS_OK;
    return status;
}

/* The look across processes takes memory with the calls of the run: not for charts that need events alone. */
static unsigned wants_of(const struct charts *charts)
{
    unsigned wants = ENGINE_HEURISTICS;
    for (size_t i = 0; i < charts->count; i++) {
        if (charts->chart[i]->needs != NEEDS_EVENTS)
            wants |= ENGINE_ANALYSIS | ENGINE_PHASES | ENGINE_SEARCH;
        if (charts->chart[i]->needs == NEEDS_SAMPLES)
            wants |= ENGINE_PROFILE;
        if (charts->chart[i]->needs == NEEDS_COUNTERS)
            wants |= ENGINE_COUNTERS;
    }
    return wants;
}

static int draw_charts(const struct target_options *target, struct picture *picture, const struct metrics *metrics,
                       bool directory)
{
    int code = run_report_damage(&metrics->end, time_since(metrics->begin_ns, metrics->end_ns));
    return write_charts(target, picture, directory, code);
}

/* Charts of several runs, and of the largest: it shows best what stops the program from scaling. */
static int draw_several(const struct chart_options *options, struct picture *picture, struct charts *charts)
{
    struct error err = {0};
    struct several_runs several = {0};
    struct scaling *scaling = NULL;
    bool directory;
    int code = EXIT_DONE;
    enum status status = check_output(options, picture, &directory, &err);
    for (size_t i = 1; i < options->common.input_count && status == STATUS_OK; i++)
        status = several_runs_add(&several, &options->common, &options->trace, options->common.inputs[i], &code, &err);
    if (status == STATUS_OK)
        scaling = scaling_of(several.runs, several.count, false, &err);
    if (scaling) {
        size_t largest = several_runs_largest(&several);
        struct heuristic_result *results = heuristics_judge(several.runs[largest].metrics);
        picture->input.scaling = scaling;
        picture->input.metrics = several.runs[largest].metrics;
        picture->input.results = results;
        if (check_charts(&options->common, picture, charts, &err) != STATUS_OK)
            code = command_fault(&err);
        else
            code = write_charts(&options->target, picture, directory, code);
        heuristics_free(results);
    } else {
        code = command_fault(&err);
    }
    scaling_free(scaling);
    several_runs_clear(&several);
    return code;
}

/* Opening the files to see what they are takes as long as reading them: only charts of sizes need to know.
   `chart scaling` is always of several runs; others are where the files are whole runs. */
static bool is_of_several(const struct common_options *common, const struct charts *charts)
{
    bool of_sizes = false;
    for (size_t i = 0; i < charts->count; i++) {
        if (charts->chart[i]->needs == NEEDS_SCALING && strcmp(common->inputs[0], "all") != 0)
            return common->input_count > 2;
        of_sizes |= strcmp(charts->chart[i]->name, "efficiency") == 0;
    }
    return of_sizes && several_runs_given(common->inputs + 1, common->input_count - 1);
}

static int draw(const struct chart_options *options, struct picture *picture, struct charts *charts)
{
    struct error err = {0};
    bool directory, made = false;
    struct engine_result *run = NULL;
    struct engine_look look = {0};
    struct scene scene;
    struct common_options common = options->common;
    int code;
    common.inputs++; /* after the chart's name */
    common.input_count--;
    if (check_output(options, picture, &directory, &err) == STATUS_OK &&
        make_scene(&common, &options->trace, picture, charts, &look, &scene, &made, &err) == STATUS_OK)
        run = ask(&common, &options->trace, wants_of(charts), &err);
    if (run)
        picture->input.metrics = run->metrics;
    if (made)
        picture->input.scene = &scene;
    if (!run || check_charts(&options->common, picture, charts, &err) != STATUS_OK) {
        code = command_fault(&err);
    } else {
        picture->input.results = run->results;
        code = draw_charts(&options->target, picture, run->metrics, directory);
    }
    if (made)
        scene_clear(&scene);
    picture->input.scene = NULL; /* the picture outlives it */
    engine_look_close(&look);
    engine_free(run);
    return code;
}

/* A metric of --definitions, as a bar for each process. */

struct own_chart {
    const struct picture *picture;
    const struct answer *answer;
};

static void write_own(struct output *output, const void *context)
{
    const struct own_chart *chart = context;
    answer_plot_write(output, chart->picture->kind, chart->picture->width, chart->picture->height, chart->answer);
}

static int draw_own(const struct chart_options *options, const struct picture *picture)
{
    struct error err = {0};
    struct own_metrics own;
    struct common_options common = options->common;
    const char *name = common.inputs[0];
    common.inputs++; /* after the metric's name */
    common.input_count--;
    enum status status = own_numbers_ask(&own, options->definitions, name, &common, &options->trace, &err);
    int code;
    if (status == STATUS_OK)
        code = run_output(&options->common, &options->target, write_own, &(struct own_chart){picture, &own.processes},
                          run_report_damage(&own.end, -1));
    else
        code = command_fault(&err);
    own_metrics_clear(&own);
    return code;
}

int cmd_chart(const struct command *command, const struct chart_options *options)
{
    struct error err = {0};
    struct charts charts = {0};
    struct picture picture;
    int code;
    bool own = options->definitions != NULL;
    if (options->common.input_count == 0)
        return command_usage(command, "no chart given");
    if (!own && charts_parse(options->common.inputs[0], &charts, &err) != STATUS_OK)
        code = access(options->common.inputs[0], F_OK) == 0 ? command_usage(command, "no chart named before the trace")
                                                            : command_fault(&err);
    else if (options->common.input_count == 1)
        code = command_usage(command, "no trace given");
    else if (!options->target.path)
        code = command_usage(command, "no output given (-o %s.svg)",
                             own ? options->common.inputs[0] : charts.chart[0]->name);
    else if (picture_options(options, &picture, &err) != STATUS_OK)
        code = command_fault(&err);
    else if (own)
        code = draw_own(options, &picture);
    else {
        picture.charts = charts.chart;
        picture.count = charts.count;
        if (is_of_several(&options->common, &charts))
            code = draw_several(options, &picture, &charts);
        else
            code = draw(options, &picture, &charts);
    }
    free(charts.chart);
    return code;
}
