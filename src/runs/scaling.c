/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/scaling.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "heuristics/efficiency.h"
#include "heuristics/threads.h"
#include "metrics/functions_together.h"

#include <math.h>
#include <string.h>

/* Efficiency is searched up to this many processes: 2^20, beyond any machine that a law from a few sizes could be
   extended to. */
#define MOST_N 1048576.0

const char *scaling_kind_name(enum scaling_kind kind)
{
#define SCALING_KIND_NAME(kind, word) word,
    static const char *const names[] = {SCALING_KINDS(SCALING_KIND_NAME)};
#undef SCALING_KIND_NAME
    return names[kind];
}

/* Runs and sizes under construction. */
struct gathering {
    struct scaling *scaling;
    const struct scaling_run *runs;
    size_t run_count;
    size_t *size_of_run;
    size_t row_capacity;
};

/* What the caller says goes before what the trace has: threads that never call MPI are in no trace. */
static uint32_t threads_of(const struct scaling_run *run)
{
    uint32_t threads = run->threads;
    if (threads == 0 && run->metrics)
        threads = run->metrics->defs->threads;
    return larger(threads, 1U);
}

static uint32_t processes_of(const struct scaling_run *run)
{
    uint32_t processes = run->processes;
    if (processes == 0 && run->metrics)
        processes = run->metrics->processes;
    return larger(processes, 1U);
}

uint64_t scaling_run_n(const struct scaling_run *run)
{
    return (uint64_t)processes_of(run) * threads_of(run);
}

double scaling_run_s(const struct scaling_run *run)
{
    if (!run->metrics)
        return run->time_s;
    return (double)time_since(run->metrics->begin_ns, run->metrics->end_ns) / 1e9;
}

static int by_n(const void *a, const void *b)
{
    const struct scaling_size *left = a, *right = b;
    double left_n = scaling_n(left), right_n = scaling_n(right);
    if (left_n != right_n)
        return order_by(left_n, right_n);
    return order_by(left->processes, right->processes);
}

static size_t size_index(const struct scaling *scaling, uint32_t processes, uint32_t threads)
{
    size_t i = 0;
    /* Sizes are few: an index of them would cost more than it saves. */
    while (i < scaling->size_count &&
           (scaling->sizes[i].processes != processes || scaling->sizes[i].threads != threads))
        i++;
    return i;
}

static void gather_sizes(struct gathering *gathering)
{
    struct scaling *scaling = gathering->scaling;
    scaling->sizes = memory_new(gathering->run_count * sizeof *scaling->sizes);
    for (size_t i = 0; i < gathering->run_count; i++) {
        uint32_t processes = processes_of(&gathering->runs[i]);
        uint32_t threads = threads_of(&gathering->runs[i]);
        if (size_index(scaling, processes, threads) == scaling->size_count)
            scaling->sizes[scaling->size_count++] = (struct scaling_size){.processes = processes, .threads = threads};
    }
    qsort(scaling->sizes, scaling->size_count, sizeof *scaling->sizes, by_n);
    for (size_t i = 0; i < gathering->run_count; i++) {
        size_t at = size_index(scaling, processes_of(&gathering->runs[i]), threads_of(&gathering->runs[i]));
        gathering->size_of_run[i] = at;
        scaling->sizes[at].repeats++;
    }
}

/* Mean computing of a process, in seconds. */
static double compute_s(const struct metrics *metrics)
{
    double sum = 0;
    for (size_t i = 0; i < metrics->process_count; i++)
        sum += (double)metrics_compute_ns(metrics, i);
    return ratio_of(sum, (double)metrics->process_count) / 1e9;
}

/* POP's factors are about MPI: they say nothing of threads that compute beside each other. */
static bool uses_mpi(const struct metrics *metrics)
{
    return metrics->process_count != 1 || metrics->process[0].communication_ns > 0;
}

/* Adds a run to the means of its size. `computation` holds mean computing of a process until all sizes are known. */
static void add_to_size(struct scaling_size *size, const struct scaling_run *run, bool first)
{
    const struct metrics *metrics = run->metrics;
    double share = 1 / (double)size->repeats, time_s = scaling_run_s(run);
    /* One run without a factor makes the mean of its size unknown: NAN stays NAN. */
    struct efficiency efficiency = {NAN, NAN, NAN};
    double computing_s = NAN, serialisation = NAN, transfer = NAN;
    struct thread_efficiency cores = {.hybrid = NAN, .openmp = NAN};
    if (metrics && uses_mpi(metrics)) {
        efficiency = efficiency_of(metrics);
        computing_s = compute_s(metrics);
        struct thread_efficiency found = thread_efficiency_of(metrics);
        if (found.threads > 0)
            cores = found;
    }
    if (metrics && metrics->analysis) {
        serialisation = metrics->analysis->serialisation;
        transfer = metrics->analysis->transfer;
    }
    if (first)
        size->least_s = size->most_s = time_s;
    size->time_s += time_s * share;
    size->least_s = fmin(size->least_s, time_s);
    size->most_s = fmax(size->most_s, time_s);
    size->parallel += efficiency.parallel * share;
    size->load_balance += efficiency.load_balance * share;
    size->communication += efficiency.communication * share;
    size->computation += computing_s * share;
    size->serialisation += serialisation * share;
    size->transfer += transfer * share;
    size->hybrid += cores.hybrid * share;
    size->openmp += cores.openmp * share;
}

