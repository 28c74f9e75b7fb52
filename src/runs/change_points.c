/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/change_points.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "runs/statistics.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* With the observed order 1,000, so that a share of 1 % rests on ten of them. A series of runs is tested at each of its
   divisions: 5 % would report chance in most long series. */
enum { ORDERS = 999, ORDERS_FEW = 99 };
static const double LEVEL = 0.01;

struct search {
    double *values; /* of the whole series */
    double *part;   /* scratch: the part that is looked at, without outliers */
    struct change_point *found;
    size_t count, capacity;
    uint64_t random;
};

/* The largest standardised cumulative sum of the part, and where. */
static double largest(const double *part, size_t count, size_t *at)
{
    double sum = 0, all = 0, most = 0;
    for (size_t i = 0; i < count; i++)
        all += part[i];
    for (size_t i = 1; i < count; i++) {
        sum += part[i - 1];
        if (i < CHANGE_POINT_SIDE || count - i < CHANGE_POINT_SIDE)
            continue;
        /* The difference of the means over its standard error, but for the deviation, which is that of all orders. */
        double left = (double)i, right = (double)(count - i);
        double size = fabs((all - sum) / right - sum / left) * sqrt(left * right / (left + right));
        if (size > most) {
            most = size;
            *at = i;
        }
    }
    return most;
}

/* Fisher and Yates: each order is equally likely. */
static void shuffle(struct search *search, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)(statistics_random(&search->random) % i);
        double swapped = search->part[i - 1];
        search->part[i - 1] = search->part[other];
        search->part[other] = swapped;
    }
}

/* Share of random orders that reach it. Where a tenth of the first ones do, the rest are not needed. */
static double chance(struct search *search, size_t count, double observed)
{
    size_t reached = 1, tried = 1, at;
    for (; tried <= ORDERS; tried++) {
        shuffle(search, count);
        /* The same sums in another order differ by rounding: as large counts as reached. */
        reached += largest(search->part, count, &at) >= observed * (1 - 1e-9);
        if (tried >= ORDERS_FEW && reached > ORDERS_FEW / 10)
            break;
    }
    /* The observed order is one of them: a share of 0 would claim more than was tried. */
    return (double)reached / (double)(smaller(tried, (size_t)ORDERS) + 1);
}

/* Divides [from, to) and both sides of it. The sides are looked at in order, so that changes are found in order. */
static void divide(struct search *search, size_t from, size_t to)
{
    size_t count = to - from, at = 0;
    if (count < 2 * CHANGE_POINT_SIDE)
        return;
    statistics_centre(search->values + from, to - from, search->part);
    double observed = largest(search->part, count, &at);
    if (!(observed > 0)) /* all values are equal */
        return;
    double p = chance(search, count, observed);
    if (p > LEVEL)
        return;
    divide(search, from, from + at);
    ARRAY_PUSH(search->found, search->count, search->capacity, (struct change_point){.at = from + at, .p = p});
    divide(search, from + at, to);
}

static double level_of(struct search *search, size_t from, size_t to)
{
    double sum = 0, median;
    double *sorted = memory_new((to - from) * sizeof *sorted);
    memcpy(sorted, search->values + from, (to - from) * sizeof *sorted);
    statistics_sort(sorted, to - from);
    median = statistics_median(sorted, to - from);
    free(sorted);
    statistics_centre(search->values + from, to - from, search->part);
    for (size_t i = 0; i < to - from; i++)
        sum += search->part[i];
    return median + sum / (double)(to - from);
}

static void find_levels(struct search *search, size_t count)
{
    for (size_t i = 0; i < search->count; i++) {
        size_t from = 0, at = search->found[i].at, to = count;
        if (i > 0)
            from = search->found[i - 1].at;
        if (i + 1 < search->count)
            to = search->found[i + 1].at;
        search->found[i].before = level_of(search, from, at);
        search->found[i].after = level_of(search, at, to);
    }
}

/* Levels that differ by less than the reported minimum are merged, the smallest difference first. */
static void leave_out(struct search *search, size_t count, double least)
{
    for (;;) {
        size_t smallest = search->count;
        double size = least;
        find_levels(search, count);
        for (size_t i = 0; i < search->count; i++) {
            const struct change_point *point = &search->found[i];
            double relative = fabs(point->after - point->before) / fmax(fabs(point->before), 1e-300);
            if (relative < size) {
                size = relative;
                smallest = i;
            }
        }
        if (smallest == search->count)
            return;
        memmove(&search->found[smallest], &search->found[smallest + 1],
                (--search->count - smallest) * sizeof *search->found);
    }
}

struct change_point *change_points_of(const double *values, size_t count, double least, size_t *found)
{
    struct search search = {.random = STATISTICS_RANDOM};
    search.values = memory_new(count * sizeof *search.values);
    search.part = memory_new(count * sizeof *search.part);
    memcpy(search.values, values, count * sizeof *values);
    divide(&search, 0, count);
    leave_out(&search, count, least);
    free(search.values);
    free(search.part);
    *found = search.count;
    return search.found;
}
