/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters over the run as curves of one height, as Extended OProfile draws them, with the amount that this height is
   of each; and below them what formulas make of them in equal parts of the run. */
#include "render/charts/chart.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "render/counter_text.h"
#include "search/formulas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    PARTS = 200,
    CURVES = 8,
    STRIPS = 3,
    SIDE = 270,
    GAP = 24,
    STRIP_GAP = 36,
    BELOW = 40,
    ROW = 20,
    LABEL_GAP = 10,
    STRIP_LEAST = 44
};

/* A table is made of the counters each time: the chart's input has numbers, not what is made of them. */
struct shown {
    struct definitions *formulas;
    struct counter_table table;
    size_t curves[CURVES], curve_count; /* sums that grow, the one that grows most first */
    size_t strips[STRIPS], strip_count; /* formulas with values */
};

static double amount(const struct shown *shown, size_t row, size_t counter)
{
    return shown->table.amounts[row * shown->table.counters->count + counter];
}

static double value(const struct shown *shown, size_t row, size_t formula)
{
    return shown->table.values[row * shown->table.formulas->count + formula];
}

static void find_curves(struct shown *shown)
{
    const struct counters *counters = shown->table.counters;
    for (size_t i = 0; i < counters->count; i++) {
        double most = amount(shown, 0, i);
        if (counters->counter[i].mode == COUNTER_MODE_ABSOLUTE || !(most > 0))
            continue;
        size_t at = shown->curve_count;
        while (at > 0 && amount(shown, 0, shown->curves[at - 1]) < most)
            at--;
        if (at == CURVES)
            continue;
        shown->curve_count = smaller(shown->curve_count + 1, (size_t)CURVES);
        memmove(&shown->curves[at + 1], &shown->curves[at], (shown->curve_count - at - 1) * sizeof *shown->curves);
        shown->curves[at] = i;
    }
}

static bool shown_make(struct shown *shown, const struct counters *counters, enum counters_by by)
{
    struct error err = {0};
    *shown = (struct shown){.formulas = formulas_read(NULL, &err)};
    if (!shown->formulas)
        return false;
    shown->table = counter_table_of(counters, shown->formulas, by, PARTS);
    find_curves(shown);
    for (size_t i = 0; i < shown->formulas->count && shown->strip_count < STRIPS; i++)
        if (counter_table_has(&shown->table, i))
            shown->strips[shown->strip_count++] = i;
    return true;
}

static void shown_clear(struct shown *shown)
{
    counter_table_clear(&shown->table);
    definitions_free(shown->formulas);
}

/* The formula's least and most in any row but the whole; NAN: no row has a value. */
static void extent(const struct shown *shown, size_t formula, double *least, double *most)
{
    *least = *most = NAN;
    for (size_t row = 1; row < shown->table.count; row++) {
        *least = fmin(*least, value(shown, row, formula));
        *most = fmax(*most, value(shown, row, formula));
    }
}

static char *formula_text(char *buffer, const struct shown *shown, size_t formula, double number)
{
    const struct definition *definition = &shown->formulas->list[formula];
    return search_unit_text(buffer, definition->base.unit, definition->percent, number);
}

/* What a curve has grown by at the end. */
static char *curve_amount(char *buffer, const struct shown *shown, size_t number)
{
    size_t counter = shown->curves[number];
    return counter_amount_text(buffer, shown->table.counters->counter[counter].unit, amount(shown, 0, counter));
}

void chart_counters_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    struct shown shown;
    char whole[TEXT_NUMBER_SIZE], least[TEXT_NUMBER_SIZE], most[TEXT_NUMBER_SIZE];
    chart_say(answer, "No counter grows in this run");
    if (!shown_make(&shown, input->metrics->counters, COUNTERS_BY_PROCESS))
        return;
    if (shown.strip_count > 0) {
        size_t formula = shown.strips[0];
        double from, to;
        extent(&shown, formula, &from, &to);
        formula_text(whole, &shown, formula, value(&shown, 0, formula));
        formula_text(least, &shown, formula, from);
        formula_text(most, &shown, formula, to);
        const char *title = shown.formulas->list[formula].title;
        if (strcmp(least, most) == 0)
            chart_say(answer, "%s: %s over the run, on all processes alike", title, whole);
        else
            chart_say(answer, "%s: %s over the run, %s to %s on single processes", title, whole, least, most);
    } else if (shown.curve_count > 0) {
        chart_say(answer, "%s grows by %s", shown.table.counters->counter[shown.curves[0]].name,
                  curve_amount(most, &shown, 0));
    }
    shown_clear(&shown);
}

static struct paint curve_paint(size_t number)
{
    return paint_of((enum ink)(INK_FUNCTION + (number % THEME_SLOTS) * THEME_VARIANTS));
}

