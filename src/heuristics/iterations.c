/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/iterations.h"

#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/even_work.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A trend is reported if times change by this much over the run, and fit a line this well (correlation: about half of
   the variance is the line). */
static const double TREND = 0.1, TREND_FIT = 0.7;

/* Three or four points are often near a line by chance. */
enum { TREND_LEAST = 5 };

/* Slow iterations are reported if their excess over the median is this share of the run: twice the noise. */
static const double SLOW_SHARE = 0.02;

#define add(text, ...) text_append(text, ITERATIONS_TEXT_SIZE, __VA_ARGS__)

static double run_ns(const struct metrics *metrics)
{
    return (double)time_since(metrics->begin_ns, metrics->end_ns);
}

double iterations_saving(const struct metrics *metrics)
{
    const struct iteration_metrics *iterations = &metrics->phases->iterations;
    /* The least that is known: what even iterations of the whole run would save, without a replay. */
    double run = run_ns(metrics), saving = (double)iterations->recoverable_ns;
    bool by_steps;
    /* If iterations are as uneven as the totals, even work is the same fix. */
    if (metrics->analysis && !iterations_are_dynamic(iterations))
        saving = (double)even_work_saving_ns(metrics, &by_steps);
    else if (iterations->saving_ns >= 0)
        saving = (double)iterations->saving_ns;
    if (iterations->loop == PHASE_NONE)
        return 0;
    return ratio_of(saving, run);
}

/* POP's limit for balanced, as in advice.c. */
static const double BALANCED = 0.9;

/* Beside work that changes hands there may be some that does not. */
static bool totals_are_even(const struct metrics *metrics)
{
    return !metrics->analysis || metrics->analysis->load_balance >= BALANCED;
}

/* The process that computes longest, by kind of imbalance. */
static void add_kind(char text[ITERATIONS_TEXT_SIZE], const struct metrics *metrics)
{
    const struct iteration_metrics *iterations = &metrics->phases->iterations;
    uint32_t rank = metrics->process[iterations->heaviest].rank;
    switch (iterations->kind) {
    case ITERATION_STATIC:
        add(text, "The same processes compute for longest in each iteration, above all process %s",
            text_number(rank).text);
        break;
    case ITERATION_ROTATING:
        add(text, "The processes take turns computing for longest, a different one in each iteration%s",
            totals_are_even(metrics) ? ", though the totals are even" : "");
        break;
    case ITERATION_RANDOM:
        add(text, "The process that computes for longest changes from iteration to iteration without a pattern");
        break;
    case ITERATION_GROWING:
        add(text, "The iterations become less even over the run; process %s computes for longest",
            text_number(rank).text);
        break;
    case ITERATION_FALLING:
        add(text, "The iterations start uneven and become even; process %s computes for longest",
            text_number(rank).text);
        break;
    case ITERATION_TRANSIENT:
        add(text, "A few iterations are uneven");
        break;
    default:
        add(text, "The iterations are uneven, partly on the same processes each time, above all process %s",
            text_number(rank).text);
        break;
    }
}

void iterations_kind_text(char text[ITERATIONS_TEXT_SIZE], const struct metrics *metrics)
{
    text[0] = '\0';
    add_kind(text, metrics);
}

static bool is_uneven(const struct metrics *metrics)
{
    enum iteration_class kind = metrics->phases->iterations.kind;
    return iteration_class_is_uneven(kind) && iterations_saving(metrics) > ITERATIONS_NOISE;
}

