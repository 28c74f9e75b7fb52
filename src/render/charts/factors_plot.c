/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/factors_plot.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "render/charts/size_axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE_WIDTH = 230, LABEL_ROOM = 44, LINE_ROOM = 20 };

/* POP's limit of what is acceptable. */
static const double ACCEPTABLE = 0.8;

enum { GLOBAL, BALANCE, SERIALISATION, TRANSFER, COMMUNICATION, COMPUTATION, OPENMP, FACTORS };

static const struct factor {
    const char *name;
    size_t at;
    enum ink ink;
} factors[FACTORS] = {
    {"global efficiency", offsetof(struct scaling_size, global), INK_TEXT},
    {"load balance", offsetof(struct scaling_size, load_balance), INK_FUNCTION},
    {"serialisation", offsetof(struct scaling_size, serialisation), INK_FUNCTION + THEME_VARIANTS},
    {"transfer", offsetof(struct scaling_size, transfer), INK_FUNCTION + 2 * THEME_VARIANTS},
    {"communication", offsetof(struct scaling_size, communication), INK_FUNCTION + 3 * THEME_VARIANTS},
    {"computation scalability", offsetof(struct scaling_size, computation), INK_FUNCTION + 4 * THEME_VARIANTS},
    {"OpenMP", offsetof(struct scaling_size, openmp), INK_FUNCTION + 5 * THEME_VARIANTS},
};

static double factor_of(const struct scaling_size *size, size_t factor)
{
    double value;
    /* The factor's place in the structure is an offset: copying needs no cast that would break aliasing rules. */
    memcpy(&value, (const char *)size + factors[factor].at, sizeof value);
    return value;
}

/* Communication is shown where it cannot be divided into serialisation and transfer. */
static bool is_shown(const struct scaling *scaling, size_t factor)
{
    bool divided = true, known = false;
    for (size_t i = 0; i < scaling->size_count; i++) {
        divided &= isfinite(scaling->sizes[i].serialisation);
        /* A factor that no run has is not drawn; without a replay, transfer and serialisation are unknown. */
        known |= isfinite(factor_of(&scaling->sizes[i], factor));
    }
    if (factor == COMMUNICATION)
        return known && !divided;
    return known && (divided || (factor != SERIALISATION && factor != TRANSFER));
}

/* The factor that is missing most at the largest size; FACTORS: none is below what is acceptable. */
static size_t worst_of(const struct scaling *scaling)
{
    const struct scaling_size *last = &scaling->sizes[scaling->size_count - 1];
    size_t worst = FACTORS;
    double least = ACCEPTABLE;
    for (size_t i = BALANCE; i < FACTORS; i++)
        if (is_shown(scaling, i) && factor_of(last, i) < least) {
            worst = i;
            least = factor_of(last, i);
        }
    return worst;
}

void factors_plot_answer(const struct scaling *scaling, char answer[CHART_ANSWER_SIZE])
{
    const struct scaling_size *last = &scaling->sizes[scaling->size_count - 1];
    size_t worst = worst_of(scaling);
    char global[TEXT_NUMBER_SIZE] = "not known", share[TEXT_NUMBER_SIZE];
    /* Relative to a smallest run that does not compute it has no value. */
    if (isfinite(last->global))
        text_share(global, last->global);
    if (worst == FACTORS)
        chart_say(answer, "With %.0f %s the global efficiency is %s, and no factor is below 80 %%", scaling_n(last),
                  axis_size_name(scaling), global);
    else
        chart_say(answer, "With %.0f %s the global efficiency is %s; the least factor is %s, %s", scaling_n(last),
                  axis_size_name(scaling), global, factors[worst].name, text_share(share, factor_of(last, worst)));
}

static double place(struct area plot, double top, double share)
{
    /* A factor above the top (a superlinear one) is drawn at the top. */
    return plot.y + plot.height * (1 - fmin(share, top) / top);
}

static void draw_shares(struct canvas *canvas, struct area plot, double top)
{
    struct text_style style = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    /* 0.2 is not exact in binary: the last tick would be missing at times. */
    for (int tick = 0; tick * 0.2 <= top + 1e-9; tick++) {
        char label[TEXT_NUMBER_SIZE];
        double y = place(plot, top, tick * 0.2);
        canvas_line(canvas, plot.x, y, plot.x + plot.width, y, 1, paint_of(INK_GRID));
        snprintf(label, sizeof label, "%d %%", tick * 20);
        canvas_text(canvas, plot.x - 10, y, style, label);
    }
    double limit = place(plot, top, ACCEPTABLE);
    canvas_dashes(canvas, plot.x, limit, plot.x + plot.width, limit, 1, paint_of(INK_AXIS));
}

