/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/axis.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>

enum { TICKS = 5 };

double axis_round_up(double value)
{
    /* Steps of 1, 2 and 5 times a power of ten: the ones that people read without computing. */
    double power = pow(10, floor(log10(value)));
    double digit = value / power;
    /* Logarithms and divisions are inexact: 2 must not be rounded up to 5. */
    static const double steps[] = {1, 2, 5};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (digit <= steps[i] + 1e-9)
            return power * steps[i];
    return power * 10;
}

static struct value_axis axis_up_to(struct area area, double most)
{
    struct value_axis axis = {.area = area, .unit = 1, .name = ""};
    /* An axis of zeros has a height, too: no division by zero below. The top is a multiple of the step. */
    axis.step = axis.top = 1;
    if (most > 0) {
        axis.step = axis_round_up(most / TICKS);
        axis.top = ceil(most / axis.step - 1e-9) * axis.step;
    }
    return axis;
}

/* Hours or days as ns, for times as text_duration writes in them; 0: seconds or less. */
static double long_unit(double ns)
{
    if (ns >= TEXT_DAYS_FROM_NS)
        return TEXT_DAY_NS;
    return ns >= TEXT_HOURS_FROM_NS ? TEXT_HOUR_NS : 0;
}

static const char *long_unit_name(double unit_ns)
{
    return unit_ns > TEXT_HOUR_NS ? "days" : "hours";
}

struct value_axis axis_of_seconds(struct area area, double most)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
    double large = long_unit(most * 1e9) / 1e9;
    struct value_axis axis = axis_up_to(area, large > 0 ? most / large : most);
    size_t i = 0;
    /* One unit for all labels, that of the largest: labels are then compared without reading units. */
    while (i < 3 && axis.top < units[i].unit)
        i++;
    axis.unit = units[i].unit;
    axis.name = units[i].name;
    if (large > 0) {
        /* Steps are round in this unit. */
        axis.step *= large;
        axis.top *= large;
        axis.unit = large;
        axis.name = long_unit_name(large * 1e9);
    }
    return axis;
}

double axis_y(const struct value_axis *axis, double value)
{
    return axis->area.y + axis->area.height * (1 - value / axis->top);
}

char *axis_number(const struct value_axis *axis, double value, char *buffer)
{
    double number = value / axis->unit;
    /* Three digits: 99.95 is already written as 100. */
    if (number >= 99.95 || number <= 0)
        return text_thousands(buffer, text_whole(number));
    int decimals = 2;
    if (number >= 9.995)
        decimals = 1;
    snprintf(buffer, TEXT_NUMBER_SIZE, "%.*f", decimals, number);
    return buffer;
}

int axis_decimals(const struct value_axis *axis)
{
    double step = axis->step / axis->unit;
    if (step >= 1)
        return 0;
    return (int)ceil(-log10(step) - 1e-9);
}

void axis_draw(struct canvas *canvas, const struct value_axis *axis)
{
    struct text_style style = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    double left = axis->area.x, right = left + axis->area.width;
    /* The step divides the top; their quotient is nearly whole, not exactly. */
    int ticks = (int)lround(axis->top / axis->step);
    /* As many decimals as the step needs, the same for all labels. */
    int decimals = axis_decimals(axis);
    for (int i = 0; i <= ticks; i++) {
        double value = i * axis->step, y = axis_y(axis, value);
        char label[TEXT_NUMBER_SIZE];
        if (decimals > 0)
            snprintf(label, sizeof label, "%.*f", decimals, value / axis->unit);
        else
            text_thousands(label, text_whole(value / axis->unit));
        /* The line at zero is the base of the columns and stands out. */
        canvas_line(canvas, left, y, right, y, 1, paint_of(i == 0 ? INK_AXIS : INK_GRID));
        canvas_text(canvas, left - 8, y, style, label);
    }
    /* The unit stands once above the axis, not with each label. */
    canvas_text(canvas, left - 8, axis->area.y - 18, style, axis->name);
}

