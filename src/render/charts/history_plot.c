/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/history_plot.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum { MARGIN_LEFT = 78, MARGIN_RIGHT = 24, PLOT_TOP = 62, PLOT_BOTTOM = 44, TICKS = 4 };

/* Values from `low` to `high`, ticks between. */
struct scale {
    struct area area;
    double low, high, step;
    size_t runs;
};

char *history_value(char buffer[32], enum history_number number, double value)
{
    /* Beyond 9e9 s the nanoseconds would not fit into 64 bits; a file of history may hold anything. */
    if (number == HISTORY_time_s)
        return text_duration(buffer, llround(fmin(value, 9e9) * 1e9));
    return text_share(buffer, value);
}

char *history_change(char buffer[32], enum history_number number, const struct change_point *change)
{
    double moved = change->after - change->before;
    const char *sign = moved < 0 ? "−" : "+";
    if (number == HISTORY_time_s) {
        double percent = ratio_of(fabs(moved), change->before) * 100;
        snprintf(buffer, 32, "%s%.*f %%", sign, percent < 9.95 ? 1 : 0, percent);
    } else {
        /* A change of a share in per cent would be ambiguous: points are per cent of the whole. */
        snprintf(buffer, 32, "%s%.1f points", sign, fabs(moved) * 100);
    }
    return buffer;
}

char *history_date(char buffer[32], time_t when)
{
    struct tm parts;
    /* Local time: people remember days as they were where they work. */
    if (!localtime_r(&when, &parts) || strftime(buffer, 32, "%Y-%m-%d", &parts) == 0)
        snprintf(buffer, 32, "?");
    return buffer;
}

void history_plot_answer(const struct history_group *group, enum history_number number,
                         char answer[HISTORY_ANSWER_SIZE])
{
    const struct history_series *series = &group->series[number];
    char value[32], date[32], size[32];
    if (group->count < 2 * CHANGE_POINT_SIDE) {
        /* As in text: a change needs so many runs on either side to be more than chance. */
        snprintf(answer, HISTORY_ANSWER_SIZE, "%s: median %s; too few runs to see a change",
                 history_number_title(number), history_value(value, number, series->median));
    } else if (series->change_count == 0) {
        snprintf(answer, HISTORY_ANSWER_SIZE, "%s has not changed: %s", history_number_title(number),
                 history_value(value, number, series->median));
    } else {
        const struct change_point *last = &series->changes[series->change_count - 1];
        history_change(size, number, last);
        snprintf(answer, HISTORY_ANSWER_SIZE, "%s changed by %s on %s, and is %s since", history_number_title(number),
                 size, history_date(date, group->runs[last->at]->when), history_value(value, number, last->after));
    }
    answer[0] = (char)toupper((unsigned char)answer[0]);
}

/* Whole steps round all values. */
static struct scale scale_over(struct scale values, double span)
{
    struct scale scale = values;
    scale.step = axis_round_up(span / TICKS);
    /* No number of the history is negative: the axis ends at 0. */
    scale.low = fmax(0, floor((values.low - 0.05 * span) / scale.step) * scale.step);
    scale.high = ceil((values.high + 0.05 * span) / scale.step) * scale.step;
    return scale;
}

static int ticks_of(const struct scale *scale)
{
    return (int)lround((scale->high - scale->low) / scale->step);
}

/* True if two neighbouring ticks have the same label. */
static bool labels_repeat(const struct scale *scale, enum history_number number)
{
    char label[TEXT_NUMBER_SIZE], before[TEXT_NUMBER_SIZE] = "";
    for (int i = 0; i <= ticks_of(scale); i++) {
        history_value(label, number, scale->low + i * scale->step);
        if (strcmp(label, before) == 0)
            return true;
        snprintf(before, sizeof before, "%s", label);
    }
    return false;
}

static struct scale scale_of(const struct history_group *group, enum history_number number, struct area area)
{
    enum { TRIES = 16 };
    struct scale values = {area, INFINITY, -INFINITY, 1, group->count};
    for (size_t i = 0; i < group->count; i++) {
        values.low = fmin(values.low, group->runs[i]->numbers[number]);
        values.high = fmax(values.high, group->runs[i]->numbers[number]);
    }
    /* Values that hardly differ are not blown up: at least 2 % of the largest fill the plot. */
    double span = fmax(values.high - values.low, 0.02 * fmax(fabs(values.high), 1e-9));
    struct scale scale = scale_over(values, span);
    /* Nor more than their digits show. */
    for (int i = 0; i < TRIES && labels_repeat(&scale, number); i++) {
        span *= 2;
        scale = scale_over(values, span);
    }
    return scale;
}

static double place_y(const struct scale *scale, double value)
{
    return scale->area.y + scale->area.height * (scale->high - value) / (scale->high - scale->low);
}

/* Middle of a run's place; `run` may be between two. */
static double place_x(const struct scale *scale, double run)
{
    return scale->area.x + scale->area.width * (run + 0.5) / (double)scale->runs;
}

