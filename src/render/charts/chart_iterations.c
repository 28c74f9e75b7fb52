/* SPDX-License-Identifier: BSD-3-Clause */
/* Computing of each process in each iteration, as colours, and below it how long the iterations take: neighbours are
   combined if there are more than pixels. */
#include "render/charts/chart.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/iterations.h"
#include "render/charts/heat.h"

#include <math.h>
#include <stdio.h>

enum { RIGHT = 220, GAP = 24, STRIP = 76, STRIP_GAP = 30, BELOW = 40, ROW = 22, CELL_LEAST = 2, STRIP_LEAST = 300 };

/* Colours begin at the minimum if that is more than half of the maximum, and extend at least a quarter beyond it:
   similar values look similar, and light. */
static const double FROM_LEAST = 0.5, BEYOND = 1.25;

void chart_iterations_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    char text[ITERATIONS_TEXT_SIZE];
    iterations_answer(text, input->metrics);
    chart_say(answer, "%s", text);
}

/* Rows of iterations in a column of the chart: [first, end). */
static size_t column_rows(const struct iteration_metrics *iterations, size_t columns, size_t column, size_t *end)
{
    /* Rounded alike for both ends, so that columns have no gaps and no iteration is in two. */
    *end = (column + 1) * iterations->row_count / columns;
    return column * iterations->row_count / columns;
}

/* Means over the contents of a cell; below 0: empty. */
static double cell_value(const struct iteration_metrics *iterations, const struct rank_axis *ranks, size_t row,
                         size_t columns, size_t column)
{
    size_t last, end, process = axis_column_rows(ranks, row, &last),
                      first = column_rows(iterations, columns, column, &end);
    double sum = 0;
    size_t count = 0;
    /* Metrics keep groups of processes where these are many: a row of the chart covers one or more of them. */
    for (size_t group = process / iterations->per_group; group <= (last - 1) / iterations->per_group; group++)
        for (size_t i = first; i < end; i++) {
            int64_t ns = iterations->computing_ns[group * iterations->row_count + i];
            /* Below 0: the process did not take part in this iteration. */
            if (ns >= 0) {
                sum += (double)ns / 1e9;
                count++;
            }
        }
    if (count == 0)
        return -1;
    return sum / (double)count;
}

static void fill(struct heat *heat, const struct iteration_metrics *iterations, const struct rank_axis *ranks)
{
    double least = INFINITY, most = 0;
    for (size_t row = 0; row < heat->rows; row++)
        for (size_t column = 0; column < heat->columns; column++) {
            double value = cell_value(iterations, ranks, row, heat->columns, column);
            heat->values[row * heat->columns + column] = larger(value, 0);
            /* Empty cells have the lightest colour, but no say in where the scale begins. */
            if (value < 0)
                continue;
            least = fmin(least, value);
            most = fmax(most, value);
        }
    /* A scale from 0 would show differences of some per cent as one colour: it begins at the least, unless that is
     * small. */
    if (least <= FROM_LEAST * most || least >= INFINITY)
        return;
    heat->least = least;
    /* But noise must not look like a pattern: the scale spans some per cent at least. */
    heat->most = fmax(most, BEYOND * least);
}

static char *time_label(char *buffer, double value)
{
    return text_duration(buffer, llround(value * 1e9));
}

/* Iterations under the columns, thinned to steps of 1-2-5. */
static void draw_numbers(struct canvas *canvas, const struct iteration_metrics *iterations, struct area plot)
{
    struct text_style style = {.align = ALIGN_CENTER, .ink = INK_MUTED};
    char label[TEXT_NUMBER_SIZE];
    double each = plot.width / iterations->count;
    text_thousands(label, iterations->count);
    size_t step = axis_label_step(each, canvas_text_width(canvas, style, label) + 18);
    for (size_t i = 0; i < iterations->count; i += step)
        canvas_text(canvas, plot.x + ((double)i + 0.5) * each, plot.y + plot.height + 12, style,
                    text_thousands(label, i));
    canvas_text(canvas, plot.x + plot.width / 2, plot.y + plot.height + 32, style, "iteration");
}

