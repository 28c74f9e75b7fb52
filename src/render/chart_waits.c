/* SPDX-License-Identifier: BSD-3-Clause */
/* The waits of each process, stacked by kind; means of many processes where they are many. */
#include "render/chart.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>

enum { RIGHT = 230, COLUMN_LEAST = 4, ROW = 22 };

/* A kind's colour: a slot of the theme and its variant. Kinds that are of one sort share the slot. */
static const struct kind_look {
    const char *title;
    uint8_t slot, variant;
} looks[WAIT_KIND_COUNT] = {
    [WAIT_NONE] = {"", 0, 0},
    [WAIT_LATE_SENDER] = {"late sender", 0, 0},
    [WAIT_WRONG_ORDER_SAME] = {"wrong order", 0, 1},
    [WAIT_WRONG_ORDER_OTHER] = {"wrong order of senders", 0, 2},
    [WAIT_LATE_RECEIVER] = {"late receiver", 1, 0},
    [WAIT_LATE_BROADCAST] = {"late broadcast", 5, 0},
    [WAIT_EARLY_REDUCE] = {"early reduce", 4, 0},
    [WAIT_EARLY_SCAN] = {"early scan", 4, 1},
    [WAIT_AT_NXN] = {"collectives", 3, 0},
    [WAIT_AT_BARRIER] = {"barriers", 6, 0},
    [WAIT_AT_INIT] = {"start", 9, 0},
    [WAIT_AT_FINALIZE] = {"end of the run", 8, 0},
    [WAIT_AT_WINDOW] = {"making windows", 9, 1},
    [WAIT_AT_FENCE] = {"fences", 6, 2},
    [WAIT_LATE_POST] = {"late post", 2, 0},
    [WAIT_LATE_COMPLETE] = {"late complete", 2, 1},
    [WAIT_LOCK_CONTENTION] = {"locks", 2, 2},
    [WAIT_AT_IO] = {"files together", 7, 1},
    [WAIT_NXN_COMPLETION] = {"ending collectives", 3, 1},
    [WAIT_IN_REDUCTION] = {"inside reductions", 4, 2},
    [WAIT_BARRIER_COMPLETION] = {"ending barriers", 6, 1},
    [WAIT_IO] = {"files", 7, 0},
};

/* Kinds keep their colours; waiting is hatched. */
static struct paint kind_paint(enum wait_kind kind)
{
    struct paint paint = paint_of((enum ink)(INK_FUNCTION + looks[kind].slot * THEME_VARIANTS + looks[kind].variant));
    paint.hatched = true;
    return paint;
}

static const char *kind_title(enum wait_kind kind)
{
    return looks[kind].title;
}

static double all_waits(const struct analysis *analysis, enum wait_kind *most)
{
    double all = 0;
    *most = WAIT_NONE;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++) {
        all += (double)analysis->waits[kind].ns / 1e9;
        if (analysis->waits[kind].ns > analysis->waits[*most].ns)
            *most = (enum wait_kind)kind;
    }
    return all;
}

void chart_waits_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    const struct analysis *analysis = input->metrics->analysis;
    enum wait_kind most;
    char share[TEXT_NUMBER_SIZE], part[TEXT_NUMBER_SIZE];
    double all = all_waits(analysis, &most), time = 0;
    for (size_t i = 0; i < input->metrics->process_count; i++)
        time += (double)process_total_ns(&input->metrics->process[i]) / 1e9;
    if (all <= 0 || time <= 0)
        chart_say(answer, "No process waits for another, as far as the trace tells");
    else
        chart_say(answer, "The processes wait for each other for %s of their time; %s of that: %s",
                  text_share(share, fmin(1, all / time)),
                  text_share(part, (double)analysis->waits[most].ns / 1e9 / all), kind_title(most));
}

