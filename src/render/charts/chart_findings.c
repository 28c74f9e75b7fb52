/* SPDX-License-Identifier: BSD-3-Clause */
/* When the findings cost: for each a strip over the run's time, the darker the larger the share of all processes' time
   that it takes then; with room, also the higher. Where this is not known of any, what each could save, and the advice.
 */
#include "render/charts/chart.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/finding.h"
#include "render/charts/heat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FINDINGS_MOST = 10,
    RIGHT = 150,
    GAP = 22,
    ROW_LEAST = 40,
    ROW_UNKNOWN = 48, /* of a finding whose times are not known */
    NAME = 22,
    UNDER = 12,        /* free below a strip */
    COLUMNS_FROM = 48, /* height from which a strip shows columns: thinner ones are read better by colour alone */
    AXIS = 44,
    BAR = 10,
    ROW_SAVING = 76, /* where no course is known; from ROW_ADVICE on there is room for the advice */
    ROW_ADVICE = 58
};

/* A finding belongs to part of the run if it has this share of its time in less than this share of the run. */
static const double MAINLY = 0.8, LESS = 0.6;

/* The shortest range of bins with this share of the course; false: there is no course. */
static bool main_bins(const int64_t *course_ns, size_t *first, size_t *end)
{
    double all = 0, held = 0;
    size_t begin = 0;
    for (size_t bin = 0; bin < COURSE_BINS; bin++)
        all += (double)course_ns[bin];
    *first = 0;
    *end = COURSE_BINS;
    /* Two ends that only move forwards: the first is drawn up as long as the rest still holds the share. */
    for (size_t bin = 0; bin < COURSE_BINS && all > 0; bin++) {
        held += (double)course_ns[bin];
        while (held - (double)course_ns[begin] >= MAINLY * all)
            held -= (double)course_ns[begin++];
        if (held >= MAINLY * all && bin + 1 - begin < *end - *first) {
            *first = begin;
            *end = bin + 1;
        }
    }
    return all > 0;
}

/* "94.0 ms (52 %)" */
enum { SAVING_SIZE = 2 * TEXT_NUMBER_SIZE + 8 };
static char *saving_text(char text[SAVING_SIZE], const struct finding *finding)
{
    char time[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    if (finding->risk)
        snprintf(text, SAVING_SIZE, "may end the run");
    else
        snprintf(text, SAVING_SIZE, "%s (%s)", seconds_text(time, finding->saving_s),
                 text_share(share, finding->share));
    return text;
}

void chart_findings_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    struct findings findings = findings_of(input->metrics, input->results);
    const struct finding *first = findings.finding;
    int64_t duration_ns = input->metrics->analysis->duration;
    char from[TEXT_NUMBER_SIZE], to[TEXT_NUMBER_SIZE];
    size_t begin, end;
    if (findings.count == 0) {
        char none[FINDINGS_NONE_SIZE];
        size_t length = strlen(findings_none(&findings, none));
        /* A title has no full stop. */
        chart_say(answer, "%.*s", (int)length - 1, none);
    } else if (!main_bins(first->course_ns, &begin, &end)) {
        char saving[SAVING_SIZE];
        chart_say(answer, "%s — %s%s", first->title, first->risk ? "" : "could save up to ",
                  saving_text(saving, first));
    } else if ((double)(end - begin) > LESS * COURSE_BINS)
        chart_say(answer, "%s, throughout the run", first->title);
    else
        chart_say(answer, "%s, mostly between %s and %s of the run", first->title,
                  text_duration(from, course_edge(duration_ns, begin)),
                  text_duration(to, course_edge(duration_ns, end)));
    findings_clear(&findings);
}

/* Shares of all processes' time, in as many columns as have room. */
static struct heat strip_of(const struct finding *finding, const struct metrics *metrics, struct area area)
{
    size_t columns = COURSE_BINS;
    /* Halved, not cut to fit: bins are then always combined whole. */
    while (columns > 1 && area.width < 2 * (double)columns)
        columns /= 2;
    struct heat heat = heat_new(area, columns, 1, false);
    size_t each = COURSE_BINS / columns;
    /* Columns of any width without gaps, other than a heat map's whole pixels: the strip ends with its axis. */
    heat.grid.gap = 0;
    heat.grid.cell_width = area.width / (double)columns;
    for (size_t column = 0; column < columns; column++) {
        int64_t duration_ns = metrics->analysis->duration;
        double all = (double)(course_edge(duration_ns, (column + 1) * each) - course_edge(duration_ns, column * each)) *
                     (double)metrics->process_count;
        for (size_t bin = column * each; bin < (column + 1) * each; bin++)
            heat.values[column] += fmin(1, ratio_of((double)finding->course_ns[bin], all));
        heat.most = fmax(heat.most, heat.values[column]);
    }
    return heat;
}

