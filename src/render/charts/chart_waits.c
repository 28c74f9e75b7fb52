/* SPDX-License-Identifier: BSD-3-Clause */
/* The waits of each process, stacked by kind; means of many processes where they are many. */
#include "render/charts/chart.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>

enum { RIGHT = 280, COLUMN_LEAST = 4, ROW = 22, MOST_TEXT_SIZE = 96, CALLS_TEXT_SIZE = 96 };

/* Instead of a row: all of them. */
static const size_t EVERYONE = SIZE_MAX;

/* From these shares of all waiting on it is one process that waits, and one kind of waiting. */
static const double ONE_WAITS = 0.66, NEARLY_ALL = 0.9;

/* From this share of the time on the title says what is drawn besides waiting. */
static const double WORTH_SAYING = 0.01;

/* Instead of a slot: the colour of MPI, of its calls themselves, the paler the higher the variant. */
enum { IN_CALLS = 255 };

/* A kind's words, and its colour: a slot of the theme and its variant. Kinds that are of one sort share the slot. */
static const struct kind_look {
    const char *title;
    const char *where; /* that time is spent */
    uint8_t slot, variant;
} looks[WAIT_KIND_COUNT] = {
    [WAIT_NONE] = {"", "", 0, 0},
    [WAIT_LATE_SENDER] = {"late senders", "for late senders", 0, 0},
    [WAIT_WRONG_ORDER_SAME] = {"wrong order", "for messages in the wrong order", 0, 1},
    [WAIT_WRONG_ORDER_OTHER] = {"wrong order of senders", "for senders in the wrong order", 0, 2},
    [WAIT_LATE_RECEIVER] = {"late receivers", "for late receivers", 1, 0},
    [WAIT_LATE_BROADCAST] = {"late broadcasts", "for the roots of broadcasts", 5, 0},
    [WAIT_EARLY_REDUCE] = {"early reductions", "as root for the first sender", 4, 0},
    [WAIT_EARLY_SCAN] = {"early scans", "for lower ranks in prefix reductions", 4, 1},
    [WAIT_AT_NXN] = {"collectives", "in collectives", 3, 0},
    [WAIT_AT_BARRIER] = {"barriers", "in barriers", 6, 0},
    [WAIT_AT_INIT] = {"start", "for the last process to start", 9, 0},
    [WAIT_AT_FINALIZE] = {"end of the run", "for the last process to end", 8, 0},
    [WAIT_AT_WINDOW] = {"creating windows", "in creating windows", 9, 1},
    [WAIT_AT_COMM] = {"creating communicators", "in creating communicators", 9, 2},
    [WAIT_AT_FENCE] = {"fences", "in fences", 6, 2},
    [WAIT_LATE_POST] = {"late posts", "for windows posted late", 2, 0},
    [WAIT_EARLY_WAIT] = {"early waits", "for accesses to windows", 1, 2},
    [WAIT_LATE_COMPLETE] = {"late completes", "for accesses completed late", 2, 1},
    [WAIT_LOCK_CONTENTION] = {"locks", "for window locks", 2, 2},
    [WAIT_LATE_TARGET] = {"late targets", "for targets that do not call MPI", 1, 1},
    [WAIT_AT_IO] = {"collective I/O", "in collective calls on files", 7, 1},
    [WAIT_NXN_COMPLETION] = {"completing collectives", "in completing collectives", IN_CALLS, 0},
    [WAIT_IN_REDUCTION] = {"inside reductions", "inside reductions", IN_CALLS, 1},
    [WAIT_BARRIER_COMPLETION] = {"completing barriers", "in completing barriers", IN_CALLS, 2},
    [WAIT_IO] = {"file I/O", "for file I/O", 7, 0},
};

/* Kinds keep their colours. Waiting is hatched; time in a call that no other process causes is none. */
static struct paint kind_paint(enum wait_kind kind)
{
    struct paint paint = paint_of(INK_MPI);
    if (looks[kind].slot == IN_CALLS)
        paint.opacity = 1 - 0.3 * looks[kind].variant;
    else
        paint.ink = (uint16_t)(INK_FUNCTION + looks[kind].slot * THEME_VARIANTS + looks[kind].variant);
    paint.hatched = kind < WAIT_CAUSED_COUNT;
    return paint;
}

