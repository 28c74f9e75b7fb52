/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI functions of each process: pies where processes are few, then stacked rows, then densities. */
#include "render/charts/chart.h"

#include "core/text.h"
#include "heuristics/efficiency.h"
#include "render/charts/heat.h"
#include "render/charts/palette.h"
#include "render/functions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PIES_MOST = 16, ROWS_MOST = 96, LEGEND_WIDTH = 260, GAP = 36, LEGEND_ROW = 22, NAMES = 150, TIMES = 84 };

/* Slices below this share are too thin for a line beside them. */
static const double SEPARATED = 0.01;

void chart_activity_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    struct functions functions = functions_of(input->metrics);
    char share[TEXT_NUMBER_SIZE], all[TEXT_NUMBER_SIZE];
    double total = 0, mpi = mpi_share(input->metrics);
    /* The place of the others is the last, whether or not all places before it are taken. */
    for (size_t i = 0; i <= FUNCTIONS_MAX; i++)
        total += functions.seconds[i];
    if (functions.count == 0 || total <= 0) {
        chart_say(answer, "No time is spent in MPI functions");
        return;
    }
    const char *name = input->metrics->defs->states[functions.state[0]].name;
    /* A name can be as long as the trace likes; the title has room for two lines. */
    chart_say(answer, "%.*s takes %s of the time in MPI, which is %s of the total time%s", text_beginning(name, 80),
              name, text_share(share, functions.seconds[0] / total), text_share(all, mpi),
              mpi_share_note(input->metrics));
}

static struct paint place_paint(const struct chart_input *input, const struct functions *functions, size_t place)
{
    if (place >= functions->count)
        return paint_of(INK_OTHER);
    return palette_paint(&input->metrics->defs->states[functions->state[place]], input->own_colours);
}

/* The name of a place; `buffer` has 64 bytes. */
static const char *place_name(const struct chart_input *input, const struct functions *functions, size_t place,
                              char *buffer)
{
    if (place < functions->count)
        return input->metrics->defs->states[functions->state[place]].name;
    snprintf(buffer, 64, "%zu other functions", functions->others);
    return buffer;
}

static size_t place_count(const struct functions *functions)
{
    return functions->count + (functions->others > 0);
}

/* Places are 0 .. count - 1; the others' place is FUNCTIONS_MAX. */
static size_t nth_place(const struct functions *functions, size_t n)
{
    return n < functions->count ? n : FUNCTIONS_MAX;
}

static void draw_legend(struct canvas *canvas, const struct chart_input *input, const struct functions *functions,
                        struct area area)
{
    char name[64], time[TEXT_NUMBER_SIZE];
    struct text_style muted = {.ink = INK_MUTED};
    canvas_text(canvas, area.x, area.y, muted, "function");
    muted.align = ALIGN_RIGHT;
    canvas_text_cut(canvas, area.x + area.width, area.y, area.width - 60, muted, "time, all processes");
    /* Whole rows only: a name cut by the edge of the area would be left out by the canvas anyway. */
    for (size_t i = 0; i < place_count(functions) && (double)(i + 1) * LEGEND_ROW < area.height; i++) {
        size_t place = nth_place(functions, i);
        chart_legend(canvas, area.x, area.y + (double)(i + 1) * LEGEND_ROW, area.width,
                     place_paint(input, functions, place), place_name(input, functions, place, name),
                     seconds_text(time, functions->seconds[place]));
    }
}

static void draw_pie(struct canvas *canvas, const struct chart_input *input, const struct functions *functions,
                     const struct process_row *row, struct point middle, double radius)
{
    double seconds[FUNCTIONS_MAX + 1], total = 0, from = 0;
    char number[TEXT_NUMBER_SIZE], label[64], name[64];
    functions_of_process(functions, input->metrics, row, seconds);
    for (size_t i = 0; i <= FUNCTIONS_MAX; i++)
        total += seconds[i];
    for (size_t i = 0; i <= FUNCTIONS_MAX && total > 0; i++) {
        /* Empty slices would be shapes without a size, each with a tip. */
        double share = seconds[i] / total;
        if (share <= 0)
            continue;
        canvas_tip(canvas, "process %s: %s %s", text_number(row->rank).text, place_name(input, functions, i, name),
                   seconds_text(number, seconds[i]));
        canvas_slice(canvas, middle.x, middle.y, radius, from, from + share, place_paint(input, functions, i));
        from += share;
    }
    /* A thin line of ground between slices keeps them apart in grey print. */
    from = 0;
    /* The lines come after all slices, as a slice would cover half of the line before it. */
    for (size_t i = 0; i <= FUNCTIONS_MAX && total > 0; i++) {
        double share = seconds[i] / total, angle = 2 * M_PI * (from - 0.25), end = angle + 2 * M_PI * share;
        from += share;
        /* Between slices this thin the lines would hide the slices. */
        if (share < SEPARATED || share > 1 - SEPARATED)
            continue;
        canvas_line(canvas, middle.x, middle.y, middle.x + radius * cos(angle), middle.y + radius * sin(angle), 1,
                    paint_of(INK_BACK));
        canvas_line(canvas, middle.x, middle.y, middle.x + radius * cos(end), middle.y + radius * sin(end), 1,
                    paint_of(INK_BACK));
    }
    if (total <= 0)
        /* A process without MPI has a pie of its size all the same: an empty place would look like a fault. */
        canvas_ring(canvas, middle.x, middle.y, radius, 1, paint_of(INK_GRID));
    snprintf(label, sizeof label, "%u", row->rank);
    canvas_text(canvas, middle.x, middle.y - radius - 11, (struct text_style){.align = ALIGN_CENTER, .bold = true},
                label);
    canvas_text(canvas, middle.x, middle.y + radius + 11, (struct text_style){.align = ALIGN_CENTER, .ink = INK_MUTED},
                seconds_text(number, total));
}

