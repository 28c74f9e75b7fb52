/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_AXIS_H
#define SIGHT_RENDER_CHARTS_AXIS_H

#include "metrics/metrics.h"
#include "render/charts/canvas.h"

/* Axes: values with ticks at 1, 2 or 5 times a power of ten, and processes, several per column if there are many. */

struct area {
    double x, y, width, height;
};

/* Values from 0 upwards, drawn from the bottom of the area to its top. */
struct value_axis {
    double top;       /* the value at the area's top: a tick */
    double step;      /* between ticks */
    double unit;      /* labels are value / unit */
    const char *name; /* of the unit: "ms" */
    struct area area;
};

enum { AXIS_LABELS = 54 }; /* room that labels of values take on the left */

/* Values of seconds up to `most`; the unit is chosen by it. */
struct value_axis axis_of_seconds(struct area area, double most);

/* Where a value is, in the canvas. */
double axis_y(const struct value_axis *axis, double value);

/* A value in the axis' unit, with three digits: "1.03". */
char *axis_number(const struct value_axis *axis, double value, char *buffer);

/* Decimals that the labels of all ticks have, in the axis' unit: as many as its step needs. */
int axis_decimals(const struct value_axis *axis);

/* Grid lines and labels, the unit above them; draw them before the contents of the area. */
void axis_draw(struct canvas *canvas, const struct value_axis *axis);

/* The smallest of 1, 2, 5 times a power of ten that is at least `value` (> 0). */
double axis_round_up(double value);

/* Ticks of a time axis: the step in ns, a multiple of 1, 2 or 5, for at most `ticks` of them; and the label of a time
   with the digits that the step needs, without its unit. */
double axis_time_step(double span_ns, double ticks);
char *axis_time(char *buffer, size_t size, double ns, double step, const char **unit);

/* Times from `begin_ns` of the run on under x to x + width, and below what they are counted from, and the note (""
   is none). */
void axis_draw_time(struct canvas *canvas, double x, double width, double y, double begin_ns, double span_ns,
                    const char *note);

/* Processes (rows of the metrics, by rank) as columns of equal width. */
struct rank_axis {
    const struct metrics *metrics;
    size_t rows, columns, per_column;
    double x, column_width;
};

/* At least `least_width` for a column. */
struct rank_axis axis_of_ranks(const struct metrics *metrics, double x, double width, double least_width);

/* Rows of a column: [first, *end). */
size_t axis_column_rows(const struct rank_axis *axis, size_t column, size_t *end);

/* The width of a bar in its column: narrow ones need their pixels for themselves, wide ones a gap between them. */
double axis_bar_width(const struct rank_axis *axis);

/* Columns up to the values as one shape, without seams between them. `values` has a value for each column. */
void axis_draw_steps(struct canvas *canvas, const struct rank_axis *ranks, const struct value_axis *axis,
                     const double *values, struct paint paint);

/* The same as a line along their tops. */
void axis_draw_step_line(struct canvas *canvas, const struct rank_axis *ranks, const struct value_axis *axis,
                         const double *values, double width, struct paint paint);

/* Every how many rows of `row_pixels` one is labelled, in steps of 1-2-5, so that labels of `room` each fit. */
size_t axis_label_step(double row_pixels, double room);

/* Ranks under the columns, thinned to steps of 1-2-5, and `title` ("process") below. */
void axis_draw_ranks(struct canvas *canvas, const struct rank_axis *axis, double y, const char *title);

/* The same beside rows of equal height, to the left of x. */
void axis_draw_ranks_left(struct canvas *canvas, const struct rank_axis *axis, double x, double y, double row_height);

#endif
