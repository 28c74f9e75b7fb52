/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/permutation.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "runs/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A test and what was observed of it. */
struct placed {
    double value;
    size_t test;
};

struct permuting {
    double *values; /* of each test, without outliers */
    size_t count, before, after;
    double floor; /* added to each standard error */
    bool *is_after;
    double *observed;
    size_t *order; /* tests, the largest observed first */
    uint64_t *reached;
};

static int by_value(const void *a, const void *b)
{
    const struct placed *left = a, *right = b;
    if (left->value != right->value)
        return order_by(left->value, right->value);
    return order_by(left->test, right->test);
}

/* Sums of one side of a division. Values are differences from the test's median, so that squares lose nothing. */
struct side {
    double sum, squares;
};

static double side_error(struct side side, size_t count)
{
    /* The square of the standard error of the mean; rounding may take a sum of squares below 0. */
    double runs = (double)count;
    return fmax(0, side.squares - side.sum * side.sum / runs) / ((runs - 1) * runs);
}

/* The statistic of a test as the runs are divided now. */
static double statistic(struct permuting *permuting, size_t test)
{
    size_t runs = permuting->before + permuting->after;
    const double *row = &permuting->values[test * runs];
    struct side sides[2] = {{0}};
    for (size_t i = 0; i < runs; i++) {
        struct side *side = &sides[permuting->is_after[i]];
        side->sum += row[i];
        side->squares += row[i] * row[i];
    }
    double difference = sides[1].sum / (double)permuting->after - sides[0].sum / (double)permuting->before;
    double squared = side_error(sides[0], permuting->before) + side_error(sides[1], permuting->after);
    return fabs(difference) / (sqrt(squared) + permuting->floor);
}

/* One division: which tests are reached by the largest of those that come after them. Compared with the largest of all
   tests, only the first would ever be significant (Westfall and Young: step-down). */
static void count_division(struct permuting *permuting)
{
    double most = 0;
    for (size_t i = permuting->count; i-- > 0;) {
        size_t test = permuting->order[i];
        most = fmax(most, statistic(permuting, test));
        permuting->reached[test] += most >= permuting->observed[test] * (1 - 1e-9);
    }
}

/* Moves to the next division in the order of binary numbers with so many digits 1; false after the last. */
static bool next_division(bool *is_after, size_t runs)
{
    size_t at = 0, ones = 0;
    while (at + 1 < runs && !(is_after[at] && !is_after[at + 1]))
        ones += is_after[at++];
    if (at + 1 >= runs)
        return false;
    is_after[at] = false;
    is_after[at + 1] = true;
    for (size_t i = 0; i < at; i++)
        is_after[i] = i < ones;
    return true;
}

static void shuffle(bool *is_after, size_t runs, uint64_t *random)
{
    for (size_t i = runs; i > 1; i--) {
        size_t other = (size_t)(statistics_random(random) % i);
        bool swapped = is_after[i - 1];
        is_after[i - 1] = is_after[other];
        is_after[other] = swapped;
    }
}

static double divisions(size_t before, size_t after)
{
    return exp(lgamma((double)(before + after) + 1) - lgamma((double)before + 1) - lgamma((double)after + 1));
}

/* All divisions, or random ones and the one that was observed. Returns how many. */
static uint64_t try_divisions(struct permuting *permuting)
{
    size_t runs = permuting->before + permuting->after;
    uint64_t tried = 0, random = STATISTICS_RANDOM;
    /* Exact as far as that is affordable: 8 + 8 runs have 12,870 divisions. */
    if (divisions(permuting->before, permuting->after) < PERMUTATIONS_MOST + 0.5) {
        for (size_t i = 0; i < runs; i++)
            permuting->is_after[i] = i < permuting->after;
        do {
            count_division(permuting);
            tried++;
        } while (next_division(permuting->is_after, runs));
        return tried;
    }
    for (count_division(permuting), tried = 1; tried < PERMUTATIONS_MOST; tried++) {
        shuffle(permuting->is_after, runs, &random);
        count_division(permuting);
    }
    return tried;
}

/* The lowest tenth over tests of how far one run is from another, as a standard error. It does not depend on which run
   belongs to which version, so that all divisions are treated alike. */
static double floor_of(struct permuting *permuting, double least)
{
    size_t runs = permuting->before + permuting->after, used = 0;
    double *spreads = memory_new(permuting->count * sizeof *spreads), low = 0;
    for (size_t test = 0; test < permuting->count; test++) {
        double spread = anova_group_of(&permuting->values[test * runs], runs).deviation;
        if (spread > 0)
            spreads[used++] = spread;
    }
    statistics_sort(spreads, used);
    if (used > 0)
        low = spreads[used / 10];
    free(spreads);
    return fmax(low, least) * sqrt(1 / (double)permuting->before + 1 / (double)permuting->after);
}

static void permuting_begin(struct permuting *permuting, const double *values, double least)
{
    size_t runs = permuting->before + permuting->after;
    permuting->values = memory_new(permuting->count * runs * sizeof *permuting->values);
    permuting->is_after = memory_new(runs * sizeof *permuting->is_after);
    permuting->observed = memory_new(permuting->count * sizeof *permuting->observed);
    permuting->order = memory_new(permuting->count * sizeof *permuting->order);
    permuting->reached = memory_new(permuting->count * sizeof *permuting->reached);
    for (size_t test = 0; test < permuting->count; test++)
        statistics_centre(values + test * runs, runs, permuting->values + test * runs);
    permuting->floor = floor_of(permuting, least);
    for (size_t i = 0; i < runs; i++)
        permuting->is_after[i] = i >= permuting->before;
}

/* The tests by their observed statistics, the largest first. */
static void order_tests(struct permuting *permuting)
{
    struct placed *sorted = memory_new(permuting->count * sizeof *sorted);
    for (size_t test = 0; test < permuting->count; test++) {
        permuting->observed[test] = statistic(permuting, test);
        sorted[test] = (struct placed){-permuting->observed[test], test};
    }
    qsort(sorted, permuting->count, sizeof *sorted, by_value);
    for (size_t i = 0; i < permuting->count; i++)
        permuting->order[i] = sorted[i].test;
    free(sorted);
}

void permutation_test(const double *values, size_t count, size_t before, size_t after, double least, double *adjusted)
{
    struct permuting permuting = {.count = count, .before = before, .after = after};
    double worst = 0; /* a smaller difference cannot be less likely than a larger one */
    if (count == 0)
        return;
    permuting_begin(&permuting, values, least);
    order_tests(&permuting);
    double tried = (double)try_divisions(&permuting);
    for (size_t i = 0; i < count; i++) {
        size_t test = permuting.order[i];
        worst = fmax(worst, (double)permuting.reached[test] / tried);
        adjusted[test] = permuting.observed[test] > 0 ? worst : 1;
    }
    free(permuting.values);
    free(permuting.is_after);
    free(permuting.observed);
    free(permuting.order);
    free(permuting.reached);
}
