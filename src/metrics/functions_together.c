/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/functions_together.h"

#include "core/memory.h"
#include "core/numbers.h"

static void add(struct function_row *sum, const struct function_row *row)
{
    sum->count += row->count;
    time_add(&sum->time_ns, row->time_ns);
    time_add(&sum->exclusive_ns, row->exclusive_ns);
    sum->open += row->open;
    time_add(&sum->open_ns, row->open_ns);
    sum->stray += row->stray;
    /* A function without a whole call has min and max 0, which are no times. */
    if (row->count && row->min_ns < sum->min_ns)
        sum->min_ns = row->min_ns;
    if (row->count && row->max_ns > sum->max_ns)
        sum->max_ns = row->max_ns;
}

/* With that of calls that never returned: it is where a run that hung has spent its time. */
static int64_t all_ns(const struct function_row *row)
{
    int64_t ns = row->time_ns;
    time_add(&ns, row->open_ns);
    return ns;
}

static int by_time(const void *a, const void *b)
{
    const struct function_row *left = a, *right = b;
    int order = order_by(all_ns(right), all_ns(left));
    return order ? order : order_by(left->state, right->state);
}

struct function_row *metrics_functions_together(const struct metrics *metrics, size_t *count)
{
    size_t states = metrics->defs->state_count, used = 0;
    struct function_row *sums = memory_new(states * sizeof *sums);
    for (size_t i = 0; i < states; i++)
        sums[i] = (struct function_row){.state = (uint32_t)i, .min_ns = INT64_MAX, .max_ns = INT64_MIN};
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t k = 0; k < metrics->process[i].function_count; k++)
            add(&sums[metrics->process[i].functions[k].state], &metrics->process[i].functions[k]);
    /* States are many, and most traces use few: rows that are all 0 are left out. */
    for (size_t i = 0; i < states; i++)
        if (sums[i].count || sums[i].open || sums[i].stray || sums[i].time_ns)
            sums[used++] = sums[i];
    if (used > 0)
        qsort(sums, used, sizeof *sums, by_time);
    *count = used;
    return sums;
}
