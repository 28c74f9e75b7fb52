/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/counter_graphs.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "render/counter_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TITLE = 18, GRAPH = 38, SCALE_SIZE = 11, TITLE_GAP = 24, SCALE_STEPS = 8 };

/* The band from the least to the most of any process. */
static const double BAND = 0.22;

static const char *unit_of(const struct scene *scene, const struct scene_counter *counter)
{
    const char *unit = timeline_info(scene->timeline)->defs->marks[counter->mark].counter.unit;
    return unit ? unit : "";
}

static char *value_of(char buffer[TEXT_NUMBER_SIZE], const struct scene *scene, const struct scene_counter *counter,
                      double value)
{
    return counter_text(buffer, unit_of(scene, counter), counter->sum, value);
}

static double step_of(double span, double most)
{
    double rough = span / most, power = pow(10, floor(log10(rough)));
    static const double factors[] = {1, 2, 5};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        if (factors[i] * power >= rough)
            return factors[i] * power;
    return 10 * power;
}

/* The ends of the graph as round numbers: from 0, unless values hardly change. False: nothing is known. */
static bool scale_of(const struct scene *scene, const struct scene_counter *counter, double *bottom, double *top)
{
    const struct timeline_curve *curve = &counter->curve;
    double least = NAN, most = NAN;
    for (uint32_t i = 0; i < curve->bins; i++) {
        least = fmin(least, curve->least[i]);
        most = fmax(most, curve->most[i]);
    }
    *bottom = 0;
    *top = 1;
    if (!isfinite(least) || !isfinite(most))
        return false;
    /* A process that computes all the time: 100 %. */
    if (counter->sum && strcmp(unit_of(scene, counter), "ns") == 0 && most > 0.9e9 && most <= 1.05e9) {
        *top = 1e9;
        return true;
    }
    bool from_zero = counter->sum || least < 0.7 * most || most <= 0;
    double from = from_zero ? fmin(0, least) : least;
    double step = step_of(fmax(most - from, fmax(fabs(most) * 1e-6, 1e-9)), SCALE_STEPS);
    *bottom = floor(from / step) * step;
    *top = fmax(ceil(most / step) * step, *bottom + step);
    return true;
}

size_t counter_graphs_fit(const struct scene *scene, double height)
{
    return smaller(scene->counter_count, (size_t)fmax(floor(height / 2 / COUNTER_GRAPH_PIXELS), 0));
}

double counter_graphs_room(struct canvas *canvas, const struct scene *scene)
{
    double width = 0;
    for (size_t i = 0; i < scene->counter_count; i++) {
        char text[TEXT_NUMBER_SIZE];
        double ends[2];
        if (!scale_of(scene, &scene->counters[i], &ends[0], &ends[1]))
            continue;
        for (size_t k = 0; k < 2; k++)
            width = fmax(width, canvas_text_width(canvas, (struct text_style){.size = SCALE_SIZE},
                                                  value_of(text, scene, &scene->counters[i], ends[k])));
    }
    return width;
}

/* A counter on its way onto the canvas. */
struct graph_place {
    struct canvas *canvas;
    const struct scene *scene;
    const struct scene_counter *counter;
    double x, y, width; /* of the graph itself; y of its upper edge */
    double bottom, top; /* its scale */
};

static double x_of(const struct graph_place *place, double bin)
{
    return place->x + place->width * bin / place->counter->curve.bins;
}

static double y_of(const struct graph_place *place, double value)
{
    double share = (value - place->bottom) / (place->top - place->bottom);
    return place->y + GRAPH * (1 - fmin(fmax(share, 0), 1));
}

/* A line through the middles of the bins [first, end), and their outer edges. */
static size_t put_line(const struct graph_place *place, const double *values, uint32_t first, uint32_t end,
                       struct point *points)
{
    size_t count = 0;
    points[count++] = (struct point){x_of(place, first), y_of(place, values[first])};
    for (uint32_t i = first; i < end; i++)
        points[count++] = (struct point){x_of(place, i + 0.5), y_of(place, values[i])};
    points[count++] = (struct point){x_of(place, end), y_of(place, values[end - 1])};
    return count;
}