static const char *kind_title(enum wait_kind kind)
{
    return looks[kind].title;
}

/* In ns, of one row or of EVERYONE. */
static int64_t waits_of_kind(const struct analysis *analysis, size_t row, int kind)
{
    return row == EVERYONE ? analysis->waits[kind].ns : analysis->waits[kind].victims_ns[row];
}

/* In ns, of the kinds below a limit. */
static int64_t waits_below(const struct analysis *analysis, size_t row, int limit)
{
    int64_t all = 0;
    for (int kind = WAIT_NONE + 1; kind < limit; kind++)
        all += waits_of_kind(analysis, row, kind);
    return all;
}

/* In ns, what no other process causes. */
static int64_t calls_of(const struct analysis *analysis)
{
    return waits_below(analysis, EVERYONE, WAIT_KIND_COUNT) - waits_below(analysis, EVERYONE, WAIT_CAUSED_COUNT);
}

/* In ns, all that other processes cause: as the sentence about MPI and the contention have it. */
static int64_t waits_of(const struct analysis *analysis, size_t row)
{
    return waits_below(analysis, row, WAIT_CAUSED_COUNT);
}

static size_t longest_waiter(const struct metrics *metrics)
{
    size_t longest = 0;
    /* Sums over the kinds are cheap: there are some twenty. */
    for (size_t row = 1; row < metrics->process_count; row++)
        if (waits_of(metrics->analysis, row) > waits_of(metrics->analysis, longest))
            longest = row;
    return longest;
}

/* "nearly all of it for late senders", "56 % of it in collectives": the kind that is most of the waiting. */
static char *most_text(char text[MOST_TEXT_SIZE], const struct analysis *analysis, size_t row)
{
    int most = WAIT_NONE + 1;
    for (int kind = most + 1; kind < WAIT_CAUSED_COUNT; kind++)
        if (waits_of_kind(analysis, row, kind) > waits_of_kind(analysis, row, most))
            most = kind;
    char part[TEXT_NUMBER_SIZE];
    int64_t ns = waits_of_kind(analysis, row, most), all_ns = waits_of(analysis, row);
    double share = (double)ns / (double)all_ns;
    const char *much = text_share(part, share);
    if (share >= NEARLY_ALL)
        much = "nearly all";
    /* Only if it is all of it, not by rounding. */
    if (ns == all_ns)
        much = "all";
    snprintf(text, MOST_TEXT_SIZE, "%s of it %s", much, looks[most].where);
    return text;
}

/* What calls take that wait for nobody, by their kinds. */
static const char *calls_name(const struct analysis *analysis)
{
    int64_t io = analysis->waits[WAIT_IO].ns;
    if (io <= 0)
        return "collectives themselves take";
    return io < calls_of(analysis) ? "collectives and file I/O themselves take" : "file I/O itself takes";
}

/* "; collectives themselves take another 26 %": the rest of what is drawn; "": next to nothing. */
static char *calls_text(char text[CALLS_TEXT_SIZE], const struct analysis *analysis, double time_ns, bool another)
{
    char number[TEXT_NUMBER_SIZE];
    double share = time_ns > 0 ? (double)calls_of(analysis) / time_ns : 0;
    text[0] = '\0';
    if (share >= WORTH_SAYING)
        snprintf(text, CALLS_TEXT_SIZE, "; %s %s%s%s", calls_name(analysis), another ? "another " : "",
                 text_share(number, fmin(1, share)), another ? "" : " of the processes' time");
    return text;
}

void chart_waits_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    const struct metrics *metrics = input->metrics;
    const struct analysis *analysis = metrics->analysis;
    char number[TEXT_NUMBER_SIZE], most[MOST_TEXT_SIZE], calls[CALLS_TEXT_SIZE];
    double all_ns = (double)waits_of(analysis, EVERYONE), time_ns = 0;
    size_t longest = longest_waiter(metrics);
    for (size_t i = 0; i < metrics->process_count; i++)
        /* Of the processes' time, not of the run's: processes may begin late and end early. */
        time_ns += (double)process_total_ns(&metrics->process[i]);
    /* Waits of threads of a process add up, and may be more than its time. */
    if (all_ns <= 0 || time_ns <= 0)
        chart_say(answer, "The trace shows no process that waits for another%s",
                  calls_text(calls, analysis, time_ns, false));
    else if ((double)waits_of(analysis, longest) >= ONE_WAITS * all_ns)
        chart_say(answer, "Process %s waits %s, %s%s", text_number(metrics->process[longest].rank).text,
                  text_duration(number, waits_of(analysis, longest)), most_text(most, analysis, longest),
                  calls_text(calls, analysis, time_ns, false));
    else
        chart_say(answer, "The processes wait for each other for %s of their time, %s%s",
                  text_share(number, fmin(1, all_ns / time_ns)), most_text(most, analysis, EVERYONE),
                  calls_text(calls, analysis, time_ns, true));
}

