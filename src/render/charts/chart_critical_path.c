/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the critical path lies: for each process its part of it, computing and in MPI. */
#include "render/charts/chart.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>

/* A process that holds more than this share of the path is named, be there ever so few processes. */
static const double MOST = 0.75;

/* One that holds less is not, be there ever so many. */
static const double NOTED = 0.1;

enum { RIGHT = 260, COLUMN_LEAST = 4, ROW = 22, FUNCTIONS = 8 };

static double on_path(const struct analysis *analysis, size_t row)
{
    return (double)(analysis->path_compute_ns[row] + analysis->path_mpi_ns[row]) / 1e9;
}

void chart_critical_path_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    const struct analysis *analysis = input->metrics->analysis;
    char share[TEXT_NUMBER_SIZE], mpi[TEXT_NUMBER_SIZE];
    size_t best = 0, count = input->metrics->process_count, holders = 0;
    double in_mpi = 0;
    for (size_t i = 0; i < count; i++) {
        if (on_path(analysis, i) > on_path(analysis, best))
            best = i;
        in_mpi += (double)analysis->path_mpi_ns[i];
        holders += on_path(analysis, i) > 0;
    }
    if (analysis->path <= 0) {
        chart_say(answer, "This run has no duration");
        return;
    }
    double part = on_path(analysis, best) / ((double)analysis->path / 1e9);
    text_share(mpi, in_mpi / (double)analysis->path);
    /* Twice an even share is much, unless processes are so few that even shares are large, or so many that twice as
       much is little. */
    if (count == 1)
        chart_say(answer, "The only process is the critical path; %s of it is in MPI", mpi);
    else if ((part > 2.0 / (double)count && part > NOTED) || part > MOST)
        chart_say(answer, "Process %s holds %s of the critical path; %s of the path is in MPI",
                  text_number(input->metrics->process[best].rank).text, text_share(share, part), mpi);
    else
        chart_say(answer, "The critical path is spread over %s processes; %s of it is in MPI",
                  text_thousands((char[TEXT_NUMBER_SIZE]){0}, holders), mpi);
}

/* The functions on the path, the longest first: a part of "in MPI", hence without a colour. */
static void draw_functions(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct analysis *analysis = input->metrics->analysis;
    const struct text_style left = {.ink = INK_MUTED}, right = {.ink = INK_MUTED, .align = ALIGN_RIGHT};
    bool *taken = memory_new(analysis->state_count + 1);
    char number[TEXT_NUMBER_SIZE];
    for (size_t place = 0; place < FUNCTIONS; place++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < analysis->state_count; i++)
            /* The few longest, one after the other: there are as many states as the trace defines. */
            if (!taken[i] && analysis->path_states_ns[i] > 0 &&
                (best == SIZE_MAX || analysis->path_states_ns[i] > analysis->path_states_ns[best]))
                best = i;
        if (best == SIZE_MAX)
            break;
        taken[best] = true;
        double y = area.y + (double)place * ROW;
        text_duration(number, analysis->path_states_ns[best]);
        canvas_text(canvas, area.x + area.width, y, right, number);
        /* The time is whole; the name has what is left. */
        canvas_text_cut(canvas, area.x + 20, y, area.width - 30 - canvas_text_width(canvas, right, number), left,
                        input->metrics->defs->states[best].name);
    }
    free(taken);
}

static void draw_legend(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct analysis *analysis = input->metrics->analysis;
    double compute = 0, mpi = 0;
    char number[TEXT_NUMBER_SIZE];
    for (size_t i = 0; i < analysis->process_count; i++) {
        /* What the legend adds up to is the length of the path, as each moment of it is in one process. */
        compute += (double)analysis->path_compute_ns[i] / 1e9;
        mpi += (double)analysis->path_mpi_ns[i] / 1e9;
    }
    canvas_text(canvas, area.x, area.y, (struct text_style){.ink = INK_MUTED}, "on the path");
    chart_legend(canvas, area.x, area.y + ROW, area.width, paint_of(INK_COMPUTE), "computing",
                 seconds_text(number, compute));
    chart_legend(canvas, area.x, area.y + 2 * ROW, area.width, paint_of(INK_MPI), "in MPI", seconds_text(number, mpi));
    draw_functions(canvas, input, (struct area){area.x, area.y + 3 * ROW, area.width, area.height - 3 * ROW});
}

/* Sums over the processes of each column, not means: the path is in one place at a time. */
static void sums_of(const struct rank_axis *ranks, const struct analysis *analysis, double *compute, double *total)
{
    for (size_t column = 0; column < ranks->columns; column++) {
        size_t end, first = axis_column_rows(ranks, column, &end);
        for (size_t i = first; i < end; i++) {
            compute[column] += (double)analysis->path_compute_ns[i] / 1e9;
            total[column] += on_path(analysis, i);
        }
    }
}

static void draw_bars(struct canvas *canvas, const struct chart_input *input, const struct rank_axis *ranks,
                      const struct value_axis *axis, const double *compute, const double *total)
{
    double width = axis_bar_width(ranks), bottom = axis->area.y + axis->area.height;
    for (size_t i = 0; i < ranks->columns; i++) {
        double x = ranks->x + ((double)i + 0.5) * ranks->column_width - width / 2;
        /* Computing below, MPI on top of it: together the process' part of the path. */
        double middle = axis_y(axis, compute[i]), top = axis_y(axis, total[i]);
        char computing[TEXT_NUMBER_SIZE], mpi[TEXT_NUMBER_SIZE];
        canvas_tip(canvas, "process %s: %s computing, %s in MPI on the critical path",
                   text_number(input->metrics->process[i].rank).text, seconds_text(computing, compute[i]),
                   seconds_text(mpi, total[i] - compute[i]));
        canvas_rect(canvas, x, middle, width, bottom - middle, paint_of(INK_COMPUTE));
        canvas_rect(canvas, x, top, width, middle - top, paint_of(INK_MPI));
    }
}

void chart_critical_path_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct analysis *analysis = input->metrics->analysis;
    if (analysis->path <= 0)
        return;
    struct area plot;
    bool side = chart_plot(area, RIGHT, &plot);
    if (plot.width < CHART_PLOT_LEAST || plot.height < CHART_PLOT_LEAST)
        return;
    struct rank_axis ranks = axis_of_ranks(input->metrics, plot.x, plot.width, COLUMN_LEAST);
    double *compute = memory_new(2 * ranks.columns * sizeof *compute), *total = compute + ranks.columns, top = 0;
    sums_of(&ranks, analysis, compute, total);
    for (size_t i = 0; i < ranks.columns; i++)
        top = fmax(top, total[i]);
    struct value_axis axis = axis_of_seconds(plot, top);
    axis_draw(canvas, &axis);
    axis_draw_ranks(canvas, &ranks, plot.y + plot.height, "process");
    if (ranks.per_column == 1) {
        draw_bars(canvas, input, &ranks, &axis, compute, total);
    } else {
        char note[96], count[TEXT_NUMBER_SIZE];
        /* The total first: computing covers its lower part. */
        axis_draw_steps(canvas, &ranks, &axis, total, paint_of(INK_MPI));
        axis_draw_steps(canvas, &ranks, &axis, compute, paint_of(INK_COMPUTE));
        snprintf(note, sizeof note, "Each column shows the sum over %s processes.",
                 text_thousands(count, ranks.per_column));
        chart_note(canvas, note);
    }
    if (side)
        draw_legend(canvas, input, (struct area){plot.x + plot.width + 24, plot.y, RIGHT - 24, plot.height});
    free(compute);
}
