/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/phase_numbers.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/wait_table.h"
#include "graph/wait_windows.h"
#include "phases/even_iterations.h"
#include "phases/rhythm.h"
#include "replay/even_turns.h"
#include "replay/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An iteration is slow beyond this many median distances from the median, and this many medians. */
static const double SLOW_MADS = 5, SLOW_MEDIANS = 1.1;

/* A loss below this share of the run is not worth a replay with even iterations. */
static const double EVENING = 0.002;

/* Fewer iterations have no rhythm. */
enum { RHYTHM_LEAST = 5 };

struct counter {
    const struct graph *graph;
    const struct phases *phases;
    struct phase_metrics *metrics;
    int64_t begin_ns;  /* of the run */
    int64_t *starts;   /* a copy of where iterations begin; NULL: there are too many */
    double *own;       /* by iteration: computing of the current process, in s */
    double *computing; /* [process * (iterations + 1) + iteration]: computing of all; below 0: the process does not have
                          the loop. Replaces its starts once the process has been walked. */
    double *times, *begins; /* by iteration: means over the processes, in ns */
    uint32_t per_row;       /* iterations in a row */
    struct rhythm *rhythm;
};

/* Time of one kind. */
enum { SPENT_COMPUTING = -1 }; /* else a call's; WAIT_NONE: its whole time, else its wait */

static void put(struct part_sums *sums, int kind, int64_t ns)
{
    if (kind > WAIT_NONE) {
        time_add(&sums->waits_ns[kind], ns);
        return;
    }
    time_add(&sums->time_ns, ns);
    if (kind == SPENT_COMPUTING)
        time_add(&sums->compute_ns, ns);
    else
        time_add(&sums->mpi_ns, ns);
}

/* The position of a process while its calls are walked. */
struct walk {
    uint32_t process;
    uint32_t phase;
    uint32_t iteration;    /* PHASE_NONE: the loop has not begun, or is not examined */
    const int64_t *starts; /* of iterations; NULL: the process has none */
};

static void put_in_phase(struct counter *counter, const struct walk *walk, uint32_t phase, int kind, int64_t ns)
{
    struct phase_metrics *metrics = counter->metrics;
    struct phase_cell *cell = &metrics->cells[walk->process / metrics->per_group * metrics->phase_count + phase];
    put(&metrics->phases[phase].sums, kind, ns);
    if (kind > WAIT_NONE)
        time_add(&cell->waiting_ns, ns);
    else if (kind == SPENT_COMPUTING)
        time_add(&cell->compute_ns, ns);
    else
        time_add(&cell->mpi_ns, ns);
}

/* Splits the time over the phases. */
static void spend_in_phases(struct counter *counter, struct walk *walk, int kind, int64_t begin_ns, int64_t end_ns)
{
    const struct phases *phases = counter->phases;
    const int64_t *borders = phases->begins + walk->process * (phases->count + 1);
    /* Waits may begin before what was walked last; mostly the phase only goes on. */
    if (begin_ns < borders[walk->phase])
        walk->phase = phases_at(phases, walk->process, begin_ns);
    while (walk->phase + 1 < phases->count && borders[walk->phase + 1] <= begin_ns)
        walk->phase++;
    uint32_t phase = walk->phase;
    while (phase + 1 < phases->count && borders[phase + 1] < end_ns) {
        put_in_phase(counter, walk, phase, kind, time_since(begin_ns, borders[phase + 1]));
        begin_ns = borders[++phase];
    }
    put_in_phase(counter, walk, phase, kind, time_since(begin_ns, end_ns));
}

static void put_in_iteration(struct counter *counter, uint32_t iteration, int kind, int64_t ns)
{
    struct iteration_metrics *to = &counter->metrics->iterations;
    put(&to->rows[iteration / counter->per_row].sums, kind, ns);
    if (kind == SPENT_COMPUTING)
        counter->own[iteration] += (double)ns / 1e9;
}