struct rank_axis axis_of_ranks(const struct metrics *metrics, double x, double width, double least_width)
{
    struct rank_axis axis = {.metrics = metrics, .rows = metrics->process_count, .per_column = 1, .x = x};
    /* Columns of equal numbers of processes, the last with the rest: a mean over fewer is still one over processes. */
    size_t room = 1;
    if (width > least_width)
        room = (size_t)(width / least_width);
    if (axis.rows > room)
        axis.per_column = (axis.rows + room - 1) / room;
    axis.columns = (axis.rows + axis.per_column - 1) / axis.per_column;
    axis.column_width = width;
    if (axis.columns > 0)
        axis.column_width = width / (double)axis.columns;
    return axis;
}

size_t axis_column_rows(const struct rank_axis *axis, size_t column, size_t *end)
{
    size_t first = column * axis->per_column;
    *end = first + axis->per_column < axis->rows ? first + axis->per_column : axis->rows;
    return first;
}

double axis_bar_width(const struct rank_axis *axis)
{
    if (axis->column_width > 12)
        return axis->column_width * 0.72;
    return axis->column_width * 0.8;
}

/* The two ends of each column's top, and the corners at the bottom: 2 * columns + 2 points, to be freed. */
static struct point *steps(const struct rank_axis *ranks, const struct value_axis *axis, const double *values)
{
    /* As one shape: thousands of columns would be as many shapes of the file, with seams between them. */
    struct point *points = memory_new((2 * ranks->columns + 2) * sizeof *points);
    for (size_t i = 0; i < ranks->columns; i++) {
        double x = ranks->x + (double)i * ranks->column_width, y = axis_y(axis, values[i]);
        points[2 * i] = (struct point){x, y};
        points[2 * i + 1] = (struct point){x + ranks->column_width, y};
    }
    double bottom = axis->area.y + axis->area.height;
    points[2 * ranks->columns] = (struct point){ranks->x + (double)ranks->columns * ranks->column_width, bottom};
    points[2 * ranks->columns + 1] = (struct point){ranks->x, bottom};
    return points;
}

void axis_draw_steps(struct canvas *canvas, const struct rank_axis *ranks, const struct value_axis *axis,
                     const double *values, struct paint paint)
{
    struct point *points = steps(ranks, axis, values);
    canvas_polygon(canvas, points, 2 * ranks->columns + 2, paint);
    free(points);
}

void axis_draw_step_line(struct canvas *canvas, const struct rank_axis *ranks, const struct value_axis *axis,
                         const double *values, double width, struct paint paint)
{
    struct point *points = steps(ranks, axis, values);
    /* Only the tops: the two corners at the bottom belong to the filled shape. */
    canvas_polyline(canvas, points, 2 * ranks->columns, width, paint);
    free(points);
}

size_t axis_label_step(double row_pixels, double room)
{
    double rows = room / row_pixels;
    if (rows <= 1)
        return 1;
    return (size_t)llround(axis_round_up(rows));
}

void axis_draw_ranks(struct canvas *canvas, const struct rank_axis *axis, double y, const char *title)
{
    struct text_style style = {.align = ALIGN_CENTER, .ink = INK_MUTED};
    char label[TEXT_NUMBER_SIZE];
    if (axis->rows == 0)
        return;
    /* The last rank is the longest label. */
    text_thousands(label, axis->metrics->process[axis->rows - 1].rank);
    /* Processes that share a column are closer than a pixel: the step counts processes, not columns. */
    double row = axis->column_width / (double)axis->per_column;
    size_t step = axis_label_step(row, canvas_text_width(canvas, style, label) + 14);
    for (size_t i = 0; i < axis->rows; i += step) {
        text_thousands(label, axis->metrics->process[i].rank);
        /* The label is under the middle of the column that holds the process. */
        double x = axis->x + ((double)(i / axis->per_column) + 0.5) * axis->column_width;
        canvas_text(canvas, x, y + 12, style, label);
    }
    canvas_text(canvas, axis->x + axis->column_width * (double)axis->columns / 2, y + 32, style, title);
}