/* Columns up to the values, in the colours of the scale. */
static void draw_columns(struct canvas *canvas, const struct heat *strip)
{
    const struct grid *grid = &strip->grid;
    double bottom = grid->y + grid->cell_height;
    for (size_t column = 0; column < strip->columns; column++) {
        double share = heat_share(strip, strip->values[column]), height = grid->cell_height * share;
        /* A little wider than it is: between neighbours the ground would shine through. */
        if (share > 0)
            canvas_rect(canvas, grid->x + (double)column * grid->cell_width, bottom - height, grid->cell_width + 0.3,
                        height, paint_level(share));
    }
    canvas_line(canvas, grid->x, bottom, grid->x + grid->cell_width * (double)strip->columns, bottom, 1,
                paint_of(INK_AXIS));
}

static void draw_names(struct canvas *canvas, const struct findings *findings, size_t place, double saving_x, double y,
                       struct area strip)
{
    const struct finding *finding = &findings->finding[place];
    struct text_style right = {.align = ALIGN_RIGHT}, muted = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    char name[700], saving[SAVING_SIZE], root[40];
    double room = strip.width;
    size_t cause = finding_root_place(findings, place);
    /* Room for the root is taken first: what is cut is the title. */
    if (cause < place) {
        snprintf(root, sizeof root, "caused by %zu", cause + 1);
        canvas_text(canvas, strip.x + strip.width, y, muted, root);
        room -= canvas_text_width(canvas, muted, root) + 16;
    }
    snprintf(name, sizeof name, "%zu. %s", place + 1, finding->title);
    canvas_text_cut(canvas, strip.x, y, room, (struct text_style){0}, name);
    if (saving_x > 0)
        canvas_text(canvas, saving_x, strip.y + strip.height / 2, right, saving_text(saving, finding));
}

/* When it happened is not known: the window of the finding, as a line. */
static void draw_window(struct canvas *canvas, const struct finding *finding, double duration_s, struct area strip)
{
    /* A window may begin before the first event or end after the last, by rounding of seconds. */
    double from = fmin(1, fmax(0, finding->from_s / duration_s)), to = fmin(1, fmax(from, finding->to_s / duration_s));
    canvas_rect(canvas, strip.x + from * strip.width, strip.y + strip.height / 2 - 1.5, (to - from) * strip.width, 3,
                paint_of(INK_PLAIN));
}

struct drawing {
    const struct findings *findings;
    size_t shown;
    struct area plot;              /* of the strips and their names */
    double top[FINDINGS_MOST + 1]; /* of each row, and where the last ends */
    double saving_x;               /* where savings end; 0: there is no room for them */
};

static void draw_strips(struct canvas *canvas, const struct chart_input *input, const struct drawing *drawing)
{
    struct heat *strips = memory_new(drawing->shown * sizeof *strips), scale = {0};
    double duration_s = (double)input->metrics->analysis->duration / 1e9;
    for (size_t i = 0; i < drawing->shown; i++) {
        struct area strip = {drawing->plot.x, drawing->top[i] + NAME - 4, drawing->plot.width,
                             drawing->top[i + 1] - drawing->top[i] - NAME - UNDER + 4};
        strips[i] = strip_of(&drawing->findings->finding[i], input->metrics, strip);
        /* One scale for all strips: findings are compared by colour. */
        scale.most = fmax(scale.most, strips[i].most);
    }
    for (size_t i = 0; i < drawing->shown; i++) {
        struct area strip = {strips[i].grid.x, strips[i].grid.y, drawing->plot.width, strips[i].grid.cell_height};
        bool known = strips[i].most > 0;
        /* Each strip was made with a maximum of its own. */
        strips[i].most = scale.most;
        if (known && strip.height >= COLUMNS_FROM)
            draw_columns(canvas, &strips[i]);
        else
            heat_draw(canvas, &strips[i]);
        if (!known)
            draw_window(canvas, &drawing->findings->finding[i], duration_s, strip);
        draw_names(canvas, drawing->findings, i, drawing->saving_x, drawing->top[i] + 8, strip);
        heat_clear(&strips[i]);
    }
    double bottom = drawing->top[drawing->shown];
    if (drawing->saving_x > 0 && scale.most > 0)
        heat_draw_scale(canvas, &scale, drawing->saving_x - RIGHT + GAP, bottom + 8, RIGHT - GAP,
                        "of all processes' time", text_share);
    free(strips);
}

