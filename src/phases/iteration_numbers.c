/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/iteration_numbers.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "phases/location_loops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An iteration is slow beyond this many median distances from the median, and this many medians. */
static const double SLOW_MADS = 5, SLOW_MEDIANS = 1.1;

/* A loss below this share of the run is not worth a replay with even iterations. */
static const double EVENING = 0.002;

/* Fewer iterations have no rhythm. */
enum { RHYTHM_LEAST = 5 };

static void begin_iterations(struct phase_counter *counter)
{
    const struct phases *phases = counter->phases;
    const struct loop_row *row = &phases->loops.rows[phases->main_loop];
    struct iteration_metrics *to = &counter->metrics->iterations;
    size_t processes = phases->loops.process_count;
    to->loop = phases->main_loop;
    to->count = row->matched;
    to->processes = row->processes;
    counter->per_row = (to->count + ITERATION_BINS - 1) / ITERATION_BINS;
    to->row_count = (to->count + counter->per_row - 1) / counter->per_row;
    to->rows = memory_new(to->row_count * sizeof *to->rows);
    for (uint32_t i = 0; i < to->row_count; i++) {
        uint32_t first = i * counter->per_row, left = to->count - first;
        to->rows[i].first = first;
        to->rows[i].count = smaller(left, counter->per_row);
    }
    size_t cells = processes * (to->count + (size_t)1);
    if (cells <= EVEN_ITERATIONS_CELLS) {
        counter->starts = memory_new(cells * sizeof *counter->starts);
        memcpy(counter->starts, phases->loops.starts[phases->main_loop], cells * sizeof *counter->starts);
    }
    counter->computing = (double *)(void *)phases->loops.starts[phases->main_loop];
    counter->times = memory_new(to->count * sizeof *counter->times);
    counter->begins = memory_new(to->count * sizeof *counter->begins);
    for (uint32_t p = 0; p < processes; p++)
        for (uint32_t k = 0; k < to->count; k++) {
            int64_t begin_ns = common_loops_start(&phases->loops, to->loop, p, k);
            if (begin_ns == INT64_MIN)
                break;
            int64_t end_ns = common_loops_start(&phases->loops, to->loop, p, k + 1);
            /* Means over the processes that have the loop: an iteration has one time, though each process begins it
               at its own. */
            counter->begins[k] += (double)time_since(counter->begin_ns, begin_ns) / (double)to->processes;
            counter->times[k] += (double)time_since(begin_ns, end_ns) / (double)to->processes;
        }
}

/* Examines iterations in the middle of the loop, as many as the bins can resolve. */
static void begin_rhythm(struct phase_counter *counter)
{
    const struct iteration_metrics *iterations = &counter->metrics->iterations;
    uint32_t count = smaller(iterations->count, (uint32_t)RHYTHM_ITERATIONS);
    uint32_t first = (iterations->count - count) / 2, last = first + count - 1;
    if (count < RHYTHM_LEAST)
        return;
    counter->rhythm = memory_new(sizeof *counter->rhythm);
    counter->rhythm->begin_ns = counter->begin_ns + (int64_t)counter->begins[first];
    counter->rhythm->end_ns = counter->begin_ns + (int64_t)(counter->begins[last] + counter->times[last]);
}

void iteration_numbers_begin(struct phase_counter *counter)
{
    begin_iterations(counter);
    begin_rhythm(counter);
}

/* The line through the times by least squares, without the iterations of warming up: its change over the loop, relative
   to the mean, and how well it fits, as a correlation. */
static void find_trend(struct iteration_metrics *iterations, const double *times)
{
    uint32_t first = iterations->warm_up, count = iterations->count - first;
    double middle = ((double)count - 1) / 2, products = 0, squares = 0, spread = 0, mean = 0;
    for (uint32_t k = 0; k < count; k++)
        mean += times[first + k] / (double)count;
    for (uint32_t k = 0; k < count; k++) {
        double from = (double)k - middle, off = times[first + k] - mean;
        products += from * off;
        squares += from * from;
        spread += off * off;
    }
    iterations->mean_ns = llround(mean);
    if (squares <= 0 || mean <= 0)
        return;
    iterations->trend = phase_nano(products / squares * ((double)count - 1) / mean);
    /* Rounding errors are not a trend. */
    if (spread > mean * mean * (double)count * 1e-18)
        iterations->trend_fit = phase_nano(products / sqrt(squares * spread));
}

/* The process that computes most in iterations [first, end), and for how long. */
static uint32_t heaviest_of(const struct phase_counter *counter, uint32_t first, uint32_t end, double *most)
{
    size_t processes = counter->phases->loops.process_count, count = counter->metrics->iterations.count;
    uint32_t heaviest = 0;
    *most = -1;
    for (uint32_t p = 0; p < processes; p++) {
        double sum = 0;
        for (uint32_t k = first; k < end; k++)
            sum += counter->computing[p * (count + 1) + k];
        if (sum > *most) {
            *most = sum;
            heaviest = p;
        }
    }
    /* Below 0 where a process does not have the loop. */
    *most = fmax(0, *most);
    return heaviest;
}

