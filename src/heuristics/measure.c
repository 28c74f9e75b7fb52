/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/measure.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

struct series series_new(size_t count)
{
    return (struct series){
        .value = memory_new(count * sizeof(double)), .rank = memory_new(count * sizeof(uint32_t)), .count = count};
}

void series_clear(struct series *series)
{
    free(series->value);
    free(series->rank);
    *series = (struct series){0};
}

struct series series_without(const struct series *series, uint32_t rank)
{
    struct series rest = series_new(series->count);
    rest.count = 0;
    for (size_t i = 0; i < series->count; i++)
        if (series->rank[i] != rank) {
            rest.value[rest.count] = series->value[i];
            rest.rank[rest.count++] = series->rank[i];
        }
    return rest;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Of sorted values. */
static double median_of(const double *value, size_t count)
{
    return count % 2 ? value[count / 2] : (value[count / 2 - 1] + value[count / 2]) / 2;
}

static void robust(struct measure *measure, const struct series *series)
{
    size_t count = series->count;
    double *sorted = memory_new(count * sizeof *sorted);
    memcpy(sorted, series->value, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    measure->median = median_of(sorted, count);
    /* Gini without the double sum: of sorted values, x_i is the larger one in i pairs and the smaller in N - 1 - i. */
    double weighted = 0;
    for (size_t i = 0; i < count; i++)
        weighted += (2.0 * (double)i + 1 - (double)count) * sorted[i];
    if (measure->sum > 0)
        measure->gini = weighted / ((double)count * measure->sum);
    for (size_t i = 0; i < count; i++)
        sorted[i] = fabs(sorted[i] - measure->median);
    qsort(sorted, count, sizeof *sorted, by_value);
    measure->mad = median_of(sorted, count);
    free(sorted);
}

struct measure measure_of(const struct series *series)
{
    struct measure measure = {.count = series->count, .most_over_mean = 1};
    if (series->count == 0)
        return measure;
    measure.least = measure.most = series->value[0];
    measure.least_rank = measure.most_rank = series->rank[0];
    for (size_t i = 0; i < series->count; i++) {
        double value = series->value[i];
        measure.sum += value;
        if (value < measure.least) {
            measure.least = value;
            measure.least_rank = series->rank[i];
        }
        if (value > measure.most) {
            measure.most = value;
            measure.most_rank = series->rank[i];
        }
    }
    measure.mean = measure.sum / (double)series->count;
    /* Rounding must not make equal values differ from their mean. */
    measure.mean = fmin(fmax(measure.mean, measure.least), measure.most);
    /* In two passes: sum of squares - square of the sum cancels where values are nearly equal. */
    double squares = 0;
    for (size_t i = 0; i < series->count; i++)
        squares += (series->value[i] - measure.mean) * (series->value[i] - measure.mean);
    measure.deviation = sqrt(squares / (double)series->count);
    if (measure.mean > 0) {
        measure.variation = measure.deviation / measure.mean;
        measure.most_over_mean = measure.most / measure.mean;
    }
    measure.imbalance = larger(measure.most - measure.mean, 0);
    robust(&measure, series);
    return measure;
}

/* Decided by the values, not by their distances from a rounded mean. */
static bool varies(const double *x, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (x[i] < x[0] || x[i] > x[0])
            return true;
    return false;
}

double correlation(const double *x, const double *y, size_t count)
{
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < count; i++) {
        mean_x += x[i] / (double)count;
        mean_y += y[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    if (!varies(x, count) || !varies(y, count) || xx <= 0 || yy <= 0)
        return 0;
    return xy / sqrt(xx * yy);
}

struct placed {
    double value;
    size_t place;
};

static int by_placed(const void *a, const void *b)
{
    return by_value(&((const struct placed *)a)->value, &((const struct placed *)b)->value);
}

double trend_of(const struct series *series)
{
    size_t count = series->count;
    struct placed *order = memory_new(count * sizeof *order);
    double *x = memory_new(count * sizeof *x), *y = memory_new(count * sizeof *y);
    for (size_t i = 0; i < count; i++)
        order[i] = (struct placed){series->value[i], i};
    qsort(order, count, sizeof *order, by_placed);
    /* Equal values share the mean of their places, as Spearman's correlation demands. */
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && order[end].value <= order[first].value;)
            end++;
        for (size_t i = first; i < end; i++)
            y[order[i].place] = (double)(first + end - 1) / 2;
    }
    for (size_t i = 0; i < count; i++)
        x[i] = (double)i;
    double trend = correlation(x, y, count);
    free(order);
    free(x);
    free(y);
    return trend;
}