static void draw_values(struct canvas *canvas, const struct scale *scale, enum history_number number)
{
    struct text_style style = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    for (int i = 0; i <= ticks_of(scale); i++) {
        char label[TEXT_NUMBER_SIZE];
        double value = scale->low + i * scale->step, y = place_y(scale, value);
        canvas_line(canvas, scale->area.x, y, scale->area.x + scale->area.width, y, 1, paint_of(INK_GRID));
        canvas_text(canvas, scale->area.x - 10, y, style, history_value(label, number, value));
    }
}

/* The first and the last date, and those of changes where there is room. */
static void draw_dates(struct canvas *canvas, const struct scale *scale, const struct history_group *group,
                       const struct history_series *series)
{
    struct text_style style = {.align = ALIGN_CENTER, .ink = INK_MUTED};
    double y = scale->area.y + scale->area.height + 18;
    char date[32];
    /* Changes first: they matter more than the ends, which give way if there is no room. */
    for (size_t i = 0; i < series->change_count; i++)
        canvas_text(canvas, place_x(scale, (double)series->changes[i].at - 0.5), y,
                    (struct text_style){.align = ALIGN_CENTER},
                    history_date(date, group->runs[series->changes[i].at]->when));
    style.align = ALIGN_LEFT;
    canvas_text(canvas, scale->area.x, y, style, history_date(date, group->runs[0]->when));
    style.align = ALIGN_RIGHT;
    canvas_text(canvas, scale->area.x + scale->area.width, y, style,
                history_date(date, group->runs[group->count - 1]->when));
}

static void draw_runs(struct canvas *canvas, const struct scale *scale, const struct history_group *group,
                      enum history_number number)
{
    /* Hundreds of runs have smaller points, down to what can still be seen. */
    double radius = fmin(4, fmax(2, 0.3 * scale->area.width / (double)scale->runs));
    for (size_t i = 0; i < group->count; i++) {
        char date[32], value[32];
        canvas_tip(canvas, "%s, %s: %s", group->runs[i]->name, history_date(date, group->runs[i]->when),
                   history_value(value, number, group->runs[i]->numbers[number]));
        canvas_circle(canvas, place_x(scale, (double)i), place_y(scale, group->runs[i]->numbers[number]), radius,
                      paint_of(INK_PLAIN));
    }
}

/* The levels, and the changes between them. */
static void draw_levels(struct canvas *canvas, const struct scale *scale, const struct history_group *group,
                        enum history_number number)
{
    const struct history_series *series = &group->series[number];
    size_t count = series->change_count;
    for (size_t i = 0; i < count; i++) {
        const struct change_point *change = &series->changes[i];
        /* Between the last run before the change and the first after it. */
        double x = place_x(scale, (double)change->at - 0.5);
        char size[32];
        struct text_style style = {.align = ALIGN_CENTER, .bold = true};
        enum ink line = INK_COMPUTE;
        if (history_is_worse(number, change))
            line = style.ink = INK_ACCENT;
        canvas_dashes(canvas, x, scale->area.y, x, scale->area.y + scale->area.height, 1.2, paint_of(line));
        canvas_text(canvas, x, scale->area.y - 9, style, history_change(size, number, change));
    }
    for (size_t i = 0; i <= count; i++) {
        /* Between two changes the runs have one level: that before the next, or after the last. */
        double level = series->median;
        if (i < count)
            level = series->changes[i].before;
        else if (count > 0)
            level = series->changes[i - 1].after;
        double from = 0, to = (double)group->count;
        if (i > 0)
            from = (double)series->changes[i - 1].at;
        if (i < count)
            to = (double)series->changes[i].at;
        canvas_line(canvas, place_x(scale, from - 0.5), place_y(scale, level), place_x(scale, to - 0.5),
                    place_y(scale, level), 2, paint_of(INK_MPI));
    }
}

void history_plot_draw(struct canvas *canvas, const struct history_group *group, enum history_number number)
{
    struct area area = {MARGIN_LEFT, PLOT_TOP, canvas_width(canvas) - MARGIN_LEFT - MARGIN_RIGHT,
                        canvas_height(canvas) - PLOT_TOP - PLOT_BOTTOM};
    struct scale scale = scale_of(group, number, area);
    char answer[HISTORY_ANSWER_SIZE];
    history_plot_answer(group, number, answer);
    /* The plot is no chart of a run: it paints its own ground and title. */
    canvas_rect(canvas, 0, 0, canvas_width(canvas), canvas_height(canvas), paint_of(INK_BACK));
    canvas_text_cut(canvas, 24, 22, canvas_width(canvas) - 48, (struct text_style){.size = 16, .bold = true}, answer);
    draw_values(canvas, &scale, number);
    draw_runs(canvas, &scale, group, number);
    draw_levels(canvas, &scale, group, number);
    draw_dates(canvas, &scale, group, &group->series[number]);
}
