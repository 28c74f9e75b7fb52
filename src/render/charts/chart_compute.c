/* SPDX-License-Identifier: BSD-3-Clause */
/* A bar for each process's compute component; columns of many processes with least, mean and most where they are many.
 */
#include "render/charts/chart.h"

#include "core/memory.h"
#include "core/text.h"
#include "heuristics/efficiency.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RIGHT = 150, BAR_LEAST = 5, LABELS_MOST = 3 };

void chart_compute_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    /* The numbers are those of the heuristic, so that the chart and `sight heuristics` cannot differ. */
    const struct heuristic_result *result = heuristics_find(input->results, "stddev-compute");
    const struct measure *measure = &result->measure;
    char least[TEXT_NUMBER_SIZE], most[TEXT_NUMBER_SIZE];
    /* The heuristic has a headline if the difference costs enough to be reported. */
    if (measure->most <= 0)
        chart_say(answer, "No process computes anything outside MPI");
    else if (measure->count < 2)
        chart_say(answer, "The only process computes for %s", seconds_text(most, measure->most));
    else if (*result->headline)
        chart_say(answer, "%s", result->headline);
    else if (measure_is_even(measure))
        chart_say(answer, "The computing is evenly spread: %s to %s", seconds_text(least, measure->least),
                  seconds_text(most, measure->most));
    else
        chart_say(answer, "The computing times differ (%s to %s), but not enough to matter in this run",
                  seconds_text(least, measure->least), seconds_text(most, measure->most));
}

static double compute_at(const struct metrics *metrics, size_t row)
{
    return (double)metrics_compute_ns(metrics, row) / 1e9;
}

/* The band of the deviation, drawn under the bars. */
static void draw_band(struct canvas *canvas, const struct value_axis *axis, const struct measure *measure)
{
    /* A deviation larger than the mean would reach below the axis. */
    double above = axis_y(axis, fmin(measure->mean + measure->deviation, axis->top)),
           below = axis_y(axis, fmax(measure->mean - measure->deviation, 0));
    canvas_rect(canvas, axis->area.x, above, axis->area.width, below - above, paint_faded(INK_MPI, 0.12));
}

/* The mean as a line over the width, with its label at the right. */
static void draw_mean(struct canvas *canvas, const struct value_axis *axis, const struct measure *measure)
{
    const struct area *area = &axis->area;
    char number[TEXT_NUMBER_SIZE], label[64];
    double right = area->x + area->width, mean = axis_y(axis, measure->mean);
    canvas_dashes(canvas, area->x, mean, right, mean, 1.5, paint_of(INK_TEXT));
    snprintf(label, sizeof label, "mean %s", seconds_text(number, measure->mean));
    canvas_text(canvas, right + 10, mean, (struct text_style){.bold = true}, label);
    snprintf(label, sizeof label, "± %s (σ)", seconds_text(number, measure->deviation));
    canvas_text(canvas, right + 10, mean + 17, (struct text_style){.ink = INK_MUTED}, label);
}

/* The processes that stand out: those far from the others, or else the one with most. */
static bool stands_out(const struct pattern *pattern, const struct measure *measure, uint32_t rank)
{
    if (pattern->shape == SHAPE_FEW_HIGH || pattern->shape == SHAPE_FEW_LOW) {
        for (size_t i = 0; i < pattern->far_count; i++)
            if (pattern->far[i] == rank)
                return true;
        return false;
    }
    return pattern->shape != SHAPE_EVEN && rank == measure->most_rank;
}

static void draw_bars(struct canvas *canvas, const struct chart_input *input, const struct rank_axis *ranks,
                      const struct value_axis *axis, const struct pattern *pattern, const struct measure *measure)
{
    double width = axis_bar_width(ranks);
    for (size_t i = 0; i < ranks->rows; i++) {
        double value = compute_at(input->metrics, i), x = ranks->x + ((double)i + 0.5) * ranks->column_width;
        double y = axis_y(axis, value);
        uint32_t rank = input->metrics->process[i].rank;
        char number[TEXT_NUMBER_SIZE];
        struct text_style style = {.align = ALIGN_CENTER};
        canvas_tip(canvas, "process %s: %s", text_number(rank).text, seconds_text(number, value));
        enum ink ink = INK_COMPUTE;
        if (stands_out(pattern, measure, rank))
            ink = INK_ACCENT;
        canvas_rect(canvas, x - width / 2, y, width, axis->area.y + axis->area.height - y, paint_of(ink));
        axis_number(axis, value, number);
        /* Not across the line of the mean: then inside the bar. */
        bool inside =
            fabs(y - 10 - axis_y(axis, measure->mean)) < TEXT_SIZE && axis->area.y + axis->area.height - y > 26;
        /* A number wider than its column would overlap the next one's: then tips alone show it. */
        if (canvas_text_width(canvas, style, number) + 6 <= ranks->column_width)
            canvas_text(canvas, x, inside ? y + 12 : y - 10, style, number);
    }
}

struct column {
    double least, mean, most;
};

static struct column column_of(const struct metrics *metrics, size_t first, size_t end)
{
    struct column column = {.least = INFINITY};
    for (size_t i = first; i < end; i++) {
        double value = compute_at(metrics, i);
        column.least = fmin(column.least, value);
        column.most = fmax(column.most, value);
        /* Divided first, as in the other charts of columns. */
        column.mean += value / (double)(end - first);
    }
    return column;
}