static void add_unevenness(char text[ITERATIONS_TEXT_SIZE], const struct metrics *metrics)
{
    char saving[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    double part = iterations_saving(metrics);
    add_kind(text, metrics);
    add(text, ": even iterations could save up to %s (%s)", text_duration(saving, llround(part * run_ns(metrics))),
        text_share(share, part));
}

static bool has_trend(const struct iteration_metrics *iterations)
{
    return iterations->count >= iterations->warm_up + TREND_LEAST && fabs(iterations->trend) >= TREND &&
           fabs(iterations->trend_fit) >= TREND_FIT;
}

static void add_trend(char text[ITERATIONS_TEXT_SIZE], const struct iteration_metrics *iterations)
{
    char share[TEXT_NUMBER_SIZE];
    /* The trend is the change over the whole run as a share of the mean. */
    add(text, "Iterations become %s over the run, by %s of their mean", iterations->trend > 0 ? "longer" : "shorter",
        text_share(share, fabs(iterations->trend)));
}

/* The excess of the named slow iterations over the median. */
static double slow_share(const struct metrics *metrics)
{
    const struct iteration_metrics *iterations = &metrics->phases->iterations;
    double sum = 0, run = run_ns(metrics);
    /* Only the slowest are kept; there may be more slow ones than those. */
    for (size_t i = 0; i < iterations->slowest_count && i < iterations->slow; i++)
        sum += (double)(iterations->slowest[i].time_ns - iterations->median_ns);
    return ratio_of(sum, run);
}

static bool has_slow(const struct metrics *metrics)
{
    const struct iteration_metrics *iterations = &metrics->phases->iterations;
    /* A quarter or more are not exceptions: then iterations simply vary. */
    return iterations->slow > 0 && iterations->slow <= iterations->count / 4 && slow_share(metrics) > SLOW_SHARE;
}

static void add_slow(char text[ITERATIONS_TEXT_SIZE], const struct iteration_metrics *iterations)
{
    const struct slow_iteration *slow = &iterations->slowest[0];
    char time[TEXT_NUMBER_SIZE], median[TEXT_NUMBER_SIZE], count[TEXT_NUMBER_SIZE], number[TEXT_NUMBER_SIZE];
    text_duration(time, slow->time_ns);
    text_duration(median, iterations->median_ns);
    text_thousands(number, slow->iteration);
    if (iterations->slow == 1)
        add(text, "Iteration %s takes %s, the rest %s", number, time, median);
    else
        add(text, "%s iterations take up to %s (iteration %s), the rest %s", text_thousands(count, iterations->slow),
            time, number, median);
}

/* The share of the processes' time spent in the iterations. */
static double loop_share(const struct phase_metrics *phases)
{
    /* Processes need not pass iterations at the same time: shares are of their own times, not of the run's. */
    double loop = 0, all = 0;
    for (size_t i = 0; i < phases->iterations.row_count; i++)
        loop += (double)phases->iterations.rows[i].sums.time_ns;
    for (size_t i = 0; i < phases->phase_count; i++)
        all += (double)phases->phases[i].sums.time_ns;
    return smaller(1, ratio_of(loop, all));
}

/* "processes 1–7" would need the ranks: roles are described by their number. */
static void add_roles(char text[ITERATIONS_TEXT_SIZE], const struct phase_metrics *phases)
{
    bool any = false;
    /* Rows are in depth-first order, and one of depth 0 is the whole run of the processes with the same calls: the row
       after it is their outermost loop. */
    for (size_t i = 1; i < phases->loop_count; i++) {
        const struct loop_row *row = &phases->loops[i], *before = row - 1;
        char least[TEXT_NUMBER_SIZE], most[TEXT_NUMBER_SIZE];
        if (row->depth != 1 || before->depth != 0)
            continue;
        add(text, "%s%s process%s turn%s %.*s", any ? "; " : " ", text_thousands(most, row->processes),
            text_plural(row->processes, "", "es"), text_plural(row->processes, "s", ""), text_beginning(row->name, 60),
            row->name);
        text_thousands(least, row->least);
        if (row->least == row->most)
            add(text, " %s times", least);
        else
            add(text, " %s to %s times", least, text_thousands(most, row->most));
        any = true;
    }
    if (any)
        add(text, ".");
}

void iterations_text(char text[ITERATIONS_TEXT_SIZE], const struct metrics *metrics)
{
    const struct phase_metrics *phases = metrics->phases;
    const struct iteration_metrics *iterations = &phases->iterations;
    char count[TEXT_NUMBER_SIZE], median[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE], rhythm[TEXT_NUMBER_SIZE];
    text[0] = '\0';
    if (iterations->loop == PHASE_NONE) {
        /* Loops that are not common to all processes: roles of their own. */
        if (phases->loop_count > 1)
            add(text, "The processes have no iterations in common.");
        else
            add(text, "No iterations were found.");
        add_roles(text, phases);
        return;
    }
    add(text, "%s iterations of %s (median), %s of the run%s.", text_thousands(count, iterations->count),
        text_duration(median, iterations->median_ns), text_share(share, loop_share(phases)),
        phases->by_world ? ", separated by collectives of the whole run" : "");
    /* Caches fill and pages are touched first in the first iterations: they count apart. */
    if (iterations->warm_up == 1)
        add(text, " The first is warm-up.");
    if (iterations->warm_up > 1)
        add(text, " The first %s are warm-up.", text_thousands(count, iterations->warm_up));
    /* One process has nobody to be even with. */
    if (metrics->process_count > 1) {
        add(text, " ");
        if (is_uneven(metrics))
            add_unevenness(text, metrics);
        else if (iterations->kind == ITERATION_TOO_FEW)
            add(text, "There are too few of them to judge how even they are");
        else
            add(text, "Balancing them would save nothing significant");
        add(text, ".");
    }
    if (has_trend(iterations)) {
        add(text, " ");
        add_trend(text, iterations);
        add(text, ".");
    }
    if (has_slow(metrics)) {
        add(text, " ");
        add_slow(text, iterations);
        add(text, ".");
    }
    /* Said last, as it questions everything before it. */
    if (iteration_rhythm_differs(iterations))
        add(text, " The rhythm of computing differs: %s. The iterations may be cut in the wrong places.",
            text_duration(rhythm, iterations->rhythm_ns));
}

void iterations_answer(char text[ITERATIONS_TEXT_SIZE], const struct metrics *metrics)
{
    const struct iteration_metrics *iterations = &metrics->phases->iterations;
    char count[TEXT_NUMBER_SIZE], median[TEXT_NUMBER_SIZE];
    text[0] = '\0';
    /* By what it costs: uneven iterations lose time in each, slow ones in a few, and a trend may be the program's. */
    if (is_uneven(metrics))
        add_unevenness(text, metrics);
    else if (has_slow(metrics))
        add_slow(text, iterations);
    else if (has_trend(iterations))
        add_trend(text, iterations);
    else if (metrics->process_count == 1)
        add(text, "%s iterations of %s (median)", text_thousands(count, iterations->count),
            text_duration(median, iterations->median_ns));
    else if (iterations->kind == ITERATION_BALANCED || iterations->kind == ITERATION_TOO_FEW)
        add(text, "%s iterations of %s, computing evenly", text_thousands(count, iterations->count),
            text_duration(median, iterations->median_ns));
    else
        add(text, "%s iterations of %s: balancing them would save nothing significant",
            text_thousands(count, iterations->count), text_duration(median, iterations->median_ns));
}

/* A trend of a loop that is less of the run is worth no line of the first screen. */
static const double TREND_LOOP = 0.2;

void iterations_remark(char text[ITERATIONS_TEXT_SIZE], const struct metrics *metrics)
{
    const struct iteration_metrics *iterations = &metrics->phases->iterations;
    char count[TEXT_NUMBER_SIZE], median[TEXT_NUMBER_SIZE];
    text[0] = '\0';
    /* If iterations are cut in the wrong places, their times say nothing. */
    if (iterations->loop == PHASE_NONE || iteration_rhythm_differs(iterations))
        return;
    add(text, "%s iterations of %s", text_thousands(count, iterations->count),
        text_duration(median, iterations->median_ns));
    char rest[ITERATIONS_TEXT_SIZE] = "";
    if (has_slow(metrics))
        add_slow(rest, iterations);
    else if (has_trend(iterations) && loop_share(metrics->phases) >= TREND_LOOP)
        add_trend(rest, iterations);
    if (*rest)
        add(text, ". %s", rest);
    else
        text[0] = '\0';
}