/* The same over iterations; time outside the loop belongs to none. */
static void spend_in_iterations(struct counter *counter, struct walk *walk, int kind, int64_t begin_ns, int64_t end_ns)
{
    uint32_t count = counter->metrics->iterations.count;
    if (!walk->starts || end_ns <= walk->starts[0] || begin_ns >= walk->starts[count])
        return;
    begin_ns = larger(begin_ns, walk->starts[0]);
    end_ns = smaller(end_ns, walk->starts[count]);
    if (walk->iteration == PHASE_NONE || begin_ns < walk->starts[walk->iteration])
        walk->iteration = phases_iteration_at(counter->phases, counter->phases->main_loop, walk->process, begin_ns);
    while (walk->iteration + 1 < count && walk->starts[walk->iteration + 1] <= begin_ns)
        walk->iteration++;
    uint32_t iteration = walk->iteration;
    while (iteration + 1 < count && walk->starts[iteration + 1] < end_ns) {
        put_in_iteration(counter, iteration, kind, time_since(begin_ns, walk->starts[iteration + 1]));
        begin_ns = walk->starts[++iteration];
    }
    put_in_iteration(counter, iteration, kind, time_since(begin_ns, end_ns));
}

static void spend(struct counter *counter, struct walk *walk, int kind, int64_t begin_ns, int64_t end_ns)
{
    if (end_ns <= begin_ns)
        return;
    spend_in_phases(counter, walk, kind, begin_ns, end_ns);
    spend_in_iterations(counter, walk, kind, begin_ns, end_ns);
}

/* Messages count where their call begins. */
static void count_messages(struct counter *counter, const struct walk *walk, const struct call *call)
{
    struct phase_metrics *metrics = counter->metrics;
    uint64_t messages = 0, bytes = 0;
    struct message m;
    for (uint32_t at = call->sent; at; at = graph_next_sent(counter->graph, at - 1)) {
        m = graph_message(counter->graph, at - 1);
        if (m.bytes > 0)
            bytes += (uint64_t)m.bytes;
        messages++;
    }
    struct phase_cell *cell = &metrics->cells[walk->process / metrics->per_group * metrics->phase_count + walk->phase];
    metrics->phases[walk->phase].sums.messages += messages;
    metrics->phases[walk->phase].sums.bytes += bytes;
    cell->messages += messages;
    cell->bytes += bytes;
    if (walk->iteration == PHASE_NONE || !walk->starts || call->enter_ns < walk->starts[0] ||
        call->enter_ns >= walk->starts[metrics->iterations.count])
        return;
    struct part_sums *sums = &metrics->iterations.rows[walk->iteration / counter->per_row].sums;
    sums->messages += messages;
    sums->bytes += bytes;
}

/* The wait of a call, by its parts. */
static void spend_waiting(struct counter *counter, struct walk *walk, uint32_t location, uint32_t index,
                          const struct call *call)
{
    struct wait wait = wait_of(counter->graph, location, index);
    struct wait_parts parts = wait_parts(counter->graph, location, index, &wait);
    int64_t from_ns = call->enter_ns;
    for (size_t i = 0; i < parts.count; from_ns += parts.part[i++].ns)
        spend(counter, walk, (int)parts.part[i].kind, from_ns, from_ns + parts.part[i].ns);
}

static void walk_process(struct counter *counter, uint32_t process)
{
    const struct graph *graph = counter->graph;
    const struct phases *phases = counter->phases;
    uint32_t location = phases->loops.locations[process];
    const struct location *where = &graph->locations[location];
    struct walk walk = {.process = process, .iteration = PHASE_NONE};
    uint32_t count = counter->metrics->iterations.count;
    if (count > 0)
        walk.starts = phases->loops.starts[phases->main_loop] + (size_t)process * (count + (size_t)1);
    if (walk.starts && walk.starts[0] == INT64_MIN)
        walk.starts = NULL;
    for (uint32_t k = 0; k < count; k++)
        /* -1: the process does not have the loop, so that its computing is in no mean. */
        counter->own[k] = walk.starts ? 0 : -1;
    int64_t before_ns = where->begin_ns;
    size_t waits = 0;
    for (uint32_t i = 0; i < where->count; i++) {
        struct call call = graph_call(graph, location, i);
        /* Computing up to the call, then the whole call, then the wait in it once more: waits are a part of MPI
           time. */
        spend(counter, &walk, SPENT_COMPUTING, before_ns, call.enter_ns);
        if (counter->rhythm)
            rhythm_add(counter->rhythm, before_ns, call.enter_ns);
        spend(counter, &walk, WAIT_NONE, call.enter_ns, call.leave_ns);
        if (wait_table_marks(graph, location, i)) {
            int kind = graph->waits[location].kinds[waits];
            int64_t until_ns = call.enter_ns + wait_ns(graph, location, waits++);
            if (kind == WAIT_EARLY_WAIT)
                spend_waiting(counter, &walk, location, i, &call);
            else
                spend(counter, &walk, kind, call.enter_ns, until_ns);
        }
        if (call.sent)
            count_messages(counter, &walk, &call);
        before_ns = larger(before_ns, call.leave_ns);
    }
    spend(counter, &walk, SPENT_COMPUTING, before_ns, where->end_ns);
    /* The starts of this process are not needed any more: their memory takes its computing (see phase_metrics_of). */
    if (count > 0)
        memcpy(counter->computing + (size_t)process * (count + (size_t)1), counter->own, count * sizeof *counter->own);
}

