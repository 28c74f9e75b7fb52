/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/even_iterations.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "replay/balance.h"

struct evening {
    const struct even_iterations *given;
    double *means;  /* by iteration; 0: it stays as it is */
    size_t *row_of; /* by process; row_count: it has none */
    uint32_t *at;   /* by process: the iteration at hand of the replay */
};

/* The last iteration that has begun. A replay walks through each location's calls in order: mostly the one before. */
static uint32_t iteration_at(const struct evening *evening, uint32_t process, const int64_t *starts, int64_t time_ns)
{
    uint32_t k = evening->at[process], count = evening->given->count;
    while (k > 0 && starts[k] > time_ns)
        k--;
    while (k + 1 < count && starts[k + 1] <= time_ns)
        k++;
    evening->at[process] = k;
    return k;
}

static double cell(const struct even_iterations *given, size_t row, uint32_t iteration)
{
    return given->computing[row * (given->count - given->skipped) + iteration - given->skipped];
}

static double *means_of(const struct even_iterations *given)
{
    double *means = memory_new(given->count * sizeof *means);
    for (uint32_t k = given->skipped; k < given->count; k++)
        for (size_t row = 0; row < given->row_count; row++)
            means[k] += cell(given, row, k) / (double)given->row_count;
    return means;
}

static size_t *rows_of(const struct even_iterations *given)
{
    size_t processes = given->phases->loops.process_count, *row_of = memory_new(processes * sizeof *row_of), row = 0;
    for (uint32_t p = 0; p < processes; p++) {
        bool has = row < given->row_count && given->rows[row] == p;
        row_of[p] = has ? row : given->row_count;
        row += has;
    }
    return row_of;
}

/* The factor by which the row's process computes longer in the iteration. */
static double factor_of(const struct evening *evening, size_t row, uint32_t iteration)
{
    double mean = evening->means[iteration];
    double mine = mean > 0 ? cell(evening->given, row, iteration) : 0;
    return mean > 0 && mine >= BALANCE_IDLE * mean ? mean / mine : 1;
}

/* The computing of a location from one time to another, iteration by iteration. */
static int64_t pace(const void *context, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    (void)index;
    const struct evening *evening = context;
    const struct even_iterations *given = evening->given;
    uint32_t process = given->phases->loops.processes[location], count = given->count;
    const int64_t *starts = given->starts + (size_t)process * (count + (size_t)1);
    size_t row = evening->row_of[process];
    if (given->phases->loops.locations[process] != location || row == given->row_count || to_ns <= starts[0] ||
        from_ns >= starts[count])
        return time_since(from_ns, to_ns);
    double ns = 0;
    if (from_ns < starts[0]) {
        ns += (double)time_since(from_ns, starts[0]);
        from_ns = starts[0];
    }
    for (uint32_t k = iteration_at(evening, process, starts, from_ns); k < count && from_ns < to_ns; k++) {
        int64_t end_ns = starts[k + 1] < to_ns ? starts[k + 1] : to_ns;
        ns += (double)time_since(from_ns, end_ns) * factor_of(evening, row, k);
        from_ns = end_ns > from_ns ? end_ns : from_ns;
    }
    return nearest_int(ns) + time_since(from_ns, to_ns);
}

struct evening *evening_new(const struct even_iterations *iterations, struct replay_options *options)
{
    struct evening *evening = memory_new(sizeof *evening);
    *evening = (struct evening){iterations, means_of(iterations), rows_of(iterations), NULL};
    evening->at = memory_new(iterations->phases->loops.process_count * sizeof *evening->at);
    options->pace = pace;
    options->pace_context = evening;
    return evening;
}

void evening_free(struct evening *evening)
{
    if (!evening)
        return;
    free(evening->means);
    free(evening->row_of);
    free(evening->at);
    free(evening);
}
