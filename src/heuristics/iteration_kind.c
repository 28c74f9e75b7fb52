/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/iteration_kind.h"

double iterations_dynamic_share(const struct iteration_metrics *iterations)
{
    if (iterations->loss_ns <= 0)
        return 0;
    /* Loss = static + dynamic part (rules of diagnosis, 7.1). */
    return 1 - (double)iterations->static_ns / (double)iterations->loss_ns;
}

bool iteration_class_shows_in_totals(enum iteration_class kind)
{
    return kind == ITERATION_GROWING || kind == ITERATION_FALLING || kind == ITERATION_TRANSIENT;
}

bool iterations_are_dynamic(const struct iteration_metrics *iterations)
{
    enum iteration_class kind = iterations->kind;
    /* A rhythm that differs says that the iterations may be cut in the wrong places: nothing rests on them then. */
    if (iterations->loop == PHASE_NONE || kind == ITERATION_TOO_FEW || kind == ITERATION_BALANCED ||
        kind == ITERATION_STATIC || iteration_rhythm_differs(iterations))
        return false;
    /* Random work of many processes differs in total by chance. */
    return iteration_class_shows_in_totals(kind) || kind == ITERATION_RANDOM ||
           iterations_dynamic_share(iterations) >= ITERATIONS_DYNAMIC;
}
