/* SPDX-License-Identifier: BSD-3-Clause */
/* Speed-up over the number of processes: what was measured, what the law makes of it, and what would be ideal. */
#include "core/memory.h"
#include "core/text.h"
#include "render/charts/chart.h"
#include "render/charts/size_axis.h"

#include <math.h>
#include <stdio.h>

enum { CURVE_POINTS = 65, SIDE_WIDTH = 128, LABEL_ROOM = 44 };

/* Speed-ups from the bottom of the area to its top, each twice the one below. */
struct speed_axis {
    struct area area;
    double least, most;
};

/* What is drawn, in what. */
struct drawing {
    struct canvas *canvas;
    const struct scaling *scaling;
    struct size_axis sizes;
    struct speed_axis speeds;
};

void chart_scaling_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    const struct scaling *scaling = input->scaling;
    const struct scaling_size *first = &scaling->sizes[0], *last = &scaling->sizes[scaling->size_count - 1];
    char share[TEXT_NUMBER_SIZE], times[TEXT_NUMBER_SIZE], number[TEXT_NUMBER_SIZE];
    bool slower = last->speedup < 1;
    double ratio = last->speedup;
    if (slower)
        ratio = 1 / ratio;
    const char *fast = slower ? "slow" : "fast";
    text_times(times, ratio);
    text_share(share, last->efficiency);
    text_thousands(number, (uint64_t)scaling_n(last));
    if (scaling->half_n > 0)
        chart_say(answer, "%s %s are %s times as %s as %.0f, at an efficiency of %s; it %s below 50 %% at %.0f", number,
                  axis_size_name(scaling), times, fast, scaling_n(first), share,
                  scaling->half_measured ? "falls" : "will fall", scaling->half_n);
    else
        chart_say(answer, "%s %s are %s times as %s as %.0f, at an efficiency of %s", number, axis_size_name(scaling),
                  times, fast, scaling_n(first), share);
}

static double speed_y(const struct speed_axis *axis, double speed)
{
    /* Logarithms on both axes: a law of powers is then a straight line, and so is ideal scaling. */
    double share = log2(speed / axis->least) / log2(axis->most / axis->least);
    return axis->area.y + axis->area.height * (1 - share);
}

/* The speed-up of a time at n, by the definition of scaling.h. */
static double speedup_at(const struct scaling *scaling, double n, double time_s)
{
    const struct scaling_size *first = &scaling->sizes[0];
    double ratio = first->time_s / time_s;
    /* In weak scaling the work grows with n: the same time is a speed-up of n. */
    if (scaling->weak)
        return ratio * n / scaling_n(first);
    return ratio;
}

/* The axis has room for the forecasts, too. */
static double largest_n(const struct scaling *scaling)
{
    double most = scaling_n(&scaling->sizes[scaling->size_count - 1]);
    for (size_t i = 0; i < 2; i++)
        /* Forecasts that there are not have a size of 0. */
        most = fmax(most, scaling->forecasts[i].n);
    return most;
}

/* Powers of two around what is drawn. */
static struct speed_axis speeds_of(const struct scaling *scaling, struct area area, double most_n)
{
    double least = 1, most = most_n / scaling_n(&scaling->sizes[0]);
    for (size_t i = 0; i < scaling->size_count; i++)
        if (scaling->sizes[i].speedup > 0) {
            least = fmin(least, scaling->sizes[i].speedup);
            most = fmax(most, scaling->sizes[i].speedup);
        }
    /* A forecast far below would take all of the room from what was measured. */
    for (size_t i = 0; i < 2 && scaling->forecasts[i].n > 0; i++)
        least =
            fmin(least, fmax(0.05, speedup_at(scaling, scaling->forecasts[i].n, scaling->forecasts[i].time.time_s)));
    /* Whole powers of two, without one more where rounding leaves a speed-up just beyond it. */
    return (struct speed_axis){area, exp2(floor(log2(least) + 1e-9)), exp2(ceil(log2(most) - 1e-9))};
}

