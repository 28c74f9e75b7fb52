/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/even_work.h"

#include "core/numbers.h"
#include "heuristics/efficiency.h"
#include "heuristics/finding.h"
#include "heuristics/iteration_kind.h"

/* True if the imbalance of the iterations is a finding of its own (find_dynamic_imbalance). */
static bool is_in_iterations(const struct metrics *metrics)
{
    return metrics->phases && iterations_are_dynamic(&metrics->phases->iterations);
}

/* What even iterations save, by a replay; 0: not known, or no more than noise above the others. Where no collective of
   all processes divides the run, only this evens out work that varies from iteration to iteration. */
static int64_t in_iterations_ns(const struct metrics *metrics, int64_t others_ns)
{
    /* Processes without work have a finding of their own, and even iterations give them some. A rhythm that differs
       says that the iterations may be cut in the wrong places. */
    if (!metrics->phases || metrics->analysis->idle_saving > 0 || metrics->phases->iterations.loop == PHASE_NONE ||
        is_in_iterations(metrics) || iteration_rhythm_differs(&metrics->phases->iterations))
        return 0;
    int64_t saving_ns = metrics->phases->iterations.saving_ns;
    return (double)(saving_ns - others_ns) > finding_noise(metrics->analysis) ? saving_ns : 0;
}

/* What even sections save; 0 where that is more than so many times what the process with most computes beyond the mean.
   Then nobody has too much work: processes that work in different sections take turns, and others say what that costs.
   In a large run some process always computes a little longer than the mean. */
static const double OF_EXCESS = 2;

static int64_t in_sections_ns(const struct metrics *metrics)
{
    struct efficiency efficiency = efficiency_of(metrics);
    /* Longest and mean computing, each as a share of the same time. */
    double excess_ns = (efficiency.communication - efficiency.parallel) * (double)working_duration_ns(metrics);
    int64_t saving_ns = metrics->analysis->even_sections_saving;
    return (double)saving_ns <= OF_EXCESS * excess_ns ? saving_ns : 0;
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
    int64_t others_ns = larger(in_sections_ns(metrics), in_iterations_ns(metrics, saving_ns));
    *by_steps &= others_ns <= saving_ns;
    return larger(others_ns, saving_ns);
}
