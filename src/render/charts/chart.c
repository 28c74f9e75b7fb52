/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/chart.h"

#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/finding.h"
#include "heuristics/traffic.h"
#include "profile/counters.h"
#include "profile/profile.h"
#include "render/functions.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool chart_can(const struct chart *chart, const struct chart_input *input)
{
    const struct metrics *metrics = input->metrics;
    if (chart->needs == NEEDS_EVENTS)
        return input->scene != NULL;
    if (chart->needs == NEEDS_SIZES)
        return !metrics->tables_unknown;
    if (chart->needs == NEEDS_ITERATIONS)
        /* Without a loop that all processes have in common there are no iterations to show. */
        return metrics->phases && metrics->phases->process_count == metrics->process_count &&
               metrics->phases->iterations.loop != PHASE_NONE;
    if (chart->needs == NEEDS_SAMPLES)
        return metrics->profile && metrics->profile->ns > 0;
    if (chart->needs == NEEDS_COUNTERS)
        return metrics->counters && metrics->counters->count > 0 && !metrics->counters->sums;
    if (chart->needs == NEEDS_SCALING)
        return input->scaling != NULL;
    if (chart->needs == NEEDS_SEARCH)
        return metrics->search != NULL;
    if (chart->needs == NEEDS_FACTORS && input->scaling)
        return true;
    bool needs_analysis = chart->needs == NEEDS_ANALYSIS || chart->needs == NEEDS_FACTORS;
    return !needs_analysis || (metrics->analysis && metrics->analysis->process_count == metrics->process_count);
}

/* Messages that have both ends in the trace: those alone are drawn. */
static bool has_messages(const struct chart_input *input)
{
    struct traffic traffic = traffic_of(input->metrics);
    bool some = traffic.count > 0;
    traffic_clear(&traffic);
    return some;
}

static bool has_sizes(const struct chart_input *input)
{
    for (size_t i = 0; i < input->metrics->size_count; i++)
        if (input->metrics->sizes[i].sent + input->metrics->sizes[i].received > 0)
            return true;
    return false;
}

static bool has_calls(const struct chart_input *input)
{
    return functions_of(input->metrics).count > 0;
}

static bool has_findings(const struct chart_input *input)
{
    struct findings findings = findings_of(input->metrics, input->results);
    bool some = findings.count > 0;
    findings_clear(&findings);
    return some;
}

static bool has_waits(const struct chart_input *input)
{
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        if (input->metrics->analysis->waits[kind].ns > 0)
            return true;
    return false;
}

const char *chart_lack(const struct chart *chart, const struct chart_input *input)
{
    static const struct {
        bool (*is_there)(const struct chart_input *input);
        const char *why;
    } shown[SHOWS_COUNT] = {
        [SHOWS_MESSAGES] = {has_messages,
                            "Messages are drawn if both of their ends are in the trace. Collective calls, "
                            "as MPI_Allreduce, are no messages: see the charts activity and waits."},
        [SHOWS_SIZES] = {has_sizes, "Collective calls, as MPI_Allreduce, are no messages: see the charts activity and "
                                    "waits."},
        [SHOWS_CALLS] = {has_calls, "The trace has no calls of MPI functions, or they take no time. What else the "
                                    "processes do is in the chart timeline."},
        [SHOWS_FINDINGS] = {has_findings, "A problem that costs more would have a row here: what it is, when it costs "
                                          "time, and how much of the run could be saved."},
        [SHOWS_WAITS] = {has_waits, "A wait is known if the trace has both the call that waits and the one that it "
                                    "waits for."},
    };
    if (!shown[chart->shows].is_there || shown[chart->shows].is_there(input))
        return NULL;
    return shown[chart->shows].why;
}

bool chart_plot(struct area area, double side_width, struct area *plot)
{
    bool side = area.width > 2.2 * side_width;
    *plot = (struct area){area.x + AXIS_LABELS, area.y + 24, area.width - AXIS_LABELS - (side ? side_width : 8),
                          area.height - 24 - 44};
    return side;
}

void chart_say(char answer[CHART_ANSWER_SIZE], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(answer, CHART_ANSWER_SIZE, format, args);
    va_end(args);
    text_end_whole(answer);
    /* Sentences may begin with a name of the trace or with a time: only ASCII letters change. */
    answer[0] = (char)toupper((unsigned char)answer[0]);
}