void axis_draw_ranks_left(struct canvas *canvas, const struct rank_axis *axis, double x, double y, double row_height)
{
    struct text_style style = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    double room = TEXT_SIZE + 3;
    /* Labels are beside the cells that hold their processes: where a cell holds several, distances differ by up to one,
       which shows less the larger they are. */
    if (axis->per_column > 1)
        room *= 2;
    size_t step = axis_label_step(row_height / (double)axis->per_column, room);
    for (size_t i = 0; i < axis->rows; i += step) {
        char label[TEXT_NUMBER_SIZE];
        text_thousands(label, axis->metrics->process[i].rank);
        canvas_text(canvas, x - 8, y + ((double)(i / axis->per_column) + 0.5) * row_height, style, label);
    }
}

double axis_time_step(double span_ns, double ticks)
{
    double large = long_unit(span_ns);
    if (large > 0)
        return large * axis_round_up(span_ns / large / ticks);
    /* Times are whole ns: finer ticks would repeat the same label. */
    return fmax(1, axis_round_up(fmax(1, span_ns) / ticks));
}

/* Whether a step is 1, 2 or 5 times a power of ten of this unit: steps of seconds never are of hours, nor those of
 * days.
 */
static bool is_step_of(double step, double unit_ns)
{
    double number = step / unit_ns * (1 - 1e-9);
    return axis_round_up(number) < number * (1 + 1e-6);
}

char *axis_time(char *buffer, size_t size, double ns, double step, const char **unit)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}};
    size_t at = 0;
    /* The unit that the step has few digits in, unless that makes the number long. */
    while (at < 3 && step <= units[at].ns / 20 && ns < units[at + 1].ns * 1e5)
        at++;
    double one = units[at].ns;
    *unit = units[at].name;
    if (is_step_of(step, TEXT_HOUR_NS) || is_step_of(step, TEXT_DAY_NS)) {
        one = is_step_of(step, TEXT_HOUR_NS) ? TEXT_HOUR_NS : TEXT_DAY_NS;
        *unit = long_unit_name(one);
    }
    int digits = 0;
    /* 0.999, as a step of 1 ms in s may be a little less than 0.001. */
    for (double left = step / one; left < 0.999 && digits < 9; left *= 10)
        digits++;
    if (digits == 0 && ns >= 0)
        snprintf(buffer, size, "%s", text_number(text_whole(ns / one)).text);
    else
        snprintf(buffer, size, "%.*f", digits, ns / one);
    return buffer;
}

void axis_draw_time(struct canvas *canvas, double x, double width, double y, double begin_ns, double span_ns,
                    const char *note)
{
    struct text_style style = {.align = ALIGN_CENTER, .ink = INK_MUTED};
    double step = axis_time_step(span_ns, fmax(1, width / 90));
    const char *unit = "";
    char label[48], title[300];
    /* From the first multiple of the step inside: labels are round numbers wherever the window begins. */
    for (double at = ceil(begin_ns / step) * step; span_ns > 0 && at <= begin_ns + span_ns; at += step) {
        double place = x + width * (at - begin_ns) / span_ns;
        canvas_line(canvas, place, y, place, y + 4, 1, paint_of(INK_AXIS));
        canvas_text(canvas, place, y + 14, style, axis_time(label, sizeof label, at, step, &unit));
    }
    double middle = x + width / 2, room = 2 * fmin(middle, canvas_width(canvas) - middle);
    snprintf(title, sizeof title, "%s after the start of the run%s%s", unit, *note ? "; " : "", note);
    /* The unit is worth more than the note. */
    if (canvas_text_width(canvas, style, title) > room)
        snprintf(title, sizeof title, "%s after the start of the run", unit);
    canvas_text(canvas, middle, y + 32, style, title);
}