static void keep_slow(struct phase_counter *counter, uint32_t iteration)
{
    struct iteration_metrics *iterations = &counter->metrics->iterations;
    struct slow_iteration slow = {.iteration = iteration,
                                  .begin_ns = llround(counter->begins[iteration]),
                                  .time_ns = llround(counter->times[iteration])};
    size_t at = iterations->slowest_count;
    if (at == ITERATIONS_SLOWEST) {
        if (slow.time_ns <= iterations->slowest[--at].time_ns)
            return;
    } else {
        iterations->slowest_count++;
    }
    for (; at > 0 && iterations->slowest[at - 1].time_ns < slow.time_ns; at--)
        iterations->slowest[at] = iterations->slowest[at - 1];
    iterations->slowest[at] = slow;
}

static void find_times(struct phase_counter *counter)
{
    struct iteration_metrics *iterations = &counter->metrics->iterations;
    uint32_t count = iterations->count;
    double *values = memory_new(count * sizeof *values);
    memcpy(values, counter->times, count * sizeof *values);
    double median = loop_median(values, count);
    for (uint32_t k = 0; k < count; k++)
        values[k] = fabs(values[k] - median);
    /* Both limits: with a median distance of nearly 0, every iteration would be slow; with a large one, 10 % more is
       nothing. */
    double mad = loop_median(values, count), limit = fmax(median + SLOW_MADS * mad, SLOW_MEDIANS * median);
    free(values);
    iterations->median_ns = llround(median);
    iterations->mad_ns = llround(mad);
    while (iterations->warm_up < count && counter->times[iterations->warm_up] > limit)
        iterations->warm_up++;
    for (uint32_t k = iterations->warm_up; k < count; k++) {
        iterations->slow += counter->times[k] > limit;
        keep_slow(counter, k);
    }
    for (size_t i = 0; i < iterations->slowest_count; i++) {
        struct slow_iteration *slow = &iterations->slowest[i];
        double most;
        slow->heaviest = heaviest_of(counter, slow->iteration, slow->iteration + 1, &most);
        slow->most_ns = llround(most * 1e9);
    }
    find_trend(iterations, counter->times);
}

static void take_imbalance(struct iteration_metrics *to, const struct iteration_imbalance *from, size_t processes)
{
    to->kind = from->kind;
    to->loss_ns = llround(from->loss * 1e9);
    to->static_ns = llround(from->static_loss * 1e9);
    to->most_ns = llround(from->longest * 1e9);
    to->recoverable_ns = llround(iteration_imbalance_recoverable(from, (double)to->waiting_ns / 1e9, processes) * 1e9);
    to->rank_share = phase_nano(from->rank_share);
    to->iteration_share = phase_nano(from->iteration_share);
    to->mixed_share = phase_nano(from->mixed_share);
    to->concentration = phase_nano(from->concentration);
    to->growth = phase_nano(from->growth);
    to->entropy = phase_nano(from->entropy);
    to->persistence = phase_nano(from->persistence);
}

/* The part of each location that iterations are in. `borders_ns`: their begins, followed by their ends. */
static void find_borders(const struct phase_counter *counter, int64_t *borders_ns)
{
    const struct iteration_metrics *iterations = &counter->metrics->iterations;
    const struct common_loops *loops = &counter->phases->loops;
    size_t locations = counter->graph->location_count;
    for (size_t i = 0; i < locations; i++) {
        uint32_t process = loops->processes[i];
        const int64_t *starts = counter->starts + (size_t)process * (iterations->count + (size_t)1);
        bool has = loops->locations[process] == i && starts[0] != INT64_MIN;
        borders_ns[i] = has ? starts[iterations->warm_up] : 0;
        borders_ns[locations + i] = has ? starts[iterations->count] : -1;
    }
}

/* By two replays, with even iterations, and with each turn of the loops inside them evened out: from the matrix that
   find_imbalance has compacted. None: it would need too much memory. */
static void begin_evening(struct phase_counter *counter, const struct iteration_metrics *iterations, size_t rows)
{
    size_t locations = counter->graph->location_count;
    if (!counter->starts)
        return;
    counter->even = (struct even_iterations){.graph = counter->graph,
                                             .phases = counter->phases,
                                             .starts = counter->starts,
                                             .computing = counter->computing,
                                             .rows = counter->kept,
                                             .row_count = rows,
                                             .count = iterations->count,
                                             .skipped = iterations->warm_up};
    counter->evening = evening_new(&counter->even, &counter->replays[0]);
    counter->borders_ns = memory_new(2 * locations * sizeof *counter->borders_ns);
    find_borders(counter, counter->borders_ns);
    counter->turns =
        even_turns_new(counter->graph, counter->borders_ns, counter->borders_ns + locations, &counter->replays[1]);
    counter->replay_count = 1 + (counter->turns != NULL);
}

/* Computing without the processes that lack the loop and without warming up. Compacts the matrix, so it must come last.
 */