/* Speed-up, efficiency and serial fraction, by the formulas of scaling.h. `growth` is n / n0. */
static void compare_times(struct scaling_size *size, double reference_s, double growth, bool weak)
{
    double ratio = NAN;
    if (size->time_s > 0)
        ratio = reference_s / size->time_s;
    size->serial = NAN;
    if (weak) {
        size->efficiency = ratio;
        size->speedup = ratio * growth;
        return;
    }
    size->efficiency = ratio / growth;
    size->speedup = ratio;
    if (growth > 1)
        size->serial = (1 / ratio - 1 / growth) / (1 - 1 / growth);
}

static void finish_sizes(struct scaling *scaling)
{
    const struct scaling_size reference = scaling->sizes[0];
    double n0 = scaling_n(&reference);
    for (size_t i = 0; i < scaling->size_count; i++) {
        struct scaling_size *size = &scaling->sizes[i];
        compare_times(size, reference.time_s, scaling_n(size) / n0, scaling->weak);
        /* POP: the work itself may grow. All of it stays the same in strong scaling, that of a process in weak. */
        double computing = size->computation, before = reference.computation;
        if (!scaling->weak) {
            computing *= (double)size->processes;
            before *= (double)reference.processes;
        }
        size->computation = NAN;
        if (computing > 0)
            size->computation = before / computing;
        size->global = size->parallel * size->computation;
    }
}

/* The row of a part, created if new. */
static size_t row_of(struct gathering *gathering, const char *name, enum scaling_kind kind)
{
    struct scaling *scaling = gathering->scaling;
    for (size_t i = 0; i < scaling->row_count; i++)
        if (scaling->rows[i].kind == kind && strcmp(scaling->rows[i].name, name) == 0)
            return i;
    struct scaling_row row = {.name = memory_copy_string(name),
                              .kind = kind,
                              .times_s = memory_new(scaling->size_count * sizeof *row.times_s),
                              .speedups = memory_new(scaling->size_count * sizeof *row.speedups)};
    for (size_t i = 0; i < scaling->size_count; i++)
        row.times_s[i] = NAN;
    ARRAY_PUSH(scaling->rows, scaling->row_count, gathering->row_capacity, row);
    return scaling->row_count - 1;
}

/* A part missing from a run counts as 0 in its size's mean, unless no run of the size has it. */
static void add_part(struct gathering *gathering, size_t size, const char *name, enum scaling_kind kind, double seconds)
{
    size_t index = row_of(gathering, name, kind); /* may move the rows */
    struct scaling_row *row = &gathering->scaling->rows[index];
    double share = seconds / (double)gathering->scaling->sizes[size].repeats;
    if (isnan(row->times_s[size]))
        row->times_s[size] = 0;
    row->times_s[size] += share;
}

static void add_functions(struct gathering *gathering, size_t size, const struct metrics *metrics)
{
    size_t count;
    struct function_row *functions = metrics_functions_together(metrics, &count);
    for (size_t i = 0; i < count; i++) {
        const struct state_def *state = &metrics->defs->states[functions[i].state];
        enum scaling_kind kind = state->is_mpi ? SCALING_FUNCTION : SCALING_REGION;
        /* What the recorder itself takes is no part of the program. */
        if (state->class != CLASS_TOOL && functions[i].exclusive_ns > 0)
            add_part(gathering, size, state->name, kind,
                     (double)functions[i].exclusive_ns / 1e9 / (double)metrics->process_count);
    }
    free(functions);
}

static void add_phases(struct gathering *gathering, size_t size, const struct metrics *metrics)
{
    const struct phase_metrics *phases = metrics->phases;
    for (size_t i = 0; phases->phase_count > 1 && i < phases->phase_count; i++)
        add_part(gathering, size, phases->phases[i].name, SCALING_PHASE,
                 (double)phases->phases[i].sums.time_ns / 1e9 / (double)metrics->process_count);
    /* The first loop is the run itself. */
    for (size_t i = 1; i < phases->loop_count; i++)
        add_part(gathering, size, phases->loops[i].name, SCALING_LOOP,
                 (double)phases->loops[i].time_ns / 1e9 / (double)metrics->process_count);
    /* The mean: iterations of different sizes are compared by what one of them takes. */
    if (phases->iterations.loop != PHASE_NONE)
        add_part(gathering, size, "iteration of the main loop", SCALING_ITERATION,
                 (double)phases->iterations.mean_ns / 1e9);
}

