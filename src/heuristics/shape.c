/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/shape.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double EVEN_VARIATION = 0.10, EVEN_EXCESS = 0.15, GROUPS_EXPLAINED = 0.9, GROUPS_GAP = 0.5, FAR_MADS = 5,
                    FAR_SHARE = 0.2, GRADIENT_TREND = 0.9;

const char *shape_name(enum shape shape)
{
    static const char *const names[] = {"unknown",    "even",        "pair",     "few-high", "few-low",
                                        "two-groups", "alternating", "gradient", "scattered"};
    return names[shape];
}

struct ranked {
    double value;
    uint32_t rank;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    if (left->value != right->value)
        return order_by(left->value, right->value);
    return order_by(left->rank, right->rank);
}

static int by_rank(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Sets the far ones to sorted[first..end), the rest to all others. */
static void take_far(struct pattern *pattern, const struct ranked *sorted, size_t count, size_t first, size_t end)
{
    pattern->far = memory_new((end - first) * sizeof *pattern->far);
    pattern->rest = memory_new((count - (end - first)) * sizeof *pattern->rest);
    double far_sum = 0, rest_sum = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_far = i >= first && i < end;
        if (is_far) {
            pattern->far[pattern->far_count++] = sorted[i].rank;
            far_sum += sorted[i].value;
            continue;
        }
        if (pattern->rest_count == 0)
            pattern->rest_least = sorted[i].value;
        pattern->rest_most = sorted[i].value;
        pattern->rest[pattern->rest_count++] = sorted[i].rank;
        rest_sum += sorted[i].value;
    }
    pattern->far_mean = far_sum / (double)pattern->far_count;
    pattern->rest_mean = ratio_of(rest_sum, (double)pattern->rest_count);
    qsort(pattern->far, pattern->far_count, sizeof *pattern->far, by_rank);
    qsort(pattern->rest, pattern->rest_count, sizeof *pattern->rest, by_rank);
}

/* Where to split the sorted values so that most of the variance is between the parts: the first of the upper part. */
static size_t best_split(const struct ranked *sorted, size_t count, double mean, double *explained)
{
    /* The sum of squares between the parts against all of it (Jenks, Otsu): O(count) with a running sum. */
    double below = 0, best = -1, total = 0, sum = 0;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        total += (sorted[i].value - mean) * (sorted[i].value - mean);
        sum += sorted[i].value;
    }
    for (size_t i = 1; i < count; i++) {
        below += sorted[i - 1].value;
        double low = below / (double)i - mean, high = (sum - below) / (double)(count - i) - mean;
        double between = low * low * (double)i + high * high * (double)(count - i);
        if (between > best) {
            best = between;
            at = i;
        }
    }
    *explained = ratio_of(best, total);
    return at;
}

/* The far are all even and the rest all odd ranks, or the other way round. */
static bool is_parity(const struct pattern *pattern)
{
    for (size_t i = 0; i < pattern->far_count; i++)
        if (pattern->far[i] % 2 != pattern->far[0] % 2)
            return false;
    for (size_t i = 0; i < pattern->rest_count; i++)
        if (pattern->rest[i] % 2 == pattern->far[0] % 2)
            return false;
    return true;
}

static bool find_groups(struct pattern *pattern, const struct ranked *sorted, const struct measure *measure)
{
    double explained;
    size_t count = measure->count;
    if (count < 4)
        return false;
    size_t at = best_split(sorted, count, measure->mean, &explained);
    if (explained < GROUPS_EXPLAINED || at < 2 || count - at < 2)
        return false;
    double low = 0, high = 0;
    for (size_t i = 0; i < at; i++)
        low += sorted[i].value / (double)at;
    for (size_t i = at; i < count; i++)
        high += sorted[i].value / (double)(count - at);
    /* A gradient also splits well in the middle: only a gap makes groups. */
    if (sorted[at].value - sorted[at - 1].value < GROUPS_GAP * (high - low))
        return false;
    /* A group of very few is better described as few. */
    size_t few = larger(count / 8, 1);
    if (count - at <= few || at <= few)
        return false;
    take_far(pattern, sorted, count, at, count);
    pattern->shape = SHAPE_TWO_GROUPS;
    if (is_parity(pattern))
        pattern->shape = SHAPE_ALTERNATING;
    return true;
}

/* The coefficient of variation of sorted[first..end). */
static double variation_of(const struct ranked *sorted, size_t first, size_t end)
{
    double sum = 0, squares = 0;
    for (size_t i = first; i < end; i++)
        sum += sorted[i].value;
    double mean = sum / (double)(end - first);
    for (size_t i = first; i < end; i++)
        squares += (sorted[i].value - mean) * (sorted[i].value - mean);
    return ratio_of(sqrt(squares / (double)(end - first)), mean);
}

/* Without the few at the top, the slowest's excess over the mean is at most half as large: one process in thousands
   hardly changes the variation, but the run waits for it. */