void chart_answer(const struct chart *chart, const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    /* The reasons why a chart cannot be drawn, the most particular first. */
    if (input->metrics->process_count == 0)
        chart_say(answer, "There are no events in this trace");
    else if (chart->needs == NEEDS_ITERATIONS && input->metrics->phases && !chart_can(chart, input))
        chart_say(answer, "The processes have no iterations in common");
    else if (!chart_can(chart, input) && chart->needs == NEEDS_SCALING)
        chart_say(answer, "%s: unknown without runs of several sizes", chart->title);
    else if (!chart_can(chart, input) && chart->needs == NEEDS_SAMPLES)
        chart_say(answer, "%s: unknown without samples, which sight record takes", chart->title);
    else if (!chart_can(chart, input) && chart->needs == NEEDS_COUNTERS)
        chart_say(answer, "%s: unknown without counters in the trace", chart->title);
    else if (!chart_can(chart, input))
        chart_say(answer, "%s: unknown without the events of the whole run", chart->title);
    else
        chart->answer(input, answer);
}

void chart_describe(const struct chart *chart, const struct chart_input *input,
                    char description[CHART_DESCRIPTION_SIZE])
{
    char answer[CHART_ANSWER_SIZE], processes[TEXT_NUMBER_SIZE];
    chart_answer(chart, input, answer);
    /* For people who do not see the picture: title, question and answer in words. */
    snprintf(description, CHART_DESCRIPTION_SIZE, "%s: %s %s. %s process%s.", chart->title, chart->question, answer,
             text_thousands(processes, input->metrics->process_count),
             text_plural(input->metrics->process_count, "", "es"));
    text_end_whole(description);
}

void chart_note(struct canvas *canvas, const char *text)
{
    struct text_style style = {.ink = INK_MUTED};
    double room = canvas_width(canvas) - 2 * CHART_MARGIN;
    canvas_text_cut(canvas, CHART_MARGIN, canvas_height(canvas) - 16, room, style, text);
}

void chart_legend(struct canvas *canvas, double x, double y, double width, struct paint paint, const char *name,
                  const char *value)
{
    double room = width - 20;
    canvas_rect(canvas, x, y - 6, 12, 12, paint);
    if (value) {
        struct text_style right = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
        canvas_text(canvas, x + width, y, right, value);
        /* The name gives way to the value, which cannot be cut. */
        room -= canvas_text_width(canvas, right, value) + 10;
    }
    canvas_text_cut(canvas, x + 20, y, room, (struct text_style){0}, name);
}

/* A chart smaller than this says no more than its title. */
enum { WIDTH_LEAST = 140, HEIGHT_LEAST = 120 };

/* Lines of words are read best at about this length. */
enum { LACK_WIDTH = 560 };

/* Small ones have small titles, in a line or two. */
enum { SMALL_WIDTH = 600, SMALL_HEIGHT = 360, SMALL_TITLE = 15 };

/* Lines that there is room for from y on. */
static size_t lines_for(struct canvas *canvas, double y, struct text_style style)
{
    double room = canvas_height(canvas) - 8 - y;
    if (room <= 0)
        return 0;
    return (size_t)(room / canvas_line_height(style));
}

void chart_draw(const struct chart *chart, struct canvas *canvas, const struct chart_input *input)
{
    char answer[CHART_ANSWER_SIZE], subtitle[256];
    bool small = canvas_width(canvas) < SMALL_WIDTH || canvas_height(canvas) < SMALL_HEIGHT;
    double width = canvas_width(canvas) - 2 * CHART_MARGIN, y = 20;
    chart_answer(chart, input, answer);
    struct text_style title = {.size = TEXT_TITLE, .bold = true}, muted = {.size = TEXT_SUBTITLE, .ink = INK_MUTED};
    if (small)
        title.size = SMALL_TITLE;
    size_t lines = lines_for(canvas, y, title);
    /* A last line of one word looks like a mistake. */
    double even = canvas_even_room(canvas, width, lines, title, answer);
    y += canvas_paragraph_cut(canvas, CHART_MARGIN, y, even, lines, title, answer);
    snprintf(subtitle, sizeof subtitle, "%s — %s", chart->title, chart->question);
    lines = lines_for(canvas, y + 2, muted);
    const char *second = subtitle;
    if (small) {
        second = chart->title;
        lines = smaller(lines, 1);
    }
    y += 2 + canvas_paragraph_cut(canvas, CHART_MARGIN, y + 2, width, lines, muted, second);
    struct area area = {CHART_MARGIN, y + 24, width, canvas_height(canvas) - y - 24 - 36};
    /* A chart without room is its title: that is the answer, and it is right. */
    if (input->metrics->process_count == 0 || !chart_can(chart, input) || area.height < HEIGHT_LEAST ||
        area.width < WIDTH_LEAST)
        return;
    const char *lack = chart_lack(chart, input);
    if (lack)
        canvas_paragraph(canvas, area.x, area.y, fmin(area.width, LACK_WIDTH), (struct text_style){.ink = INK_MUTED},
                         lack);
    else
        chart->draw(canvas, input, area);
}