/* Findings that were read from a file of an older version have none. */
static bool has_course(const struct finding *finding)
{
    for (size_t bin = 0; bin < COURSE_BINS; bin++)
        if (finding->course_ns[bin] > 0)
            return true;
    return false;
}

static size_t courses(const struct drawing *drawing)
{
    size_t known = 0;
    for (size_t i = 0; i < drawing->shown; i++)
        known += has_course(&drawing->findings->finding[i]);
    return known;
}

/* Rows fill the plot: the strips are what the chart is about. */
static void share_room(struct drawing *drawing)
{
    /* Findings without a course have a line at most to show: the room goes to the others. */
    double even = drawing->plot.height / (double)drawing->shown, unknown = fmin(even, ROW_UNKNOWN);
    size_t known = courses(drawing);
    double rest = drawing->plot.height - unknown * (double)(drawing->shown - known);
    drawing->top[0] = drawing->plot.y;
    for (size_t i = 0; i < drawing->shown; i++) {
        bool is_known = has_course(&drawing->findings->finding[i]);
        double height = unknown;
        if (is_known)
            height = rest / (double)known;
        drawing->top[i + 1] = drawing->top[i] + height;
    }
}

/* What each could save as a bar, the whole of which is the run; below it what to do. */
static void draw_savings(struct canvas *canvas, const struct drawing *drawing)
{
    const struct area plot = drawing->plot;
    double row = fmin(plot.height / (double)drawing->shown, ROW_SAVING);
    for (size_t i = 0; i < drawing->shown; i++) {
        const struct finding *finding = &drawing->findings->finding[i];
        char advice[sizeof finding->advice + 8];
        double y = plot.y + (double)i * row;
        struct area bar = {plot.x, y + NAME - 2, plot.width, BAR};
        canvas_rect(canvas, bar.x, bar.y, bar.width, BAR, paint_of(INK_GRID));
        /* The first is what the title is about. */
        canvas_rect(canvas, bar.x, bar.y, bar.width * fmin(1, fmax(0, finding->share)), BAR,
                    paint_of(i == 0 ? INK_ACCENT : INK_MPI));
        draw_names(canvas, drawing->findings, i, drawing->saving_x, y + 8, bar);
        snprintf(advice, sizeof advice, "→ %s", finding->advice);
        if (row >= ROW_ADVICE)
            canvas_text_cut(canvas, plot.x, bar.y + BAR + 13, plot.width, (struct text_style){.ink = INK_MUTED},
                            advice);
    }
}

static void draw_over_time(struct canvas *canvas, const struct chart_input *input, struct drawing *drawing)
{
    share_room(drawing);
    draw_strips(canvas, input, drawing);
    axis_draw_time(canvas, drawing->plot.x, drawing->plot.width, drawing->top[drawing->shown], 0,
                   (double)input->metrics->analysis->duration, "");
}

void chart_findings_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    struct findings findings = findings_of(input->metrics, input->results);
    double room = area.height - AXIS - 24;
    struct drawing drawing = {.findings = &findings, .shown = smaller(findings.count, FINDINGS_MOST)};
    bool side = area.width > 2.6 * RIGHT;
    /* Fewer rows that can be read, rather than all of them. */
    while (drawing.shown > 1 && room / (double)drawing.shown < ROW_LEAST)
        drawing.shown--;
    if (room >= ROW_LEAST) {
        char note[160] = "";
        struct text_style right = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
        drawing.plot = (struct area){area.x, area.y + 16, area.width - (side ? RIGHT : 8), room};
        if (side) {
            drawing.saving_x = area.x + area.width;
            canvas_text(canvas, drawing.saving_x, area.y, right, "could save");
        }
        if (courses(&drawing) > 0) {
            draw_over_time(canvas, input, &drawing);
        } else {
            draw_savings(canvas, &drawing);
            text_append(note, sizeof note,
                        "Bars: what could be saved of the run; when this time is lost is not known. ");
        }
        if (findings.count > drawing.shown)
            text_append(note, sizeof note, "%zu more cost less.", findings.count - drawing.shown);
        if (*note)
            chart_note(canvas, note);
    }
    findings_clear(&findings);
}
