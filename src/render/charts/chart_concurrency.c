/* SPDX-License-Identifier: BSD-3-Clause */
/* How many processes compute at once: on the left over the run, on the right for how much of it. Both have the number
   of processes upwards. */
#include "render/charts/chart.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>

enum { GAP = 56, PROFILE = 260, SMALL = 560, LABEL_LEAST = 14, TICKS = 6 };

/* How long `number` processes compute at once. */
static double time_of(const struct analysis *analysis, size_t number)
{
    if (number > 0)
        return (double)analysis->concurrency_ns[number - 1];
    double some = 0;
    for (size_t i = 0; i < analysis->process_count; i++)
        some += (double)analysis->concurrency_ns[i];
    return fmax(0, (double)analysis->duration - some);
}

/* Mean number of processes that compute at once. */
static double mean_of(const struct analysis *analysis)
{
    double sum = 0;
    for (size_t i = 0; i < analysis->process_count; i++)
        sum += (double)analysis->concurrency_ns[i] * (double)(i + 1);
    return analysis->duration > 0 ? sum / (double)analysis->duration : 0;
}

void chart_concurrency_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    const struct analysis *analysis = input->metrics->analysis;
    size_t count = analysis->process_count;
    char share[TEXT_NUMBER_SIZE], mean[TEXT_NUMBER_SIZE];
    double duration = fmax(1, (double)analysis->duration), number = mean_of(analysis);
    if (number <= 0) {
        chart_say(answer, "How many processes compute at once is not known");
        return;
    }
    if (number < 0.995)
        snprintf(mean, sizeof mean, "%.2g", number);
    else if (number < 99.95)
        snprintf(mean, sizeof mean, "%.1f", number);
    else
        text_thousands(mean, text_whole(number));
    double all = time_of(analysis, count) / duration, few = (time_of(analysis, 0) + time_of(analysis, 1)) / duration;
    if (count == 1)
        chart_say(answer, "The process computes %s of the time", text_share(share, all));
    else if (number < 0.05)
        chart_say(answer, "Hardly any of the %s processes computes at any time", text_number(count).text);
    else
        chart_say(answer, "On average %s of %s processes compute at once, %s for %s of the run", mean,
                  text_number(count).text, all >= few ? "all of them" : "at most one",
                  text_share(share, all >= few ? all : few));
}

/* Numbers from 0 to the processes, upwards: each has a strip of its own. */
struct strips {
    struct area area;
    size_t count;  /* of processes */
    double height; /* of a strip */
};

static struct strips strips_of(struct area area, size_t processes)
{
    return (struct strips){area, processes, area.height / (double)(processes + 1)};
}

/* The middle of a number's strip. */
static double strip_y(const struct strips *strips, double number)
{
    return strips->area.y + strips->area.height - (number + 0.5) * strips->height;
}

static void draw_numbers(struct canvas *canvas, const struct strips *strips, double x, double width)
{
    struct text_style style = {.align = ALIGN_RIGHT, .ink = INK_MUTED};
    size_t step = (size_t)fmax(1, axis_round_up((double)strips->count / TICKS));
    for (size_t i = 0; i <= strips->count; i += step) {
        char label[TEXT_NUMBER_SIZE];
        double y = strip_y(strips, (double)i);
        canvas_line(canvas, x, y, x + width, y, 1, paint_of(i ? INK_GRID : INK_AXIS));
        canvas_text(canvas, x - 8, y, style, text_thousands(label, i));
    }
}

