/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/functions.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "metrics/functions_together.h"

#include <stdlib.h>
#include <string.h>

/* Until the process ended, for a call that never returned: that is where a run that hung has spent its time. */
static int64_t spent_ns(const struct function_row *row)
{
    int64_t ns = row->exclusive_ns;
    time_add(&ns, row->open_ns);
    return ns;
}

static int by_time_spent(const void *a, const void *b)
{
    /* Equal times are ordered by state, so that the same trace always gives the same colours and rows. */
    const struct function_row *left = a, *right = b;
    if (spent_ns(left) != spent_ns(right))
        return order_by(spent_ns(right), spent_ns(left));
    return order_by(left->state, right->state);
}

struct functions functions_of(const struct metrics *metrics)
{
    struct functions functions = {0};
    size_t count, found = 0;
    struct function_row *rows = metrics_functions_together(metrics, &count);
    for (size_t i = 0; i < count; i++)
        if (metrics->defs->states[rows[i].state].is_mpi && spent_ns(&rows[i]) > 0)
            rows[found++] = rows[i];
    /* qsort() must not be given a null pointer, even without elements. */
    if (found > 0)
        qsort(rows, found, sizeof *rows, by_time_spent);
    for (size_t i = 0; i < found; i++) {
        size_t place = smaller(i, FUNCTIONS_MAX);
        /* Those beyond the colours that the eye can tell apart share one place, the last. */
        if (i < FUNCTIONS_MAX)
            functions.state[functions.count++] = (int32_t)rows[i].state;
        functions.seconds[place] += (double)spent_ns(&rows[i]) / 1e9;
        functions.others += i >= FUNCTIONS_MAX;
    }
    free(rows);
    return functions;
}

void functions_of_process(const struct functions *functions, const struct metrics *metrics,
                          const struct process_row *row, double seconds[FUNCTIONS_MAX + 1])
{
    /* The caller's array is used for one process after another. */
    memset(seconds, 0, (FUNCTIONS_MAX + 1) * sizeof *seconds);
    for (size_t k = 0; k < row->function_count; k++) {
        const struct function_row *function = &row->functions[k];
        if (!metrics->defs->states[function->state].is_mpi || spent_ns(function) <= 0)
            continue;
        /* Searched in order: there are at most FUNCTIONS_MAX, fewer than a map would cost. */
        size_t place = 0;
        while (place < functions->count && functions->state[place] != (int32_t)function->state)
            place++;
        if (place == functions->count)
            place = FUNCTIONS_MAX;
        seconds[place] += (double)spent_ns(function) / 1e9;
    }
}
