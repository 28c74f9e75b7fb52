/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/waited_for.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/resource_counter.h"

#include <stdlib.h>

static bool knows_core_waits(const struct defs *defs)
{
    for (size_t i = 0; i < defs->mark_count; i++)
        if (resource_counter_of(&defs->marks[i]) == RESOURCE_DELAY)
            return true;
    return false;
}

struct waited_for waited_for_begin(const struct graph *graph, struct analysis *analysis)
{
    struct waited_for waited_for = {
        .wanted = knows_core_waits(graph->defs), .windows = windows_of(graph), .sums_ns = analysis->waited_for_ns};
    waited_for.until_ns = memory_new(analysis->process_count * sizeof *waited_for.until_ns);
    for (size_t i = 0; i < analysis->process_count; i++)
        waited_for.until_ns[i] = INT64_MIN;
    return waited_for;
}

static int by_begin(const void *a, const void *b)
{
    const struct late_wait *left = a, *right = b;
    return order_by(left->from_ns, right->from_ns);
}

/* Counts what begins up to then, and keeps the rest. */
static void count_until(struct waited_for *waited_for, int64_t until_ns)
{
    size_t counted = 0;
    if (waited_for->count > 0)
        qsort(waited_for->waits, waited_for->count, sizeof *waited_for->waits, by_begin);
    for (; counted < waited_for->count && waited_for->waits[counted].from_ns <= until_ns; counted++) {
        const struct late_wait *wait = &waited_for->waits[counted];
        int64_t *reached_ns = &waited_for->until_ns[wait->row];
        int64_t from_ns = larger(wait->from_ns, *reached_ns);
        if (wait->to_ns <= from_ns)
            continue;
        time_add(&waited_for->sums_ns[wait->row], time_since(from_ns, wait->to_ns));
        *reached_ns = wait->to_ns;
    }
    waited_for->count -= counted;
    for (size_t i = 0; i < waited_for->count; i++)
        waited_for->waits[i] = waited_for->waits[counted + i];
}

void waited_for_reach(struct waited_for *waited_for, size_t window)
{
    /* All calls that begin in the window before have come: the sweep reads them together. */
    if (window == waited_for->window)
        return;
    count_until(waited_for, window_end_ns(&waited_for->windows, window - 1));
    waited_for->window = window;
}

void waited_for_add(struct waited_for *waited_for, uint32_t row, int64_t from_ns, int64_t ns)
{
    if (waited_for->wanted)
        ARRAY_PUSH(waited_for->waits, waited_for->count, waited_for->capacity,
                   (struct late_wait){from_ns, from_ns + ns, row});
}

void waited_for_end(struct waited_for *waited_for)
{
    count_until(waited_for, INT64_MAX);
    free(waited_for->waits);
    free(waited_for->until_ns);
}
