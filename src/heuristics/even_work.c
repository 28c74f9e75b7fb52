/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/even_work.h"

#include "core/numbers.h"
#include "heuristics/finding.h"
#include "heuristics/iteration_kind.h"

/* True if the imbalance of the iterations is a finding of its own (find_dynamic_imbalance). */
static bool is_in_iterations(const struct metrics *metrics)
{
    return metrics->phases && iterations_are_dynamic(&metrics->phases->iterations);
}

int64_t even_work_saving_ns(const struct metrics *metrics, bool *by_steps)
{
    const struct analysis *analysis = metrics->analysis;
    /* Even steps always save a little more than even totals, by evening out noise: only more than that counts. */
    double more = (double)(analysis->even_steps_saving - analysis->balanced_saving);
    *by_steps = more > finding_noise(analysis) && !is_in_iterations(metrics);
    int64_t saving_ns = analysis->balanced_saving;
    if (*by_steps)
        saving_ns = analysis->even_steps_saving;
    *by_steps &= analysis->even_sections_saving <= saving_ns;
    return larger(analysis->even_sections_saving, saving_ns);
}