static void draw_factor(struct canvas *canvas, const struct scaling *scaling, const struct size_axis *axis,
                        struct area plot, double top, size_t factor, bool is_worst)
{
    bool strong = factor == GLOBAL || is_worst;
    struct paint paint = paint_of(factors[factor].ink);
    if (is_worst)
        paint = paint_of(INK_ACCENT);
    struct point *points = memory_new(scaling->size_count * sizeof *points);
    size_t count = 0;
    for (size_t i = 0; i < scaling->size_count; i++) {
        double share = factor_of(&scaling->sizes[i], factor);
        /* A size whose runs do not have the factor has no point; the line goes past it. */
        if (isfinite(share))
            points[count++] = (struct point){axis_size_x(axis, scaling_n(&scaling->sizes[i])), place(plot, top, share)};
    }
    if (count > 1)
        canvas_polyline(canvas, points, count, strong ? 3 : 1.8, paint);
    for (size_t i = 0; i < count; i++)
        canvas_circle(canvas, points[i].x, points[i].y, strong ? 4.5 : 3.5, paint);
    free(points);
}

struct named {
    size_t factor;
    double y;
};

static int by_place(const void *a, const void *b)
{
    const struct named *left = a, *right = b;
    return order_by(left->y, right->y);
}

/* Names at the ends of the lines, pushed apart where they would touch. */
static void draw_names(struct canvas *canvas, const struct scaling *scaling, struct area plot, double top, size_t worst)
{
    const struct scaling_size *last = &scaling->sizes[scaling->size_count - 1];
    struct named names[FACTORS];
    size_t count = 0;
    for (size_t i = 0; i < FACTORS; i++)
        if (is_shown(scaling, i) && isfinite(factor_of(last, i)))
            names[count++] = (struct named){i, place(plot, top, factor_of(last, i))};
    qsort(names, count, sizeof *names, by_place);
    /* First down from the top, then up from the bottom where the last would leave the plot. */
    for (size_t i = 1; i < count; i++)
        names[i].y = fmax(names[i].y, names[i - 1].y + LINE_ROOM);
    double bottom = plot.y + plot.height;
    for (size_t i = count; i-- > 0; bottom = names[i].y - LINE_ROOM)
        names[i].y = fmin(names[i].y, bottom);
    for (size_t i = 0; i < count; i++) {
        size_t factor = names[i].factor;
        char label[96], share[TEXT_NUMBER_SIZE];
        bool strong = factor == GLOBAL || factor == worst;
        enum ink square = factors[factor].ink;
        struct text_style style = {.bold = strong};
        if (factor == worst)
            square = style.ink = INK_ACCENT;
        snprintf(label, sizeof label, "%s  %s", factors[factor].name, text_share(share, factor_of(last, factor)));
        canvas_rect(canvas, plot.x + plot.width + 14, names[i].y - 5, 10, 10, paint_of(square));
        canvas_text(canvas, plot.x + plot.width + 30, names[i].y, style, label);
    }
}

void factors_plot_draw(struct canvas *canvas, const struct scaling *scaling, struct area area)
{
    struct area plot = {area.x + AXIS_LABELS, area.y + 12, area.width - AXIS_LABELS - SIDE_WIDTH,
                        area.height - 12 - LABEL_ROOM};
    size_t worst = worst_of(scaling);
    double top = 1;
    if (plot.width < CHART_PLOT_LEAST || plot.height < CHART_PLOT_LEAST)
        return;
    for (size_t i = 0; i < scaling->size_count; i++)
        for (size_t k = 0; k < FACTORS; k++)
            if (factor_of(&scaling->sizes[i], k) > top)
                /* Computation scalability may exceed 1; beyond 2 the other lines would be flat. */
                top = fmin(2, ceil(factor_of(&scaling->sizes[i], k) / 0.2) * 0.2);
    struct size_axis axis = axis_of_sizes(scaling, plot, scaling_n(&scaling->sizes[scaling->size_count - 1]));
    draw_shares(canvas, plot, top);
    axis_draw_sizes(canvas, &axis, scaling, plot.y + plot.height);
    /* The global efficiency is drawn over its factors, and the worst over all. */
    for (size_t i = FACTORS; i-- > 0;)
        if (is_shown(scaling, i) && i != worst)
            draw_factor(canvas, scaling, &axis, plot, top, i, false);
    if (worst < FACTORS)
        draw_factor(canvas, scaling, &axis, plot, top, worst, true);
    draw_names(canvas, scaling, plot, top, worst);
    const char *product = "Global efficiency is the product of the others";
    if (is_shown(scaling, OPENMP))
        product = "Global efficiency is the product of the others without OpenMP's";
    char note[160];
    snprintf(note, sizeof note, "%s. Below 80 %% (dashed) POP asks why.", product);
    chart_note(canvas, note);
}