static void draw_pies(struct canvas *canvas, const struct chart_input *input, const struct functions *functions,
                      struct area area)
{
    size_t count = input->metrics->process_count, columns = 1;
    /* As many columns as make the pies largest. */
    double best = 0;
    for (size_t i = 1; i <= count; i++) {
        /* What is left of a cell below the number above the pie and the time below it. */
        double side = fmin(area.width / (double)i, area.height / (double)((count + i - 1) / i) - 36);
        if (side > best) {
            best = side;
            columns = i;
        }
    }
    size_t rows = (count + columns - 1) / columns;
    double width = area.width / (double)columns, height = area.height / (double)rows, radius = fmin(best * 0.42, 130);
    for (size_t i = 0; i < count; i++)
        draw_pie(canvas, input, functions, &input->metrics->process[i],
                 (struct point){area.x + ((double)(i % columns) + 0.5) * width,
                                area.y + ((double)(i / columns) + 0.5) * height},
                 radius);
}

/* Seconds along the rows: the value axis is horizontal. */
static void draw_seconds_below(struct canvas *canvas, struct area area, const struct value_axis *axis)
{
    int ticks = (int)lround(axis->top / axis->step);
    int decimals = axis_decimals(axis);
    struct text_style style = {.align = ALIGN_CENTER, .ink = INK_MUTED};
    for (int i = 0; i <= ticks; i++) {
        double x = area.x + area.width * i / ticks;
        char label[TEXT_NUMBER_SIZE];
        canvas_line(canvas, x, area.y, x, area.y + area.height, 1, paint_of(i ? INK_GRID : INK_AXIS));
        /* The unit stands with the last label, as there is no room above the axis. */
        if (i < ticks)
            snprintf(label, sizeof label, "%.*f", decimals, i * axis->step / axis->unit);
        else
            snprintf(label, sizeof label, "%.*f %s", decimals, i * axis->step / axis->unit, axis->name);
        canvas_text(canvas, x, area.y + area.height + 12, style, label);
    }
    canvas_text(canvas, area.x + area.width / 2, area.y + area.height + 32, style, "time in MPI");
}

static void draw_rows(struct canvas *canvas, const struct chart_input *input, const struct functions *functions,
                      struct area area)
{
    const struct metrics *metrics = input->metrics;
    struct area plot = {area.x + AXIS_LABELS, area.y + 14, area.width - AXIS_LABELS - 16, area.height - 14 - 44};
    double most = 0, seconds[FUNCTIONS_MAX + 1];
    /* The longest row decides the scale of all, so that rows can be compared. */
    for (size_t i = 0; i < metrics->process_count; i++) {
        double total = 0;
        functions_of_process(functions, metrics, &metrics->process[i], seconds);
        for (size_t k = 0; k <= FUNCTIONS_MAX; k++)
            total += seconds[k];
        most = fmax(most, total);
    }
    struct value_axis axis = axis_of_seconds(plot, most);
    /* Rows are as high as they come out: the axis must not put several processes into one. */
    struct rank_axis ranks = axis_of_ranks(metrics, 0, (double)metrics->process_count, 1);
    double row_height = plot.height / (double)metrics->process_count;
    draw_seconds_below(canvas, plot, &axis);
    canvas_text(canvas, plot.x - 8, plot.y - 12, (struct text_style){.align = ALIGN_RIGHT, .ink = INK_MUTED},
                "process");
    axis_draw_ranks_left(canvas, &ranks, plot.x, plot.y, row_height);
    for (size_t i = 0; i < metrics->process_count; i++) {
        double x = plot.x;
        functions_of_process(functions, metrics, &metrics->process[i], seconds);
        /* Functions in the same order in each row: the first begin at a common line and can be compared exactly. */
        for (size_t k = 0; k <= FUNCTIONS_MAX; k++) {
            double width = seconds[k] / axis.top * plot.width;
            char name[64], number[TEXT_NUMBER_SIZE];
            /* Thinner than any printer's dot, and each would be a shape of the file. */
            if (width <= 0.02)
                continue;
            canvas_tip(canvas, "process %s: %s %s", text_number(metrics->process[i].rank).text,
                       place_name(input, functions, k, name), seconds_text(number, seconds[k]));
            /* The rest of the row is ground, which keeps neighbours apart. */
            canvas_rect(canvas, x, plot.y + (double)i * row_height, width, row_height * 0.84,
                        place_paint(input, functions, k));
            x += width;
        }
    }
}