/* How long iterations take: the mean of each column; slow ones are highlighted. */
static void draw_strip(struct canvas *canvas, const struct chart_input *input, struct area plot, size_t columns)
{
    const struct iteration_metrics *iterations = &input->metrics->phases->iterations;
    struct rank_axis places = {.columns = columns, .x = plot.x, .column_width = plot.width / (double)columns};
    double most = 0, *values = memory_new(columns * sizeof *values);
    for (size_t column = 0; column < columns; column++) {
        size_t end, count = 0;
        for (size_t i = column_rows(iterations, columns, column, &end); i < end; i++) {
            values[column] += (double)iterations->rows[i].time_ns / 1e9;
            /* Rows of metrics hold several iterations where these are many: weighted by how many. */
            count += iterations->rows[i].count;
        }
        if (count > 0)
            values[column] /= (double)count;
        most = fmax(most, values[column]);
    }
    struct value_axis axis = axis_of_seconds(plot, most);
    char name[64];
    snprintf(name, sizeof name, "duration of an iteration, %s", axis.name);
    /* There is room for two labels, 0 and the top. */
    axis.step = axis.top;
    axis.name = "";
    axis_draw(canvas, &axis);
    canvas_text(canvas, plot.x, plot.y - 12, (struct text_style){.ink = INK_MUTED}, name);
    axis_draw_steps(canvas, &places, &axis, values, paint_of(INK_PLAIN));
    double each = plot.width / iterations->count;
    for (size_t i = 0; i < iterations->slowest_count && i < iterations->slow; i++) {
        const struct slow_iteration *slow = &iterations->slowest[i];
        /* Slow ones are higher than the means around them, and may leave the axis. */
        double time = fmin((double)slow->time_ns / 1e9, axis.top);
        char number[TEXT_NUMBER_SIZE];
        canvas_tip(canvas, "iteration %u: %s", slow->iteration, text_duration(number, slow->time_ns));
        /* At least a pixel wide: single slow iterations are what the strip is for. */
        canvas_rect(canvas, plot.x + slow->iteration * each, axis_y(&axis, time), fmax(1, each),
                    plot.y + plot.height - axis_y(&axis, time), paint_of(INK_ACCENT));
    }
    free(values);
}

static void draw_side(struct canvas *canvas, const struct chart_input *input, const struct heat *heat, double x,
                      double y, double bottom)
{
    const struct iteration_metrics *iterations = &input->metrics->phases->iterations;
    struct text_style muted = {.ink = INK_MUTED}, right = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    char number[TEXT_NUMBER_SIZE];
    heat_draw_scale(canvas, heat, x, y + 8, RIGHT - GAP, "computing in an iteration", time_label);
    y += 84;
    if (iterations->slow == 0 || y + 2 * ROW > bottom)
        return;
    canvas_text(canvas, x, y, muted, "slow iterations");
    for (size_t i = 0; i < iterations->slowest_count && i < iterations->slow && y + 2 * ROW < bottom; i++) {
        const struct slow_iteration *slow = &iterations->slowest[i];
        y += ROW;
        canvas_text_cut(canvas, x, y, 80, (struct text_style){.ink = INK_ACCENT},
                        text_thousands(number, slow->iteration));
        canvas_text_cut(canvas, x + RIGHT - GAP, y, 100, right, text_duration(number, slow->time_ns));
    }
}

void chart_iterations_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct iteration_metrics *iterations = &input->metrics->phases->iterations;
    bool side = area.width > 2.6 * RIGHT, strip = area.height >= STRIP_LEAST;
    double width = area.width - AXIS_LABELS - 8, height = area.height - 20 - BELOW;
    if (side)
        width = area.width - AXIS_LABELS - RIGHT;
    if (strip)
        height -= STRIP + STRIP_GAP;
    struct rank_axis ranks = axis_of_ranks(input->metrics, area.x, height, CELL_LEAST);
    /* A cell has a width that can be seen; the axis of processes sees to its height. */
    size_t room = 1;
    if (width > CELL_LEAST)
        room = (size_t)(width / CELL_LEAST);
    size_t columns = smaller(iterations->row_count, room);
    struct area plot = {area.x + AXIS_LABELS, area.y + 20, width, height};
    struct heat heat = heat_new(plot, columns, ranks.columns, false);
    /* Gaps between small cells would take more room than the cells. */
    heat.grid.gap = heat.grid.cell_width >= 24 && heat.grid.cell_height >= 12;
    fill(&heat, iterations, &ranks);
    heat_draw(canvas, &heat);
    /* Cells are whole pixels: what is below must be as wide as they came out. */
    plot.width = heat.grid.cell_width * (double)heat.columns;
    plot.height = heat.grid.cell_height * (double)heat.rows;
    canvas_text(canvas, area.x, area.y + 4, (struct text_style){.ink = INK_MUTED}, "process");
    axis_draw_ranks_left(canvas, &ranks, plot.x, plot.y, heat.grid.cell_height);
    if (side)
        draw_side(canvas, input, &heat, plot.x + plot.width + GAP, plot.y, area.y + area.height);
    struct area below = {plot.x, plot.y + plot.height + STRIP_GAP, plot.width, STRIP - STRIP_GAP / 2.0};
    if (strip)
        draw_strip(canvas, input, below, columns);
    draw_numbers(canvas, iterations, strip ? below : plot);
    heat_clear(&heat);
}
