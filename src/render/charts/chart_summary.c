/* SPDX-License-Identifier: BSD-3-Clause */
/* Two bars: computing and MPI, summed over all processes; below, MPI by function. */
#include "render/charts/chart.h"

#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/efficiency.h"
#include "render/charts/palette.h"
#include "render/functions.h"

#include <math.h>
#include <stdio.h>

/* From here on a whole percentage would say that it is all. */
static const double NEARLY_ALL = 0.9995;

enum { NAMES = 150, VALUES = 190, BAR = 40, SLIM = 18, ROW = 31 };

void chart_summary_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    char share[TEXT_NUMBER_SIZE];
    double mpi = mpi_share(input->metrics);
    const char *note = mpi_share_note(input->metrics);
    if (input->metrics->end_ns <= input->metrics->begin_ns)
        chart_say(answer, "This run has no duration");
    else if (fabs(mpi - 0.5) < 0.005)
        chart_say(answer, "Half of the time is computing, half is spent in MPI%s", note);
    else if (mpi >= NEARLY_ALL)
        chart_say(answer, "Nearly all of the time is spent in MPI%s, not computing", note);
    else if (mpi > 0.5)
        chart_say(answer, "Most of the time, %s, is spent in MPI%s, not computing", text_share(share, mpi), note);
    else
        chart_say(answer, "%s of the time is computing, %s is spent in MPI%s", text_share(share, 1 - mpi),
                  text_share((char[TEXT_NUMBER_SIZE]){0}, mpi), note);
}

/* One bar with its name before and its seconds and share of all time after it. */
static void draw_bar(struct canvas *canvas, struct area area, double height, const char *name, double seconds,
                     double most, double all, struct paint paint)
{
    double names = fmin(NAMES, area.width * 0.3), y = area.y + height / 2;
    /* Room for the label is kept at the right, so that the longest bar has its label, too. */
    double width = area.width - names - fmin(VALUES, area.width * 0.4);
    char number[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE], label[2 * TEXT_NUMBER_SIZE + 8];
    double length = ratio_of(seconds, most) * width;
    bool large = height >= BAR;
    canvas_text_cut(canvas, area.x + names - 12, y, names - 12,
                    (struct text_style){.align = ALIGN_RIGHT, .bold = large}, name);
    /* The tip belongs to the bar, which is the next shape that is drawn. */
    canvas_tip(canvas, "%s: %s", name, seconds_text(number, seconds));
    canvas_rect(canvas, area.x + names, area.y, length, height, paint);
    snprintf(label, sizeof label, "%s (%s)", seconds_text(number, seconds), text_share(share, ratio_of(seconds, all)));
    canvas_text(canvas, area.x + names + length + 10, y, (struct text_style){.bold = large}, label);
}

void chart_summary_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct metrics *metrics = input->metrics;
    struct functions functions = functions_of(metrics);
    double compute = 0, mpi = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        compute += (double)metrics_compute_ns(metrics, i) / 1e9;
        /* Polling is MPI here as in the other charts: a process that asks again and again does not compute. */
        mpi += (double)(metrics->process[i].communication_ns + metrics_polled_ns(metrics, i)) / 1e9;
    }
    double all = compute + mpi, most = fmax(compute, mpi), y = area.y + 10;
    draw_bar(canvas, (struct area){area.x, y, area.width, BAR}, BAR, "computing", compute, most, all,
             paint_of(INK_COMPUTE));
    y += BAR + 14;
    draw_bar(canvas, (struct area){area.x, y, area.width, BAR}, BAR, "in MPI", mpi, most, all, paint_of(INK_MPI));
    y += BAR + 22;
    if (y + 16 + ROW < area.y + area.height)
        canvas_text(canvas, area.x + fmin(NAMES, area.width * 0.3), y, (struct text_style){.ink = INK_MUTED},
                    "time in MPI by function");
    y += 16;
    /* One row more than functions with a place: that of all others. */
    for (size_t i = 0; i <= functions.count && y + ROW < area.y + area.height; i++) {
        bool others = i == functions.count;
        char name[64];
        if (others && functions.others == 0)
            break;
        struct area bar = {area.x, y, area.width, SLIM};
        const struct state_def *state = NULL;
        if (!others)
            state = &metrics->defs->states[functions.state[i]];
        snprintf(name, sizeof name, "%zu other functions", functions.others);
        if (state)
            draw_bar(canvas, bar, SLIM, state->name, functions.seconds[i], most, all,
                     palette_paint(state, input->own_colours));
        else
            draw_bar(canvas, bar, SLIM, name, functions.seconds[FUNCTIONS_MAX], most, all, paint_of(INK_OTHER));
        y += ROW;
    }
    chart_note(canvas, "Times are summed over all processes; shares are of that sum.");
}
