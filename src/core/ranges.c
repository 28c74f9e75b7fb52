/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/ranges.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

/* The first range that ends at this byte or later: the only one that can hold it, or touch what begins there. */
static size_t first_from(const struct ranges *ranges, uint64_t at)
{
    size_t low = 0, high = ranges->count;
    if (high > 0 && ranges->range[high - 1].to < at)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->range[middle].to < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void ranges_add(struct ranges *ranges, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    size_t first = first_from(ranges, from), end = first;
    for (; end < ranges->count && ranges->range[end].from <= to; end++) {
        from = smaller(from, ranges->range[end].from);
        to = larger(to, ranges->range[end].to);
    }
    ARRAY_RESERVE(ranges->range, ranges->capacity, ranges->count + 1);
    /* One takes the place of those that it touches. */
    memmove(&ranges->range[first + 1], &ranges->range[end], (ranges->count - end) * sizeof *ranges->range);
    ranges->range[first] = (struct range){from, to};
    ranges->count = ranges->count + 1 - (end - first);
}

bool ranges_have(const struct ranges *ranges, uint64_t from, uint64_t to)
{
    size_t at = first_from(ranges, to);
    return from >= to || (at < ranges->count && ranges->range[at].from <= from);
}

void ranges_clear(struct ranges *ranges)
{
    free(ranges->range);
    *ranges = (struct ranges){0};
}
