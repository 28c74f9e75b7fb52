/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/efficiency.h"

#include "core/numbers.h"
#include "core/text.h"

#include <string.h>

/* In calls that start MPI, and in those that end it. They cost seconds with some launchers whatever the program does;
   in short runs they would hide how efficient the rest is, so they are excluded. */
struct starting {
    int64_t start_ns, stop_ns;
};

static struct starting starting_of(const struct metrics *metrics, const struct process_row *row)
{
    struct starting starting = {0};
    for (size_t f = 0; f < row->function_count; f++) {
        const char *name = metrics->defs->states[row->functions[f].state].name;
        if (!mpi_function_starts_or_ends(name))
            continue;
        int64_t *sum_ns = &starting.start_ns;
        if (strcmp(name, "MPI_Finalize") == 0)
            sum_ns = &starting.stop_ns;
        /* A call that the trace cuts off has only open time. */
        time_add(sum_ns, row->functions[f].time_ns);
        time_add(sum_ns, row->functions[f].open_ns);
    }
    return starting;
}

int64_t starting_ns(const struct metrics *metrics, const struct process_row *row)
{
    struct starting starting = starting_of(metrics, row);
    time_add(&starting.start_ns, starting.stop_ns);
    return starting.start_ns;
}

int64_t started_ns(const struct metrics *metrics, const struct process_row *row)
{
    int64_t from_ns = row->begin_ns;
    time_add(&from_ns, starting_of(metrics, row).start_ns);
    return from_ns;
}

/* From the first process that has left MPI_Init to the last that enters MPI_Finalize. */
int64_t working_duration_ns(const struct metrics *metrics)
{
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    if (metrics->process_count == 0)
        return time_since(metrics->begin_ns, metrics->end_ns);
    for (size_t i = 0; i < metrics->process_count; i++) {
        const struct process_row *row = &metrics->process[i];
        int64_t to_ns = row->end_ns - starting_of(metrics, row).stop_ns;
        begin_ns = smaller(started_ns(metrics, row), begin_ns);
        end_ns = larger(to_ns, end_ns);
    }
    int64_t working_ns = time_since(begin_ns, end_ns);
    if (working_ns > 0)
        return working_ns;
    /* A run of nothing but MPI_Init and MPI_Finalize. */
    return time_since(metrics->begin_ns, metrics->end_ns);
}

struct efficiency efficiency_of(const struct metrics *metrics)
{
    double sum = 0, most = 0, duration = (double)working_duration_ns(metrics);
    for (size_t i = 0; i < metrics->process_count; i++) {
        double compute = (double)metrics_compute_ns(metrics, i);
        sum += compute;
        most = larger(compute, most);
    }
    if (most <= 0 || duration <= 0)
        return (struct efficiency){0};
    /* POP: parallel efficiency = mean useful / duration = load balance (mean / max) x communication (max / duration).
     */
    double mean = sum / (double)metrics->process_count;
    return (struct efficiency){mean / duration, mean / most, most / duration};
}

double communication_share(const struct metrics *metrics)
{
    double communication = 0, total = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        struct starting starting = starting_of(metrics, &metrics->process[i]);
        double startup = (double)starting.start_ns + (double)starting.stop_ns;
        communication += (double)metrics->process[i].communication_ns - startup + (double)metrics_polled_ns(metrics, i);
        total += (double)process_total_ns(&metrics->process[i]) - startup;
    }
    return larger(ratio_of(communication, total), 0);
}

double mpi_share(const struct metrics *metrics)
{
    double communication = 0, total = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        communication += (double)metrics->process[i].communication_ns + (double)metrics_polled_ns(metrics, i);
        total += (double)process_total_ns(&metrics->process[i]);
    }
    return ratio_of(communication, total);
}

const char *mpi_share_note(const struct metrics *metrics)
{
    char with[TEXT_NUMBER_SIZE], without[TEXT_NUMBER_SIZE];
    text_share(with, mpi_share(metrics));
    text_share(without, communication_share(metrics));
    return strcmp(with, without) == 0 ? "" : " (with MPI_Init and MPI_Finalize)";
}

double startup_share(const struct metrics *metrics)
{
    double startup = 0, total = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        struct starting starting = starting_of(metrics, &metrics->process[i]);
        total += (double)process_total_ns(&metrics->process[i]);
        startup += (double)starting.start_ns + (double)starting.stop_ns;
    }
    return ratio_of(startup, total);
}