static void find_imbalance(struct phase_counter *counter)
{
    struct iteration_metrics *iterations = &counter->metrics->iterations;
    size_t count = iterations->count, kept = count - iterations->warm_up, rows = 0;
    size_t processes = counter->phases->loops.process_count;
    double *x = counter->computing;
    counter->kept = memory_new(processes * sizeof *counter->kept);
    for (uint32_t p = 0; p < processes; p++) {
        const double *from = counter->computing + p * (count + 1);
        if (from[0] < 0)
            continue;
        /* Rows move to the front only, so that what is still to be read is not overwritten. */
        memmove(x + rows * kept, from + iterations->warm_up, kept * sizeof *x);
        counter->kept[rows++] = p;
    }
    struct iteration_imbalance imbalance = iteration_imbalance_of(x, rows, kept);
    take_imbalance(iterations, &imbalance, rows);
    if (rows > 0)
        iterations->heaviest = counter->kept[imbalance.heaviest];
    iterations->saving_ns = -1;
    if (iteration_class_is_uneven(imbalance.kind) &&
        (double)iterations->recoverable_ns >= EVENING * (double)graph_duration_ns(counter->graph))
        begin_evening(counter, iterations, rows);
    iteration_imbalance_clear(&imbalance);
}

static void fill_rows(struct phase_counter *counter)
{
    struct iteration_metrics *iterations = &counter->metrics->iterations;
    size_t processes = counter->phases->loops.process_count, count = iterations->count;
    for (size_t i = 0; i < iterations->row_count; i++) {
        struct iteration_row *row = &iterations->rows[i];
        double most;
        row->begin_ns = llround(counter->begins[row->first]);
        row->heaviest = heaviest_of(counter, row->first, row->first + row->count, &most);
        for (uint32_t k = row->first; k < row->first + row->count; k++) {
            double sum = 0, longest = 0;
            for (size_t p = 0; p < processes; p++) {
                double value = fmax(0, counter->computing[p * (count + 1) + k]);
                sum += value;
                longest = fmax(longest, value);
            }
            row->time_ns += llround(counter->times[k]);
            row->longest_ns = llround(fmax((double)row->longest_ns, counter->times[k]));
            row->computing_ns += llround(sum / (double)iterations->processes * 1e9);
            row->most_ns += llround(longest * 1e9);
        }
        time_add(&iterations->waiting_ns, part_waiting_ns(&row->sums));
    }
}

static void fill_table(struct phase_counter *counter)
{
    struct iteration_metrics *iterations = &counter->metrics->iterations;
    size_t processes = counter->phases->loops.process_count, count = iterations->count;
    iterations->per_group = phase_group_size(processes, iterations->row_count, ITERATION_CELLS);
    iterations->group_count = (processes + iterations->per_group - 1) / iterations->per_group;
    iterations->computing_ns =
        memory_new(iterations->group_count * iterations->row_count * sizeof *iterations->computing_ns);
    for (size_t group = 0; group < iterations->group_count; group++)
        for (size_t i = 0; i < iterations->row_count; i++) {
            const struct iteration_row *row = &iterations->rows[i];
            double sum = 0;
            size_t cells = 0;
            for (size_t p = group * iterations->per_group; p < (group + 1) * iterations->per_group && p < processes;
                 p++)
                for (uint32_t k = row->first; k < row->first + row->count; k++) {
                    double value = counter->computing[p * (count + 1) + k];
                    sum += fmax(0, value);
                    cells += value >= 0;
                }
            int64_t *cell = &iterations->computing_ns[group * iterations->row_count + i];
            *cell = -1;
            if (cells > 0)
                *cell = llround(sum / (double)cells * 1e9);
        }
}

void iteration_numbers_find(struct phase_counter *counter)
{
    find_times(counter);
    fill_rows(counter);
    fill_table(counter);
    if (counter->rhythm)
        counter->metrics->iterations.rhythm_ns = rhythm_period_ns(counter->rhythm);
    /* Last: it compacts the matrix that the others read. */
    find_imbalance(counter);
}

/* Where iterations begin, in place of what is computed in each. False: there is no copy of it. */
static bool restore_starts(struct phase_counter *counter)
{
    struct phases *phases = counter->phases;
    if (phases->main_loop == PHASE_NONE)
        return true;
    if (!counter->starts)
        return false;
    free(phases->loops.starts[phases->main_loop]);
    phases->loops.starts[phases->main_loop] = counter->starts;
    counter->starts = NULL;
    return true;
}

bool iteration_numbers_end(struct phase_counter *counter, const struct replay *replays)
{
    int64_t *saving_ns = &counter->metrics->iterations.saving_ns;
    for (size_t i = 0; i < counter->replay_count; i++)
        *saving_ns = larger(larger(*saving_ns, INT64_C(0)), replay_saved(counter->graph, &replays[i]));
    even_turns_free(counter->turns);
    evening_free(counter->evening);
    free(counter->borders_ns);
    free(counter->kept);
    free(counter->rhythm);
    free(counter->times);
    free(counter->begins);
    return restore_starts(counter);
}