/* Cumulative waits by kind, for each column, as means: the last row is their total. */
static double *stacks_of(const struct rank_axis *ranks, const struct analysis *analysis)
{
    double *stacks = memory_new(WAIT_KIND_COUNT * ranks->columns * sizeof *stacks);
    for (size_t column = 0; column < ranks->columns; column++) {
        size_t end, first = axis_column_rows(ranks, column, &end);
        double sum = 0;
        for (int kind = 0; kind < WAIT_KIND_COUNT; kind++) {
            for (size_t i = first; i < end; i++)
                sum += (double)analysis->waits[kind].victims_ns[i] / 1e9 / (double)(end - first);
            /* Sums up to this kind: a kind's column lies between two of these rows. */
            stacks[(size_t)kind * ranks->columns + column] = sum;
        }
    }
    return stacks;
}

static void draw_bars(struct canvas *canvas, const struct chart_input *input, const struct rank_axis *ranks,
                      const struct value_axis *axis, const double *stacks)
{
    double width = axis_bar_width(ranks);
    for (size_t column = 0; column < ranks->columns; column++)
        for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++) {
            double below = stacks[(size_t)(kind - 1) * ranks->columns + column],
                   above = stacks[(size_t)kind * ranks->columns + column];
            char number[TEXT_NUMBER_SIZE];
            if (above <= below)
                continue;
            canvas_tip(canvas, "process %s: %s %s", text_number(input->metrics->process[column].rank).text,
                       kind_title((enum wait_kind)kind), seconds_text(number, above - below));
            canvas_rect(canvas, ranks->x + ((double)column + 0.5) * ranks->column_width - width / 2,
                        axis_y(axis, above), width, axis_y(axis, below) - axis_y(axis, above),
                        kind_paint((enum wait_kind)kind));
        }
}

static void draw_columns(struct canvas *canvas, const struct rank_axis *ranks, const struct value_axis *axis,
                         const double *stacks, const struct analysis *analysis)
{
    /* From the highest stack down, each over the one before, so that only its own part remains visible. */
    for (int kind = WAIT_KIND_COUNT - 1; kind > WAIT_NONE; kind--) {
        if (analysis->waits[kind].ns <= 0)
            continue;
        /* Hatching lets what is below shine through: the ground is drawn first. */
        axis_draw_steps(canvas, ranks, axis, &stacks[(size_t)kind * ranks->columns], paint_of(INK_BACK));
        axis_draw_steps(canvas, ranks, axis, &stacks[(size_t)kind * ranks->columns], kind_paint((enum wait_kind)kind));
    }
}

/* What a column is of, and which parts of it no other process causes. */
static void draw_note(struct canvas *canvas, const struct rank_axis *ranks, const struct analysis *analysis)
{
    char note[200] = "", count[TEXT_NUMBER_SIZE];
    if (ranks->per_column > 1)
        text_append(note, sizeof note, "Each column shows the mean of %s processes. ",
                    text_thousands(count, ranks->per_column));
    if (calls_of(analysis) > 0)
        text_append(note, sizeof note, "Hatched: waiting for others. Plain: time in calls that nobody else causes.");
    if (*note)
        chart_note(canvas, note);
}

static void draw_legend(struct canvas *canvas, const struct analysis *analysis, struct area area)
{
    double y = area.y;
    char number[TEXT_NUMBER_SIZE];
    /* In the order of the stacks, from the top. */
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
    if (waits_below(analysis, EVERYONE, WAIT_KIND_COUNT) <= 0)
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
    draw_note(canvas, &ranks, analysis);
    if (side)
        draw_legend(canvas, analysis, (struct area){plot.x + plot.width + 24, plot.y + 8, RIGHT - 24, plot.height});
    free(stacks);
}