static void draw_speeds(const struct drawing *drawing)
{
    const struct speed_axis *axis = &drawing->speeds;
    struct text_style style = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    double right = axis->area.x + axis->area.width;
    for (double speed = axis->least; speed <= axis->most * 1.001; speed *= 2) {
        char label[32];
        double y = speed_y(axis, speed);
        if (speed < 1)
            snprintf(label, sizeof label, "1/%.4g×", 1 / speed);
        else
            snprintf(label, sizeof label, "%.4g×", speed);
        canvas_line(drawing->canvas, axis->area.x, y, right, y, 1, paint_of(INK_GRID));
        canvas_text(drawing->canvas, axis->area.x - 10, y, style, label);
    }
}

/* The diagonal of ideal scaling, and its name along its end. */
static void draw_ideal(const struct drawing *drawing)
{
    double first = scaling_n(&drawing->scaling->sizes[0]), last = drawing->sizes.most;
    double x = axis_size_x(&drawing->sizes, last), y = speed_y(&drawing->speeds, last / first);
    canvas_dashes(drawing->canvas, drawing->sizes.x, speed_y(&drawing->speeds, 1), x, y, 1.5, paint_of(INK_AXIS));
    canvas_text(drawing->canvas, x + 10, y, (struct text_style){.ink = INK_MUTED}, "ideal");
}

/* The law, beyond the largest size fainter. */
static void draw_law(const struct drawing *drawing)
{
    const struct scaling *scaling = drawing->scaling;
    const struct law *law = &scaling->rows[0].law;
    double measured = scaling_n(&scaling->sizes[scaling->size_count - 1]), from = scaling_n(&scaling->sizes[0]);
    struct point points[CURVE_POINTS];
    if (!law->found)
        return;
    for (int beyond = 0; beyond < 2; beyond++) {
        double begin = from, end = measured;
        struct paint paint = paint_of(INK_MPI);
        if (beyond) {
            begin = measured;
            end = drawing->sizes.most;
            paint = paint_faded(INK_MPI, 0.5);
        }
        size_t count = 0;
        for (size_t i = 0; i < CURVE_POINTS; i++) {
            /* Points at equal distances on the logarithmic axis. */
            double n = begin * pow(end / begin, (double)i / (CURVE_POINTS - 1));
            double speed = speedup_at(scaling, n, law_at(law, n));
            /* A law leaves the chart at its edge: clipping would need a path of its own. */
            if (speed >= drawing->speeds.least && speed <= drawing->speeds.most)
                points[count++] = (struct point){axis_size_x(&drawing->sizes, n), speed_y(&drawing->speeds, speed)};
        }
        if (count > 1)
            canvas_polyline(drawing->canvas, points, count, 2, paint);
    }
}

/* A vertical bar from one speed-up to another. */
static void draw_bar(const struct drawing *drawing, double n, double low, double high, struct paint paint)
{
    double x = axis_size_x(&drawing->sizes, n);
    /* What is beyond the axis ends at its edge. */
    double bottom = speed_y(&drawing->speeds, fmax(low, drawing->speeds.least));
    double top = speed_y(&drawing->speeds, fmin(fmax(high, drawing->speeds.least), drawing->speeds.most));
    canvas_line(drawing->canvas, x, top, x, bottom, 1.5, paint);
    canvas_line(drawing->canvas, x - 4, top, x + 4, top, 1.5, paint);
    canvas_line(drawing->canvas, x - 4, bottom, x + 4, bottom, 1.5, paint);
}

static void draw_forecasts(const struct drawing *drawing)
{
    const struct scaling *scaling = drawing->scaling;
    for (size_t i = 0; i < 2 && scaling->forecasts[i].n > 0; i++) {
        const struct scaling_forecast *forecast = &scaling->forecasts[i];
        double speed = speedup_at(scaling, forecast->n, forecast->time.time_s);
        double x = axis_size_x(&drawing->sizes, forecast->n);
        double y = speed_y(&drawing->speeds, fmax(speed, drawing->speeds.least));
        char time[TEXT_NUMBER_SIZE];
        draw_bar(drawing, forecast->n, speedup_at(scaling, forecast->n, forecast->time.high_s),
                 speedup_at(scaling, forecast->n, forecast->time.low_s), paint_faded(INK_MPI, 0.6));
        /* A ring with the ground inside: measured points are filled. */
        canvas_circle(drawing->canvas, x, y, 5, paint_of(INK_BACK));
        canvas_ring(drawing->canvas, x, y, 5, 1.5, paint_of(INK_MPI));
        /* Below the ring where the diagonal's name is beside it. */
        double ideal = speed_y(&drawing->speeds, drawing->sizes.most / scaling_n(&scaling->sizes[0]));
        double below = 0;
        if (i == 0 || fabs(y - ideal) < 18)
            below = 18;
        /* Forecasts can be absurd; a time in ns must stay within 64 bits. */
        canvas_text(drawing->canvas, x + 12, y + below, (struct text_style){.ink = INK_MUTED},
                    text_duration(time, llround(fmin(forecast->time.time_s, 9e9) * 1e9)));
    }
}