static char *share_label(char *buffer, double value)
{
    return text_share(buffer, value);
}

/* A row for each function, a column for many processes, coloured by the share of the processes' total time. */
static struct heat density(const struct chart_input *input, const struct functions *functions,
                           const struct rank_axis *ranks, struct area plot)
{
    const struct metrics *metrics = input->metrics;
    struct heat heat = heat_new(plot, ranks->columns, place_count(functions), false);
    for (size_t column = 0; column < ranks->columns; column++) {
        size_t end, first = axis_column_rows(ranks, column, &end);
        double sums[FUNCTIONS_MAX + 1] = {0}, seconds[FUNCTIONS_MAX + 1], total = 0;
        for (size_t i = first; i < end; i++) {
            functions_of_process(functions, metrics, &metrics->process[i], seconds);
            total += (double)process_total_ns(&metrics->process[i]) / 1e9;
            for (size_t k = 0; k <= FUNCTIONS_MAX; k++)
                sums[k] += seconds[k];
        }
        /* Sums divided by sums, not means of shares: a short process must not weigh as much as a long one. */
        for (size_t row = 0; row < heat.rows && total > 0; row++)
            heat.values[row * heat.columns + column] = sums[nth_place(functions, row)] / total;
    }
    return heat;
}

static void draw_density(struct canvas *canvas, const struct chart_input *input, const struct functions *functions,
                         struct area area)
{
    double height = fmin(area.height - 110, 80.0 * (double)place_count(functions));
    double names = fmin(NAMES, area.width * 0.4), times = 0;
    /* A narrow chart shows the names alone: colours already say how the times compare. */
    if (area.width > 400)
        times = TIMES;
    struct area plot = {area.x + names, area.y + 20, area.width - names - times, height};
    struct rank_axis ranks = axis_of_ranks(input->metrics, plot.x, plot.width, 3);
    struct heat heat = density(input, functions, &ranks, plot);
    /* The heat's cells are whole pixels, a little narrower than the axis planned. */
    ranks.column_width = heat.grid.cell_width;
    heat_draw(canvas, &heat);
    double bottom = heat.grid.y + heat.grid.cell_height * (double)heat.rows,
           right = heat.grid.x + heat.grid.cell_width * (double)heat.columns;
    if (times > 0)
        canvas_text(canvas, right + times, plot.y - 12, (struct text_style){.align = ALIGN_RIGHT, .ink = INK_MUTED},
                    "time");
    for (size_t row = 0; row < heat.rows; row++) {
        char name[64], time[TEXT_NUMBER_SIZE];
        size_t place = nth_place(functions, row);
        double y = heat.grid.y + ((double)row + 0.5) * heat.grid.cell_height;
        /* Names of rows this low would overlap. */
        if (heat.grid.cell_height < TEXT_SIZE)
            continue;
        canvas_rect(canvas, area.x, y - 6, 12, 12, place_paint(input, functions, place));
        canvas_text_cut(canvas, area.x + 20, y, names - 30, (struct text_style){0},
                        place_name(input, functions, place, name));
        if (times > 0)
            canvas_text(canvas, right + times, y, (struct text_style){.align = ALIGN_RIGHT, .ink = INK_MUTED},
                        seconds_text(time, functions->seconds[place]));
    }
    axis_draw_ranks(canvas, &ranks, bottom, "process");
    /* The scale is below the numbers of processes. */
    heat_draw_scale(canvas, &heat, plot.x, bottom + 52, fmin(220, plot.width), "share of a process's time",
                    share_label);
    heat_clear(&heat);
}

void chart_activity_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    struct functions functions = functions_of(input->metrics);
    if (input->metrics->process_count > ROWS_MOST) {
        draw_density(canvas, input, &functions, area);
        return;
    }
    bool side = area.width > 2.2 * LEGEND_WIDTH;
    struct area left = area;
    if (side)
        left.width = area.width - LEGEND_WIDTH - GAP;
    if (input->metrics->process_count <= PIES_MOST)
        draw_pies(canvas, input, &functions, left);
    else
        draw_rows(canvas, input, &functions, left);
    if (side)
        draw_legend(canvas, input, &functions,
                    (struct area){left.x + left.width + GAP, area.y + 14, LEGEND_WIDTH, area.height - 14});
}
