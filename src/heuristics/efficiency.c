/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/efficiency.h"

struct efficiency efficiency_of(const struct metrics *metrics)
{
    double sum = 0, most = 0, duration = (double)time_since(metrics->begin_ns, metrics->end_ns);
    for (size_t i = 0; i < metrics->process_count; i++) {
        double compute = (double)process_compute_ns(&metrics->process[i]);
        sum += compute;
        most = compute > most ? compute : most;
    }
    if (most <= 0 || duration <= 0)
        return (struct efficiency){0};
    double mean = sum / (double)metrics->process_count;
    return (struct efficiency){mean / duration, mean / most, most / duration};
}

double communication_share(const struct metrics *metrics)
{
    double communication = 0, total = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        communication += (double)metrics->process[i].communication_ns;
        total += (double)process_total_ns(&metrics->process[i]);
    }
    return total > 0 ? communication / total : 0;
}

double startup_share(const struct metrics *metrics)
{
    double startup = 0, total = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        const struct process_row *row = &metrics->process[i];
        total += (double)process_total_ns(row);
        for (size_t f = 0; f < row->function_count; f++)
            if (mpi_function_starts_or_ends(metrics->defs->states[row->functions[f].state].name))
                startup += (double)row->functions[f].time_ns + (double)row->functions[f].open_ns;
    }
    return total > 0 ? startup / total : 0;
}