static void add_run(struct gathering *gathering, size_t run)
{
    const struct metrics *metrics = gathering->runs[run].metrics;
    size_t size = gathering->size_of_run[run];
    add_part(gathering, size, "the run", SCALING_RUN, scaling_run_s(&gathering->runs[run]));
    if (!metrics)
        return;
    double computing = compute_s(metrics), total = 0;
    for (size_t i = 0; i < metrics->process_count; i++)
        total += (double)process_total_ns(&metrics->process[i]) / 1e9 / (double)metrics->process_count;
    add_part(gathering, size, "computing", SCALING_COMPUTING, computing);
    add_part(gathering, size, "in MPI", SCALING_MPI, total - computing);
    if (metrics->analysis) {
        double waiting = 0;
        for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
            waiting += (double)metrics->analysis->waits[kind].ns / 1e9;
        add_part(gathering, size, "waiting for processes", SCALING_WAITING, waiting / (double)metrics->process_count);
    }
    if (metrics->phases)
        add_phases(gathering, size, metrics);
    add_functions(gathering, size, metrics);
}

/* Points of a row; 0 if it is missing in a size. Sizes with the same n are one point. */
static size_t points_of(const struct scaling *scaling, const struct scaling_row *row, struct law_point *points)
{
    size_t count = 0;
    for (size_t i = 0; i < scaling->size_count; i++) {
        double n = scaling_n(&scaling->sizes[i]), repeats = (double)scaling->sizes[i].repeats;
        if (!(row->times_s[i] > 0))
            return 0;
        if (count > 0 && points[count - 1].p == n) {
            struct law_point *same = &points[count - 1];
            same->time_s = (same->time_s * same->repeats + row->times_s[i] * repeats) / (same->repeats + repeats);
            same->repeats += repeats;
        } else {
            points[count++] = (struct law_point){n, row->times_s[i], repeats};
        }
    }
    return count;
}

static int by_time(const void *a, const void *b)
{
    const struct scaling_row *left = a, *right = b;
    bool left_run = left->kind == SCALING_RUN, right_run = right->kind == SCALING_RUN;
    if (left_run != right_run)
        return order_by(right_run, left_run);
    /* `law.error` holds the time at the largest size while rows are sorted: qsort has no context. */
    if (left->law.error != right->law.error)
        return order_by(right->law.error, left->law.error);
    if (left->kind != right->kind)
        return order_by(left->kind, right->kind);
    return strcmp(left->name, right->name);
}

static void finish_rows(struct scaling *scaling)
{
    size_t last = scaling->size_count - 1;
    for (size_t i = 0; i < scaling->row_count; i++)
        scaling->rows[i].law.error = fmax(scaling->rows[i].times_s[last], 0); /* of NAN: 0 */
    qsort(scaling->rows, scaling->row_count, sizeof *scaling->rows, by_time);
    struct law_point *points = memory_new(scaling->size_count * sizeof *points);
    for (size_t i = 0; i < scaling->row_count; i++) {
        struct scaling_row *row = &scaling->rows[i];
        for (size_t s = 0; s < scaling->size_count; s++) {
            row->speedups[s] = NAN;
            if (row->times_s[0] > 0 && row->times_s[s] > 0)
                row->speedups[s] = row->times_s[0] / row->times_s[s];
        }
        row->law = law_of(points, points_of(scaling, row, points));
    }
    free(points);
}

/* Amdahl's f of least squares of relative errors: t = f + (1 - f) / growth, in units of the reference's time. */
static double amdahl_of(const struct scaling *scaling)
{
    double n0 = scaling_n(&scaling->sizes[0]), sum_xy = 0, sum_xx = 0;
    for (size_t i = 1; i < scaling->size_count; i++) {
        double inverse = n0 / scaling_n(&scaling->sizes[i]), t = scaling->sizes[i].time_s / scaling->sizes[0].time_s;
        double weight = (double)scaling->sizes[i].repeats / (t * t), x = 1 - inverse, y = t - inverse;
        sum_xy += weight * x * y;
        sum_xx += weight * x * x;
    }
    if (!(sum_xx > 0)) /* or it is no number */
        return NAN;
    /* More than n times as fast, by larger caches, would make f negative. */
    return fmin(fmax(sum_xy / sum_xx, 0), 1);
}

/* Efficiency at n of a run that takes this long. */
static double efficiency_at(const struct scaling *scaling, double n, double time_s)
{
    double ratio = scaling->sizes[0].time_s / time_s;
    if (!scaling->weak)
        ratio *= scaling_n(&scaling->sizes[0]) / n;
    return ratio;
}