static bool excess_halves(const struct ranked *sorted, size_t end, const struct measure *measure)
{
    double sum = 0;
    for (size_t i = 0; i < end; i++)
        sum += sorted[i].value;
    return sorted[end - 1].value - sum / (double)end <= measure->imbalance / 2;
}

static bool find_few(struct pattern *pattern, const struct ranked *sorted, const struct measure *measure)
{
    size_t count = measure->count, most = larger(count / 8, 1), high = 0, low = 0;
    if (count < 3)
        return false;
    /* 1.4826 MAD estimates the deviation of normal values, and outliers do not move it. Of nearly equal values it is
       about 0: then a fifth of the median is far; of values that are even, half of the largest's excess. */
    double far = measure_is_even(measure) ? measure->imbalance / 2 : FAR_SHARE * measure->median;
    double reach = fmax(FAR_MADS * 1.4826 * measure->mad, far);
    while (high < count && sorted[count - 1 - high].value > measure->median + reach)
        high++;
    while (low < count && sorted[low].value < measure->median - reach)
        low++;
    /* The few explain the imbalance only if the rest is clearly more even without them. */
    double half = measure->variation / 2;
    if (high > 0 && high <= most &&
        (variation_of(sorted, 0, count - high) <= half || (low == 0 && excess_halves(sorted, count - high, measure)))) {
        take_far(pattern, sorted, count, count - high, count);
        pattern->shape = SHAPE_FEW_HIGH;
    } else if (low > 0 && low <= most && variation_of(sorted, low, count) <= half) {
        take_far(pattern, sorted, count, 0, low);
        pattern->shape = SHAPE_FEW_LOW;
    }
    return pattern->shape != SHAPE_UNKNOWN;
}

bool measure_is_even(const struct measure *measure)
{
    return measure->variation <= EVEN_VARIATION && measure->imbalance <= EVEN_EXCESS * measure->mean;
}

struct pattern pattern_of_differences(const struct series *series, const struct measure *measure)
{
    struct pattern pattern = {0};
    size_t count = series->count;
    if (count < 2 || measure->mean <= 0)
        return pattern;
    struct ranked *sorted = memory_new(count * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct ranked){series->value[i], series->rank[i]};
    qsort(sorted, count, sizeof *sorted, by_value);
    if (count == 2) {
        take_far(&pattern, sorted, count, 1, 2);
        pattern.shape = SHAPE_PAIR;
        /* In this order: two groups also correlate with the rank, and few would split well into groups. */
    } else if (!find_groups(&pattern, sorted, measure) && !find_few(&pattern, sorted, measure)) {
        /* Three values in order are chance in one of three cases. */
        pattern.trend = trend_of(series);
        pattern.shape = SHAPE_SCATTERED;
        if (count >= 4 && fabs(pattern.trend) >= GRADIENT_TREND)
            pattern.shape = SHAPE_GRADIENT;
    }
    free(sorted);
    return pattern;
}

struct pattern pattern_of(const struct series *series, const struct measure *measure)
{
    if (series->count >= 2 && measure->mean > 0 && measure_is_even(measure))
        return (struct pattern){.shape = SHAPE_EVEN};
    return pattern_of_differences(series, measure);
}

void pattern_clear(struct pattern *pattern)
{
    free(pattern->far);
    free(pattern->rest);
    *pattern = (struct pattern){0};
}

/* Consecutive ranks as text: two are "3,4". */
static size_t rank_runs(const uint32_t *ranks, size_t count)
{
    size_t runs = 0;
    for (size_t i = 0; i < count; i++)
        runs += i == 0 || ranks[i] != ranks[i - 1] + 1;
    return runs;
}

char *ranks_text(char buffer[RANKS_TEXT_SIZE], const uint32_t *ranks, size_t count)
{
    enum { RUNS_MOST = 5, RUNS_SHOWN = 3, SEPARATED = 1000 };
    size_t runs = rank_runs(ranks, count), shown = runs > RUNS_MOST ? RUNS_SHOWN : runs, i = 0;
    /* From 1,000 on ranks have commas themselves: a blank shows where one ends. */
    const char *comma = count > 0 && ranks[count - 1] >= SEPARATED ? ", " : ",";
    buffer[0] = '\0';
    for (size_t run = 0; run < shown; run++) {
        size_t last = i;
        while (last + 1 < count && ranks[last + 1] == ranks[last] + 1)
            last++;
        text_append(buffer, RANKS_TEXT_SIZE, "%s%s", run ? comma : "", text_number(ranks[i]).text);
        if (last > i)
            text_append(buffer, RANKS_TEXT_SIZE, "%s%s", last == i + 1 ? comma : "–", text_number(ranks[last]).text);
        i = last + 1;
    }
    if (i < count)
        text_append(buffer, RANKS_TEXT_SIZE, " and %s more", text_number(count - i).text);
    return buffer;
}