/* The mean of each part of the run, from the line of 0 up. */
static void draw_course(struct canvas *canvas, const struct chart_input *input, const struct strips *strips)
{
    const struct analysis *analysis = input->metrics->analysis;
    struct area plot = strips->area;
    struct point points[2 * COURSE_BINS + 2];
    size_t count = 0;
    double duration = fmax(1, (double)analysis->duration), zero = strip_y(strips, 0);
    canvas_text(canvas, plot.x - 8, plot.y - 14, (struct text_style){.ink = INK_MUTED}, "processes that compute");
    draw_numbers(canvas, strips, plot.x, plot.width);
    points[count++] = (struct point){plot.x, zero};
    for (size_t bin = 0; bin < COURSE_BINS; bin++) {
        double from = (double)course_edge(analysis->duration, bin),
               to = (double)course_edge(analysis->duration, bin + 1);
        double mean = to > from ? (double)analysis->computing_course_ns[bin] / (to - from) : 0;
        double y = strip_y(strips, fmin(mean, (double)strips->count));
        points[count++] = (struct point){plot.x + plot.width * from / duration, y};
        points[count++] = (struct point){plot.x + plot.width * to / duration, y};
    }
    points[count++] = (struct point){plot.x + plot.width, zero};
    canvas_polygon(canvas, points, count, paint_of(INK_COMPUTE));
    double mean = strip_y(strips, mean_of(analysis));
    canvas_dashes(canvas, plot.x, mean, plot.x + plot.width, mean, 1.2, paint_of(INK_ACCENT));
    canvas_text(canvas, plot.x + plot.width + 4, mean, (struct text_style){.ink = INK_ACCENT}, "mean");
    axis_draw_time(canvas, plot.x, plot.width, plot.y + plot.height, 0, (double)analysis->duration, "");
}

/* A bar for each number, or for several where single ones would have no room for their share: their time together. */
static void draw_profile(struct canvas *canvas, const struct chart_input *input, const struct strips *strips,
                         struct area area)
{
    const struct analysis *analysis = input->metrics->analysis;
    size_t fold = (size_t)fmax(1, axis_round_up(LABEL_LEAST / strips->height));
    size_t bars = (strips->count + fold) / fold;
    double *times = memory_new(bars * sizeof *times), most = 1, duration = fmax(1, (double)analysis->duration);
    for (size_t i = 0; i <= strips->count; i++) {
        times[i / fold] += time_of(analysis, i);
        most = fmax(most, times[i / fold]);
    }
    char title[64] = "share of the run", number[TEXT_NUMBER_SIZE];
    if (fold > 1)
        snprintf(title, sizeof title, "share of the run, %s numbers to a bar", text_thousands(number, fold));
    canvas_text_cut(canvas, area.x, area.y - 14, area.width, (struct text_style){.ink = INK_MUTED}, title);
    canvas_line(canvas, area.x, area.y, area.x, area.y + area.height, 1, paint_of(INK_AXIS));
    double height = strips->height * (double)fold, room = area.width - 56;
    for (size_t i = 0; i < bars; i++) {
        char share[TEXT_NUMBER_SIZE], numbers[2 * TEXT_NUMBER_SIZE + 8];
        size_t first = i * fold, last = first + fold - 1 < strips->count ? first + fold - 1 : strips->count;
        double bottom = area.y + area.height - (double)first * strips->height, width = room * times[i] / most;
        double tall = (double)(last - first + 1) * strips->height;
        bool few = last <= 1 && strips->count > 1;
        text_share(share, times[i] / duration);
        snprintf(numbers, sizeof numbers, "%s", text_number(first).text);
        if (last > first)
            snprintf(numbers, sizeof numbers, "%s–%s", text_number(first).text, text_number(last).text);
        canvas_tip(canvas, "%s compute: %s of the run", numbers, share);
        /* Thin bars touch, without seams. */
        double gap = tall > 5 ? tall * 0.1 : -0.15;
        canvas_rect(canvas, area.x, bottom - tall + gap, width, tall - 2 * gap,
                    paint_of(few ? INK_ACCENT : INK_COMPUTE));
        if (height >= LABEL_LEAST && times[i] > 0)
            canvas_text(canvas, area.x + width + 6, bottom - tall / 2, (struct text_style){.ink = INK_MUTED}, share);
    }
    free(times);
}

void chart_concurrency_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct analysis *analysis = input->metrics->analysis;
    if (mean_of(analysis) <= 0)
        return;
    bool side = area.width >= SMALL;
    struct area plot = {area.x + AXIS_LABELS, area.y + 24, area.width - AXIS_LABELS - (side ? PROFILE + GAP : 8),
                        area.height - 24 - 44};
    struct strips strips = strips_of(plot, analysis->process_count);
    draw_course(canvas, input, &strips);
    if (side)
        draw_profile(canvas, input, &strips, (struct area){plot.x + plot.width + GAP, plot.y, PROFILE, plot.height});
}