/* How high the sums are at the end of each part, of their height at the end. */
static void draw_curve(struct canvas *canvas, const struct shown *shown, size_t number, struct area plot)
{
    size_t counter = shown->curves[number], count = shown->table.count, points = 1;
    struct point *point = memory_new((count + 1) * sizeof *point);
    int64_t from_ns = shown->table.row[1].from_ns, to_ns = shown->table.row[count - 1].to_ns;
    double sum = 0, width = fmax(1, (double)time_since(from_ns, to_ns));
    point[0] = (struct point){plot.x, plot.y + plot.height};
    for (size_t row = 1; row < count; row++) {
        double part = amount(shown, row, counter);
        sum += isnan(part) ? 0 : part;
        point[points++] =
            (struct point){plot.x + plot.width * ((double)time_since(from_ns, shown->table.row[row].to_ns) / width),
                           plot.y + plot.height * (1 - fmin(1, sum / amount(shown, 0, counter)))};
    }
    char grown[TEXT_NUMBER_SIZE];
    canvas_tip(canvas, "%s: %s", shown->table.counters->counter[counter].name, curve_amount(grown, shown, number));
    canvas_polyline(canvas, point, points, 1.6, curve_paint(number));
    free(point);
}

static void draw_shares(struct canvas *canvas, struct area plot)
{
    struct text_style style = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    for (int line = 0; line <= 4; line++) {
        char label[TEXT_NUMBER_SIZE];
        double y = plot.y + plot.height * line / 4;
        canvas_line(canvas, plot.x, y, plot.x + plot.width, y, 1, paint_of(INK_GRID));
        snprintf(label, sizeof label, "%d %%", 100 - 25 * line);
        /* Low plots have room for both ends only. */
        if (line % 4 == 0 || plot.height >= 4 * ROW)
            canvas_text(canvas, plot.x - LABEL_GAP, y, style, label);
    }
}

static void draw_curves(struct canvas *canvas, const struct shown *shown, struct area plot, double side)
{
    double y = plot.y + 8, x = plot.x + plot.width + GAP;
    char number[TEXT_NUMBER_SIZE];
    draw_shares(canvas, plot);
    for (size_t i = shown->curve_count; i-- > 0;)
        draw_curve(canvas, shown, i, plot);
    if (side <= 0)
        return;
    canvas_text(canvas, x, y, (struct text_style){.ink = INK_MUTED}, "amount at 100 %");
    for (size_t i = 0; i < shown->curve_count && y + ROW < plot.y + plot.height; i++) {
        y += ROW;
        chart_legend(canvas, x, y, side - GAP, curve_paint(i), shown->table.counters->counter[shown->curves[i]].name,
                     curve_amount(number, shown, i));
    }
}

static void draw_strip(struct canvas *canvas, const struct shown *shown, size_t formula, struct area plot, double side)
{
    const struct definition *definition = &shown->formulas->list[formula];
    double least, most, width = plot.width / (double)(shown->table.count - 1);
    char number[TEXT_NUMBER_SIZE], top[TEXT_NUMBER_SIZE];
    extent(shown, formula, &least, &most);
    canvas_text_cut(canvas, plot.x, plot.y - 12, plot.width, (struct text_style){.ink = INK_MUTED}, definition->title);
    canvas_line(canvas, plot.x, plot.y + plot.height, plot.x + plot.width, plot.y + plot.height, 1, paint_of(INK_AXIS));
    for (size_t row = 1; row < shown->table.count; row++) {
        double share = value(shown, row, formula) / most;
        if (!(share > 0))
            continue;
        canvas_tip(canvas, "%s", formula_text(number, shown, formula, value(shown, row, formula)));
        canvas_rect(canvas, plot.x + (double)(row - 1) * width, plot.y + plot.height * (1 - share), width + 0.3,
                    plot.height * share, paint_of(INK_MPI));
    }
    if (side <= 0)
        return;
    struct text_style style = {0};
    char line[3 * TEXT_NUMBER_SIZE];
    snprintf(line, sizeof line, "%s, at most %s", formula_text(number, shown, formula, value(shown, 0, formula)),
             formula_text(top, shown, formula, most));
    canvas_text_cut(canvas, plot.x + plot.width + GAP, plot.y + 8, side - GAP, style, line);
}

void chart_counters_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    struct shown shown;
    double side = area.width > 2 * SIDE ? SIDE : 0;
    if (!shown_make(&shown, input->metrics->counters, COUNTERS_BY_TIME))
        return;
    size_t strips = shown.strip_count;
    while (strips > 0 && area.height - BELOW < (double)(strips + 2) * (STRIP_LEAST + STRIP_GAP))
        strips--;
    double height = area.height - BELOW - 8, each = strips > 0 ? fmax(STRIP_LEAST, 0.14 * height) : 0;
    struct area plot = {area.x + AXIS_LABELS, area.y + 8, area.width - AXIS_LABELS - side,
                        height - (double)strips * (each + STRIP_GAP)};
    if (shown.table.count > 1 && plot.height > 20 && plot.width > 20) {
        const struct counter_row *last = &shown.table.row[shown.table.count - 1];
        double begin = (double)time_since(input->metrics->begin_ns, shown.table.row[1].from_ns);
        draw_curves(canvas, &shown, plot, side);
        struct area strip = {plot.x, plot.y + plot.height, plot.width, each};
        for (size_t i = 0; i < strips; i++) {
            strip.y += STRIP_GAP;
            draw_strip(canvas, &shown, shown.strips[i], strip, side);
            strip.y += each;
        }
        axis_draw_time(canvas, plot.x, plot.width, strip.y, begin,
                       (double)time_since(shown.table.row[1].from_ns, last->to_ns), "");
    }
    shown_clear(&shown);
}
