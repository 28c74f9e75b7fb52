/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "phases/loops.h"

struct nested {
    struct loop_interval interval;
    uint32_t index;
};

/* Outer ones first. */
static int by_begin(const void *a, const void *b)
{
    const struct nested *left = a, *right = b;
    if (left->interval.begin != right->interval.begin)
        return left->interval.begin < right->interval.begin ? -1 : 1;
    if (left->interval.end != right->interval.end)
        return left->interval.end > right->interval.end ? -1 : 1;
    return left->index < right->index ? -1 : 1;
}

/* Siblings, by begin. None contains a later one, so their ends ascend. */
struct siblings {
    uint32_t *places; /* in the sorted intervals */
    size_t count, capacity;
};

/* The first of the siblings that ends no earlier; LOOP_NONE: none does. */
static uint32_t first_around(const struct siblings *siblings, const struct nested *sorted, int64_t end)
{
    size_t low = 0, high = siblings->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[siblings->places[middle]].interval.end >= end)
            high = middle;
        else
            low = middle + 1;
    }
    return low < siblings->count ? siblings->places[low] : LOOP_NONE;
}

void loop_nest(const struct loop_interval *intervals, size_t count, uint32_t *parents)
{
    struct nested *sorted = memory_new(count * sizeof *sorted);
    /* The children of each, those of none at the end. */
    struct siblings *children = memory_new((count + 1) * sizeof *children);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct nested){intervals[i], (uint32_t)i};
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, by_begin);
    for (size_t i = 0; i < count; i++) {
        uint32_t parent = LOOP_NONE, next;
        struct siblings *siblings = &children[count];
        while ((next = first_around(siblings, sorted, sorted[i].interval.end)) != LOOP_NONE) {
            parent = next;
            siblings = &children[next];
        }
        ARRAY_PUSH(siblings->places, siblings->count, siblings->capacity, (uint32_t)i);
        parents[sorted[i].index] = parent == LOOP_NONE ? LOOP_NONE : sorted[parent].index;
    }
    for (size_t i = 0; i <= count; i++)
        free(children[i].places);
    free(children);
    free(sorted);
}