/* Numbers of the iterations */

static void begin_iterations(struct counter *counter)
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
    counter->own = memory_new(to->count * sizeof *counter->own);
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
static void begin_rhythm(struct counter *counter)
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

static int by_number(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return order_by(*left, *right);
}

static double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_number);
    if (count % 2)
        return values[count / 2];
    return (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Rounded as in a metrics file, so that reports from there are the same. */
static double nano(double value)
{
    return round(value * 1e9) / 1e9;
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
    iterations->trend = nano(products / squares * ((double)count - 1) / mean);
    /* Rounding errors are not a trend. */
    if (spread > mean * mean * (double)count * 1e-18)
        iterations->trend_fit = nano(products / sqrt(squares * spread));
}

/* The process that computes most in iterations [first, end), and for how long. */
static uint32_t heaviest_of(const struct counter *counter, uint32_t first, uint32_t end, double *most)
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

static void keep_slow(struct counter *counter, uint32_t iteration)
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

static void find_times(struct counter *counter)
{
    struct iteration_metrics *iterations = &counter->metrics->iterations;
    uint32_t count = iterations->count;
    double *values = memory_new(count * sizeof *values);
    memcpy(values, counter->times, count * sizeof *values);
    double median = median_of(values, count);
    for (uint32_t k = 0; k < count; k++)
        values[k] = fabs(values[k] - median);
    /* Both limits: with a median distance of nearly 0, every iteration would be slow; with a large one, 10 % more is
       nothing. */
    double mad = median_of(values, count), limit = fmax(median + SLOW_MADS * mad, SLOW_MEDIANS * median);
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
    to->rank_share = nano(from->rank_share);
    to->iteration_share = nano(from->iteration_share);
    to->mixed_share = nano(from->mixed_share);
    to->concentration = nano(from->concentration);
    to->growth = nano(from->growth);
    to->entropy = nano(from->entropy);
    to->persistence = nano(from->persistence);
}

/* The part of each location that iterations are in. `borders_ns`: their begins, followed by their ends. */
static void find_borders(const struct counter *counter, int64_t *borders_ns)
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
   find_imbalance has compacted. -1: not known, as it would need too much memory. */
static int64_t evening_saving(const struct counter *counter, const double *x, const uint32_t *processes, size_t rows)
{
    const struct iteration_metrics *iterations = &counter->metrics->iterations;
    size_t locations = counter->graph->location_count, count = 1;
    if (!counter->starts)
        return -1;
    struct replay_options options[2] = {0};
    struct replay replays[2];
    struct even_iterations even = {.graph = counter->graph,
                                   .phases = counter->phases,
                                   .starts = counter->starts,
                                   .computing = x,
                                   .rows = processes,
                                   .row_count = rows,
                                   .count = iterations->count,
                                   .skipped = iterations->warm_up};
    struct evening *evening = evening_new(&even, &options[0]);
    int64_t *borders_ns = memory_new(2 * locations * sizeof *borders_ns), saving_ns = 0;
    find_borders(counter, borders_ns);
    struct even_turns *turns = even_turns_new(counter->graph, borders_ns, borders_ns + locations, &options[1]);
    count += turns != NULL;
    replay_run_all(counter->graph, options, count, replays);
    for (size_t i = 0; i < count; i++)
        saving_ns = larger(saving_ns, replay_saved(counter->graph, &replays[i]));
    even_turns_free(turns);
    evening_free(evening);
    free(borders_ns);
    return saving_ns;
}

/* Computing without the processes that lack the loop and without warming up. Compacts the matrix, so it must come last.
 */
static void find_imbalance(struct counter *counter)
{
    struct iteration_metrics *iterations = &counter->metrics->iterations;
    size_t count = iterations->count, kept = count - iterations->warm_up, rows = 0;
    size_t processes = counter->phases->loops.process_count;
    double *x = counter->computing;
    uint32_t *heaviest = memory_new(processes * sizeof *heaviest);
    for (uint32_t p = 0; p < processes; p++) {
        const double *from = counter->computing + p * (count + 1);
        if (from[0] < 0)
            continue;
        /* Rows move to the front only, so that what is still to be read is not overwritten. */
        memmove(x + rows * kept, from + iterations->warm_up, kept * sizeof *x);
        heaviest[rows++] = p;
    }
    struct iteration_imbalance imbalance = iteration_imbalance_of(x, rows, kept);
    take_imbalance(iterations, &imbalance, rows);
    if (rows > 0)
        iterations->heaviest = heaviest[imbalance.heaviest];
    iterations->saving_ns = -1;
    if (iteration_class_is_uneven(imbalance.kind) &&
        (double)iterations->recoverable_ns >= EVENING * (double)graph_duration_ns(counter->graph))
        iterations->saving_ns = evening_saving(counter, x, heaviest, rows);
    iteration_imbalance_clear(&imbalance);
    free(heaviest);
}

static void fill_rows(struct counter *counter)
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

static void fill_table(struct counter *counter)
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

static void end_iterations(struct counter *counter)
{
    find_times(counter);
    fill_rows(counter);
    fill_table(counter);
    /* Last: it compacts the matrix that the others read. */
    find_imbalance(counter);
    if (counter->rhythm)
        counter->metrics->iterations.rhythm_ns = rhythm_period_ns(counter->rhythm);
    free(counter->rhythm);
    free(counter->own);
    free(counter->starts);
    free(counter->times);
    free(counter->begins);
}

/* Numbers from the phases themselves. */
static void take_phases(struct counter *counter)
{
    const struct phases *phases = counter->phases;
    struct phase_metrics *metrics = counter->metrics;
    metrics->source = phases->source;
    metrics->phase_count = phases->count;
    metrics->phases = memory_new(phases->count * sizeof *metrics->phases);
    for (size_t i = 0; i < phases->count; i++)
        metrics->phases[i] = (struct phase_row){.name = memory_copy_string(phases->phase[i].name),
                                                .loop = phases->phase[i].loop,
                                                .begin_ns = time_since(counter->begin_ns, phases->phase[i].begin_ns),
                                                .end_ns = time_since(counter->begin_ns, phases->phase[i].end_ns)};
    metrics->loop_count = phases->loops.count;
    metrics->loops = memory_new(phases->loops.count * sizeof *metrics->loops);
    for (size_t i = 0; i < phases->loops.count; i++) {
        metrics->loops[i] = phases->loops.rows[i];
        metrics->loops[i].similarity = nano(metrics->loops[i].similarity);
        metrics->loops[i].name = memory_copy_string(phases->loops.rows[i].name);
    }
    metrics->role_count = (uint32_t)phases->loops.role_count;
    metrics->by_world = phases->loops.by_world;
    metrics->process_count = phases->loops.process_count;
    metrics->per_group = phase_group_size(metrics->process_count, phases->count, PHASE_CELLS);
    metrics->group_count = (metrics->process_count + metrics->per_group - 1) / metrics->per_group;
    metrics->cells = memory_new(metrics->group_count * phases->count * sizeof *metrics->cells);
}

/* Overwrites the starts of the main loop's iterations. */
static struct phase_metrics *phase_metrics_of(const struct graph *graph, struct phases *phases)
{
    struct phase_metrics *metrics = memory_new(sizeof *metrics);
    struct counter counter = {
        .graph = graph, .phases = phases, .metrics = metrics, .begin_ns = graph_begin_ns(graph), .per_row = 1};
    take_phases(&counter);
    metrics->iterations.loop = PHASE_NONE;
    if (phases->main_loop != PHASE_NONE) {
        begin_iterations(&counter);
        begin_rhythm(&counter);
    }
    for (uint32_t p = 0; p < phases->loops.process_count; p++)
        walk_process(&counter, p);
    if (phases->main_loop != PHASE_NONE)
        end_iterations(&counter);
    return metrics;
}

struct phase_metrics *phase_metrics_with(const struct graph *graph, const struct user_spans *spans)
{
    struct phases *phases = phases_of(graph, spans);
    struct phase_metrics *metrics = phase_metrics_of(graph, phases);
    phases_free(phases);
    return metrics;
}
