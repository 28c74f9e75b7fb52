/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/sample_period.h"

#include "core/event.h"
#include "core/numbers.h"

#include <stdlib.h>

/* Keeps every second gap. */
static void thin_out(struct sample_period *period)
{
    for (uint32_t i = 0; i < SAMPLE_GAPS / 2; i++)
        period->gaps[i] = period->gaps[2 * i];
    period->kept = SAMPLE_GAPS / 2;
    period->stride *= 2;
}

void sample_period_add(struct sample_period *period, uint32_t process, uint32_t thread, int64_t time_ns)
{
    bool first = !map_find(&period->last, map_pair(process, thread));
    uint64_t *last = map_put(&period->last, map_pair(process, thread), (uint64_t)time_ns);
    int64_t gap = time_since((int64_t)*last, time_ns);
    *last = (uint64_t)time_ns;
    if (period->stride == 0)
        period->stride = 1;
    if (first || gap <= 0 || period->seen++ % period->stride != 0)
        return;
    if (period->kept == SAMPLE_GAPS)
        thin_out(period);
    period->gaps[period->kept++] = gap;
}

static int by_length(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return order_by(a, b);
}

int64_t sample_period_end(struct sample_period *period)
{
    map_clear(&period->last);
    if (period->kept == 0)
        return 0;
    qsort(period->gaps, period->kept, sizeof *period->gaps, by_length);
    return period->gaps[period->kept / 2];
}