/* Waits up to and with each kind, for each column, as means: the last row is all of them. */
static double *stacks_of(const struct rank_axis *ranks, const struct analysis *analysis)
{
    double *stacks = memory_new(WAIT_KIND_COUNT * ranks->columns * sizeof *stacks);
    for (size_t column = 0; column < ranks->columns; column++) {
        size_t end, first = axis_column_rows(ranks, column, &end);
        double sum = 0;
        for (int kind = 0; kind < WAIT_KIND_COUNT; kind++) {
            for (size_t i = first; i < end; i++)
                sum += (double)analysis->waits[kind].victims_ns[i] / 1e9 / (double)(end - first);
            stacks[(size_t)kind * ranks->columns + column] = sum;
        }
    }
    return stacks;
}

static void draw_bars(struct canvas *canvas, const struct chart_input *input, const struct rank_axis *ranks,
                      const struct value_axis *axis, const double *stacks)
{
    double width = ranks->column_width * (ranks->column_width > 12 ? 0.72 : 0.8);
    for (size_t column = 0; column < ranks->columns; column++)
        for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++) {
            double below = stacks[(size_t)(kind - 1) * ranks->columns + column],
                   above = stacks[(size_t)kind * ranks->columns + column];
            char number[TEXT_NUMBER_SIZE];
            if (above <= below)
                continue;
            canvas_tip(canvas, "process %u: %s %s", input->metrics->process[column].rank,
                       kind_title((enum wait_kind)kind), seconds_text(number, above - below));
            canvas_rect(canvas, ranks->x + ((double)column + 0.5) * ranks->column_width - width / 2,
                        axis_y(axis, above), width, axis_y(axis, below) - axis_y(axis, above),
                        kind_paint((enum wait_kind)kind));
        }
}

static void draw_columns(struct canvas *canvas, const struct rank_axis *ranks, const struct value_axis *axis,
                         const double *stacks, const struct analysis *analysis)
{
    char note[96], count[TEXT_NUMBER_SIZE];
    for (int kind = WAIT_KIND_COUNT - 1; kind > WAIT_NONE; kind--) {
        if (analysis->waits[kind].ns <= 0)
            continue;
        axis_draw_steps(canvas, ranks, axis, &stacks[(size_t)kind * ranks->columns], paint_of(INK_BACK));
        axis_draw_steps(canvas, ranks, axis, &stacks[(size_t)kind * ranks->columns], kind_paint((enum wait_kind)kind));
    }
    snprintf(note, sizeof note, "Each column is the mean of %s processes.", text_thousands(count, ranks->per_column));
    chart_note(canvas, note);
}

static void draw_legend(struct canvas *canvas, const struct analysis *analysis, struct area area)
{
    double y = area.y;
    char number[TEXT_NUMBER_SIZE];
    for (int kind = WAIT_KIND_COUNT - 1; kind > WAIT_NONE; kind--) {
        if (analysis->waits[kind].ns <= 0)
            continue;
        chart_legend(canvas, area.x, y, area.width, kind_paint((enum wait_kind)kind), kind_title((enum wait_kind)kind),
                     text_duration(number, analysis->waits[kind].ns));
        y += ROW;
    }
}

void chart_waits_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct analysis *analysis = input->metrics->analysis;
    enum wait_kind most;
    if (all_waits(analysis, &most) <= 0)
        return;
    struct area plot;
    bool side = chart_plot(area, RIGHT, &plot);
    if (plot.width < CHART_PLOT_LEAST || plot.height < CHART_PLOT_LEAST)
        return;
    struct rank_axis ranks = axis_of_ranks(input->metrics, plot.x, plot.width, COLUMN_LEAST);
    double *stacks = stacks_of(&ranks, analysis), top = 0;
    for (size_t i = 0; i < ranks.columns; i++)
        top = fmax(top, stacks[(WAIT_KIND_COUNT - 1) * ranks.columns + i]);
    struct value_axis axis = axis_of_seconds(plot, top);
    axis_draw(canvas, &axis);
    axis_draw_ranks(canvas, &ranks, plot.y + plot.height, "process");
    if (ranks.per_column == 1)
        draw_bars(canvas, input, &ranks, &axis, stacks);
    else
        draw_columns(canvas, &ranks, &axis, stacks, analysis);
    if (side)
        draw_legend(canvas, analysis, (struct area){plot.x + plot.width + 24, plot.y + 8, RIGHT - 24, plot.height});
    free(stacks);
}