/* The largest few beyond mean + 3 deviations, by name. */
static void label_outliers(struct canvas *canvas, const struct chart_input *input, const struct rank_axis *ranks,
                           const struct value_axis *axis, const struct measure *measure)
{
    /* Three deviations: of normally distributed times one process in 740 is beyond by chance alone. */
    double limit = measure->mean + 3 * measure->deviation, before = INFINITY;
    struct point labels[LABELS_MOST];
    for (int label = 0; label < LABELS_MOST; label++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < ranks->rows; i++) {
            double value = compute_at(input->metrics, i);
            if (value > limit && value < before && (best == SIZE_MAX || value > compute_at(input->metrics, best)))
                best = i;
        }
        if (best == SIZE_MAX)
            return;
        /* The next one must be smaller: the largest few are found one after the other, without sorting thousands. */
        before = compute_at(input->metrics, best);
        char text[96], rank[TEXT_NUMBER_SIZE], number[TEXT_NUMBER_SIZE];
        struct point at = {ranks->x + ((double)(best / ranks->per_column) + 0.5) * ranks->column_width,
                           axis_y(axis, before)};
        snprintf(text, sizeof text, "process %s: %s", text_thousands(rank, input->metrics->process[best].rank),
                 seconds_text(number, before));
        double width = canvas_text_width(canvas, (struct text_style){0}, text);
        /* A label at the right edge goes to the left of its point; one that would lie on another is left out. */
        bool left = at.x + width + 10 > axis->area.x + axis->area.width, clash = false;
        for (int i = 0; i < label; i++)
            clash |= fabs(labels[i].y - at.y) < TEXT_SIZE + 4 && fabs(labels[i].x - at.x) < width + 30;
        labels[label] = at;
        canvas_circle(canvas, at.x, at.y, 3, paint_of(INK_ACCENT));
        if (!clash) {
            struct text_style style = {.align = ALIGN_LEFT, .ink = INK_ACCENT};
            double shift = 7;
            if (left) {
                style.align = ALIGN_RIGHT;
                shift = -7;
            }
            canvas_text(canvas, at.x + shift, at.y - 1, style, text);
        }
    }
}

static void draw_columns(struct canvas *canvas, const struct chart_input *input, const struct rank_axis *ranks,
                         const struct value_axis *axis)
{
    double *values = memory_new(3 * ranks->columns * sizeof *values);
    double *least = values, *mean = values + ranks->columns, *most = mean + ranks->columns;
    for (size_t i = 0; i < ranks->columns; i++) {
        size_t end, first = axis_column_rows(ranks, i, &end);
        struct column column = column_of(input->metrics, first, end);
        least[i] = column.least;
        mean[i] = column.mean;
        most[i] = column.most;
    }
    /* The largest first: what lies below covers it. */
    axis_draw_steps(canvas, ranks, axis, most, paint_faded(INK_COMPUTE, 0.45));
    axis_draw_steps(canvas, ranks, axis, least, paint_of(INK_COMPUTE));
    axis_draw_step_line(canvas, ranks, axis, mean, 1.5, paint_of(INK_MPI));
    free(values);
}

static void columns_note(struct canvas *canvas, const struct rank_axis *ranks)
{
    char note[200], count[TEXT_NUMBER_SIZE];
    snprintf(note, sizeof note,
             "Each column shows %s processes: full colour up to the smallest time, light up to the largest; the line "
             "is their mean.",
             text_thousands(count, ranks->per_column));
    chart_note(canvas, note);
}

void chart_compute_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct heuristic_result *result = heuristics_find(input->results, "stddev-compute");
    const struct measure *measure = &result->measure;
    bool matters = *result->headline; /* only processes named in the title are marked */
    double right = 0;
    if (area.width > 2 * RIGHT)
        right = RIGHT;
    struct area plot = {area.x + AXIS_LABELS, area.y + 24, area.width - AXIS_LABELS - right, area.height - 24 - 44};
    struct value_axis axis = axis_of_seconds(plot, measure->most);
    struct rank_axis ranks = axis_of_ranks(input->metrics, plot.x, plot.width, BAR_LEAST);
    axis_draw(canvas, &axis);
    axis_draw_ranks(canvas, &ranks, plot.y + plot.height, "process");
    /* A single process has no deviation, and its mean is its own value. */
    if (ranks.rows > 1)
        draw_band(canvas, &axis, measure);
    if (ranks.per_column == 1) {
        /* Patterns are about single processes: means of columns would hide those that stand out. */
        struct series series = series_new(ranks.rows);
        for (size_t i = 0; i < ranks.rows; i++) {
            series.value[i] = compute_at(input->metrics, i);
            series.rank[i] = input->metrics->process[i].rank;
        }
        struct pattern pattern = pattern_of(&series, measure);
        if (!matters)
            pattern.shape = SHAPE_EVEN;
        draw_bars(canvas, input, &ranks, &axis, &pattern, measure);
        pattern_clear(&pattern);
        series_clear(&series);
    } else {
        draw_columns(canvas, input, &ranks, &axis);
        if (matters)
            label_outliers(canvas, input, &ranks, &axis, measure);
        columns_note(canvas, &ranks);
    }
    /* The line of the mean lies over the bars. */
    if (ranks.rows > 1)
        draw_mean(canvas, &axis, measure);
}
