/* SPDX-License-Identifier: BSD-3-Clause */
/* Computing and communication of each process, stacked; means of many where they are many. */
#include "render/charts/chart.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/efficiency.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RIGHT = 150, COLUMN_LEAST = 4 };

/* A process is named if it computes this many times as long as the mean. */
static const double STANDS_OUT = 1.1;

void chart_balance_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    const struct metrics *metrics = input->metrics;
    /* Parallel efficiency counts from the time in which processes work; the chart's shares are of the whole run. */
    double run_ns = (double)time_since(metrics->begin_ns, metrics->end_ns),
           working_ns = (double)working_duration_ns(metrics),
           mean = ratio_of(efficiency_of(metrics).parallel * working_ns, run_ns);
    char all[TEXT_NUMBER_SIZE], one[TEXT_NUMBER_SIZE];
    size_t row = 0;
    for (size_t i = 1; i < metrics->process_count; i++)
        if (metrics_compute_ns(metrics, i) > metrics_compute_ns(metrics, row))
            row = i;
    double most_ns = (double)metrics_compute_ns(metrics, row);
    if (run_ns <= 0)
        chart_say(answer, "This run has no duration");
    else if (mean <= 0)
        chart_say(answer, "All time is spent in MPI");
    else if (most_ns <= STANDS_OUT * mean * run_ns && metrics->process_count > 1)
        chart_say(answer, "Each process computes for about %s of the run", text_share(all, mean));
    else if (most_ns <= STANDS_OUT * mean * run_ns)
        chart_say(answer, "The only process computes for %s of the run", text_share(all, mean));
    else if (strcmp(text_share(all, mean), text_share(one, most_ns / run_ns)) == 0)
        chart_say(answer, "The processes compute for %s of the run", all);
    else
        chart_say(answer, "The processes compute for %s of the run on average, process %s for %s", all,
                  text_number(metrics->process[row].rank).text, one);
}

static void label_part(struct canvas *canvas, double x, double y, enum ink ink, const char *name)
{
    canvas_rect(canvas, x, y - 6, 12, 12, paint_of(ink));
    canvas_text(canvas, x + 19, y, (struct text_style){0}, name);
}

/* The two parts of a column's height, labelled at the right; one alone where the run has no other. */
static void label_parts(struct canvas *canvas, const struct value_axis *axis, double compute, double total,
                        const struct metrics *metrics)
{
    bool computes = false, communicates = false;
    for (size_t i = 0; i < metrics->process_count; i++) {
        int64_t compute_ns = metrics_compute_ns(metrics, i);
        computes |= compute_ns > 0;
        communicates |= process_total_ns(&metrics->process[i]) > compute_ns;
    }
    double right = axis->area.x + axis->area.width + 10, bottom = axis->area.y + axis->area.height;
    double lower = (bottom + axis_y(axis, compute)) / 2, upper = (axis_y(axis, compute) + axis_y(axis, total)) / 2;
    /* Labels closer than a line would overlap: they move apart around their middle, inside the plot. */
    if (computes && communicates && lower - upper < 20) {
        double middle = fmin(fmax((lower + upper) / 2, axis->area.y + 10), bottom - 12);
        lower = middle + 10;
        upper = middle - 10;
    }
    if (computes)
        label_part(canvas, right, lower, INK_COMPUTE, "computing");
    if (communicates)
        label_part(canvas, right, upper, INK_MPI, "in MPI");
}

static void draw_bar(struct canvas *canvas, const struct value_axis *axis, double x, double width, double compute,
                     double total, uint32_t rank)
{
    double bottom = axis->area.y + axis->area.height, middle = axis_y(axis, compute), top = axis_y(axis, total);
    char number[TEXT_NUMBER_SIZE];
    canvas_tip(canvas, "process %s: %s computing", text_number(rank).text, seconds_text(number, compute));
    /* Computing is at the bottom, where columns have a common base: it is what should be even. */
    canvas_rect(canvas, x, middle, width, bottom - middle, paint_of(INK_COMPUTE));
    canvas_tip(canvas, "process %s: %s in MPI", text_number(rank).text, seconds_text(number, total - compute));
    canvas_rect(canvas, x, top, width, middle - top, paint_of(INK_MPI));
}

static void draw_columns(struct canvas *canvas, const struct rank_axis *ranks, const struct value_axis *axis,
                         const double *compute, const double *total)
{
    char note[96], count[TEXT_NUMBER_SIZE];
    /* The total first: what computes covers its lower part. */
    axis_draw_steps(canvas, ranks, axis, total, paint_of(INK_MPI));
    axis_draw_steps(canvas, ranks, axis, compute, paint_of(INK_COMPUTE));
    snprintf(note, sizeof note, "Each column shows the mean of %s processes.",
             text_thousands(count, ranks->per_column));
    chart_note(canvas, note);
}

/* Means of each column, in seconds. */
static void means_of(const struct rank_axis *ranks, double *compute, double *total)
{
    for (size_t i = 0; i < ranks->columns; i++) {
        size_t end, first = axis_column_rows(ranks, i, &end);
        for (size_t k = first; k < end; k++) {
            const struct process_row *row = &ranks->metrics->process[k];
            /* Divided before adding up: sums of thousands of processes would lose digits that the mean has. */
            compute[i] += (double)metrics_compute_ns(ranks->metrics, k) / 1e9 / (double)(end - first);
            total[i] += (double)process_total_ns(row) / 1e9 / (double)(end - first);
        }
    }
}

void chart_balance_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct metrics *metrics = input->metrics;
    double right = 0;
    if (area.width > 2 * RIGHT)
        right = RIGHT;
    struct area plot = {area.x + AXIS_LABELS, area.y + 24, area.width - AXIS_LABELS - right, area.height - 24 - 44};
    double most = 0;
    for (size_t i = 0; i < metrics->process_count; i++)
        most = fmax(most, (double)process_total_ns(&metrics->process[i]) / 1e9);
    struct value_axis axis = axis_of_seconds(plot, most);
    struct rank_axis ranks = axis_of_ranks(metrics, plot.x, plot.width, COLUMN_LEAST);
    /* One allocation for both, which free() of the first releases. */
    double *compute = memory_new(2 * ranks.columns * sizeof *compute), *total = compute + ranks.columns;
    means_of(&ranks, compute, total);
    axis_draw(canvas, &axis);
    axis_draw_ranks(canvas, &ranks, plot.y + plot.height, "process");
    /* A gap separates wide columns; narrow ones need all their pixels. */
    double gap = ranks.column_width * 0.2;
    if (ranks.column_width > 12)
        gap = ranks.column_width * 0.28;
    if (ranks.per_column > 1)
        draw_columns(canvas, &ranks, &axis, compute, total);
    for (size_t i = 0; ranks.per_column == 1 && i < ranks.columns; i++)
        draw_bar(canvas, &axis, ranks.x + (double)i * ranks.column_width + gap / 2, ranks.column_width - gap,
                 compute[i], total[i], metrics->process[i].rank);
    if (right > 0)
        /* The labels belong to the last column: it is the one beside them. */
        label_parts(canvas, &axis, compute[ranks.columns - 1], total[ranks.columns - 1], metrics);
    free(compute);
}