static void draw_part(const struct graph_place *place, uint32_t first, uint32_t end, const char *tip)
{
    const struct timeline_curve *curve = &place->counter->curve;
    struct point *points = memory_new(2 * ((size_t)(end - first) + 2) * sizeof *points);
    size_t upper = put_line(place, curve->most, first, end, points);
    size_t lower = put_line(place, curve->least, first, end, points + upper);
    /* Back along the lower edge. */
    for (size_t i = 0; i < lower / 2; i++) {
        struct point swapped = points[upper + i];
        points[upper + i] = points[upper + lower - 1 - i];
        points[upper + lower - 1 - i] = swapped;
    }
    canvas_tip(place->canvas, "%s", tip);
    canvas_polygon(place->canvas, points, upper + lower, paint_faded(INK_MPI, BAND));
    canvas_polyline(place->canvas, points, put_line(place, curve->mean, first, end, points), 1.5, paint_of(INK_MPI));
    free(points);
}

static double mean_of(const struct timeline_curve *curve)
{
    double sum = 0;
    uint32_t known = 0;
    for (uint32_t i = 0; i < curve->bins; i++)
        if (!isnan(curve->mean[i])) {
            sum += curve->mean[i];
            known++;
        }
    return known > 0 ? sum / known : NAN;
}

/* What the graph is of, and the mean. */
static void draw_title(const struct graph_place *place, char *title, size_t size, char *mean, size_t mean_size)
{
    const struct scene *scene = place->scene;
    const struct scene_counter *counter = place->counter;
    const char *of = "";
    char number[TEXT_NUMBER_SIZE];
    if (counter->sum)
        of = strcmp(unit_of(scene, counter), "ns") == 0 ? ", share of the time" : " per second";
    snprintf(title, size, "%s%s", timeline_info(scene->timeline)->defs->marks[counter->mark].name, of);
    text_end_whole(title);
    double value = mean_of(&counter->curve);
    snprintf(mean, mean_size, "not known here");
    if (!isnan(value))
        snprintf(mean, mean_size, "mean %s", value_of(number, scene, counter, value));
    double y = place->y - TITLE / 2.0, room = place->width;
    double taken = canvas_text_width(place->canvas, (struct text_style){0}, mean) + TITLE_GAP;
    if (taken < room / 2) {
        canvas_text(place->canvas, place->x + place->width, y,
                    (struct text_style){.align = ALIGN_RIGHT, .ink = INK_MUTED}, mean);
        room -= taken;
    }
    canvas_text_cut(place->canvas, place->x, y, room, (struct text_style){0}, title);
}

static void draw_graph(struct graph_place place, double gap)
{
    const struct timeline_curve *curve = &place.counter->curve;
    struct text_style style = {.size = SCALE_SIZE, .align = ALIGN_RIGHT, .ink = INK_MUTED};
    char title[200], mean[TEXT_NUMBER_SIZE + 8], number[TEXT_NUMBER_SIZE], tip[300];
    bool known = scale_of(place.scene, place.counter, &place.bottom, &place.top);
    draw_title(&place, title, sizeof title, mean, sizeof mean);
    snprintf(tip, sizeof tip, "%s: %s", title, mean);
    canvas_line(place.canvas, place.x, place.y, place.x + place.width, place.y, 1, paint_of(INK_GRID));
    canvas_line(place.canvas, place.x, place.y + GRAPH, place.x + place.width, place.y + GRAPH, 1, paint_of(INK_AXIS));
    if (!known)
        return;
    canvas_text(place.canvas, place.x - gap, place.y + 3, style,
                value_of(number, place.scene, place.counter, place.top));
    canvas_text(place.canvas, place.x - gap, place.y + GRAPH - 4, style,
                value_of(number, place.scene, place.counter, place.bottom));
    for (uint32_t first = 0, end; first < curve->bins; first = end) {
        for (end = first; end < curve->bins && !isnan(curve->mean[end]); end++)
            continue;
        if (end > first)
            draw_part(&place, first, end, tip);
        else
            end++;
    }
}

void counter_graphs_draw(struct canvas *canvas, const struct scene *scene, size_t count, double x, double y,
                         double width, double gap)
{
    for (size_t i = 0; i < count; i++)
        draw_graph((struct graph_place){.canvas = canvas,
                                        .scene = scene,
                                        .counter = &scene->counters[i],
                                        .x = x,
                                        .y = y + TITLE + (double)i * COUNTER_GRAPH_PIXELS,
                                        .width = width},
                   gap);
}