static void draw_measured(const struct drawing *drawing)
{
    const struct scaling *scaling = drawing->scaling;
    for (size_t i = 0; i < scaling->size_count; i++) {
        const struct scaling_size *size = &scaling->sizes[i];
        double n = scaling_n(size);
        /* Written so that NaN is left out as well. */
        if (!(size->speedup > 0))
            continue;
        double x = axis_size_x(&drawing->sizes, n), y = speed_y(&drawing->speeds, size->speedup);
        char share[TEXT_NUMBER_SIZE], time[TEXT_NUMBER_SIZE];
        bool poor = size->efficiency < 0.5;
        if (size->repeats > 1)
            draw_bar(drawing, n, speedup_at(scaling, n, size->most_s), speedup_at(scaling, n, size->least_s),
                     paint_of(INK_MPI));
        canvas_tip(drawing->canvas, "%u × %u: %s", size->processes, size->threads,
                   text_duration(time, llround(fmin(size->time_s, 9e9) * 1e9)));
        enum ink point = INK_MPI;
        struct text_style style = {.bold = poor};
        if (poor)
            point = style.ink = INK_ACCENT;
        canvas_circle(drawing->canvas, x, y, 5, paint_of(point));
        /* The first size is the base, with an efficiency of 100 % by definition. */
        if (i > 0)
            canvas_text(drawing->canvas, x + 10, y + 16, style, text_share(share, size->efficiency));
    }
}

/* Where the machine has no more cores. */
static void draw_cores(const struct drawing *drawing)
{
    double cores = drawing->scaling->cores;
    char label[48];
    /* Cores beyond the sizes that were run explain nothing in them. */
    if (cores < drawing->sizes.least || cores >= scaling_n(&drawing->scaling->sizes[drawing->scaling->size_count - 1]))
        return;
    double x = axis_size_x(&drawing->sizes, cores), top = drawing->speeds.area.y;
    snprintf(label, sizeof label, "%.0f cores", cores);
    canvas_dashes(drawing->canvas, x, top, x, top + drawing->speeds.area.height, 1, paint_of(INK_AXIS));
    canvas_text(drawing->canvas, x + 6, top + 8, (struct text_style){.ink = INK_MUTED}, label);
}

void chart_scaling_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct scaling *scaling = input->scaling;
    struct area plot = {area.x + AXIS_LABELS, area.y + 16, area.width - AXIS_LABELS - SIDE_WIDTH,
                        area.height - 16 - LABEL_ROOM};
    if (plot.width < CHART_PLOT_LEAST || plot.height < CHART_PLOT_LEAST)
        return;
    double most = largest_n(scaling);
    struct drawing drawing = {canvas, scaling, axis_of_sizes(scaling, plot, most), speeds_of(scaling, plot, most)};
    draw_speeds(&drawing);
    axis_draw_sizes(canvas, &drawing.sizes, scaling, plot.y + plot.height);
    draw_ideal(&drawing);
    draw_cores(&drawing);
    draw_law(&drawing);
    draw_measured(&drawing);
    draw_forecasts(&drawing);
    const char *note = "Per cent are efficiencies. Too few sizes to extrapolate.";
    if (scaling->rows[0].law.found)
        note = "Per cent are efficiencies. Rings: what the law of the measured times makes of larger runs, "
               "with 90 % intervals.";
    chart_note(canvas, note);
}