static void find_half(struct scaling *scaling)
{
    /* Measured goes before predicted. */
    for (size_t i = 0; i < scaling->size_count; i++)
        if (scaling->sizes[i].efficiency < 0.5) {
            scaling->half_n = scaling_n(&scaling->sizes[i]);
            scaling->half_measured = true;
            return;
        }
    const struct law *law = &scaling->rows[0].law;
    double low = scaling_n(&scaling->sizes[scaling->size_count - 1]), high = low;
    while (law->found && high < MOST_N && efficiency_at(scaling, high, law_at(law, high)) >= 0.5)
        high *= 2;
    if (!law->found || high >= MOST_N)
        return;
    /* Between the last doubling that is still efficient and the next: laws fall steadily there, so halving finds it. */
    for (low = high / 2; high - low > 1;) {
        double middle = floor((low + high) / 2);
        if (efficiency_at(scaling, middle, law_at(law, middle)) < 0.5)
            high = middle;
        else
            low = middle;
    }
    scaling->half_n = ceil(high);
}

/* The part with the highest cost beyond ideal scaling. Parts of the run that contain others (the run itself, phases,
   loops) are excluded. */
static void find_breaking(struct scaling *scaling)
{
    size_t last = scaling->size_count - 1;
    double n0 = scaling_n(&scaling->sizes[0]), n = scaling_n(&scaling->sizes[last]);
    scaling->breaking = scaling->row_count;
    for (size_t i = 1; i < scaling->row_count; i++) {
        const struct scaling_row *row = &scaling->rows[i];
        if (row->kind != SCALING_COMPUTING && row->kind != SCALING_REGION && row->kind != SCALING_FUNCTION)
            continue;
        /* Ideal: the same time in weak scaling, n0 / n of it in strong. A part that is new at the largest size is all
           excess. */
        double ideal = fmax(row->times_s[0], 0);
        if (!scaling->weak)
            ideal *= n0 / n;
        double excess = row->times_s[last] - ideal;
        if (excess > scaling->breaking_s) {
            scaling->breaking_s = excess;
            scaling->breaking = i;
        }
    }
}

static void forecast(struct scaling *scaling)
{
    struct law_point *points = memory_new(scaling->size_count * sizeof *points);
    const struct scaling_row *run = &scaling->rows[0];
    size_t count = points_of(scaling, run, points);
    for (int i = 0; i < 2 && run->law.found; i++) {
        double n = scaling_n(&scaling->sizes[scaling->size_count - 1]) * 2 * (1 + i); /* twice, and four times */
        scaling->forecasts[i].n = n;
        scaling->forecasts[i].time = law_predict(points, count, &run->law, n);
        scaling->forecasts[i].efficiency = efficiency_at(scaling, n, scaling->forecasts[i].time.time_s);
    }
    scaling->too_few = count < LAW_POINTS;
    free(points);
}

struct scaling *scaling_of(const struct scaling_run *runs, size_t count, bool weak, struct error *err)
{
    struct scaling *scaling = memory_new(sizeof *scaling);
    struct gathering gathering = {.scaling = scaling,
                                  .runs = runs,
                                  .run_count = count,
                                  .size_of_run = memory_new((count + 1) * sizeof *gathering.size_of_run)};
    scaling->weak = weak;
    /* Sizes first: means over the runs of a size need their number. */
    gather_sizes(&gathering);
    if (scaling->size_count < 2) {
        error_set(err, ERROR_USAGE,
                  "all runs have the same number of processes and threads: give runs of several sizes");
        free(gathering.size_of_run);
        scaling_free(scaling);
        return NULL;
    }
    size_t *added = memory_new(scaling->size_count * sizeof *added);
    for (size_t i = 0; i < count; i++) {
        size_t size = gathering.size_of_run[i];
        add_to_size(&scaling->sizes[size], &runs[i], added[size]++ == 0);
        add_run(&gathering, i);
    }
    free(added);
    free(gathering.size_of_run);
    finish_sizes(scaling);
    finish_rows(scaling);
    scaling->amdahl = NAN; /* it is about work that does not grow */
    if (!weak)
        scaling->amdahl = amdahl_of(scaling);
    forecast(scaling);
    find_half(scaling);
    find_breaking(scaling);
    return scaling;
}

void scaling_free(struct scaling *scaling)
{
    if (!scaling)
        return;
    for (size_t i = 0; i < scaling->row_count; i++) {
        free(scaling->rows[i].name);
        free(scaling->rows[i].times_s);
        free(scaling->rows[i].speedups);
    }
    free(scaling->rows);
    free(scaling->sizes);
    free(scaling);
}
