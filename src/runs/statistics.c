/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/statistics.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FRACTION_STEPS = 500, BISECTIONS = 200 };
/* Deviations from the median beyond which a value is an outlier (Iglewicz and Hoaglin, 1993), and a normal
   distribution's deviation by its median one: 1 / 0.674490. */
static const double OUTLIER = 3.5, NORMAL_DEVIATION = 1.482602;

/* Lentz's method divides by these: one that happens to be 0 is replaced by one that cancels in the next step. */
static double not_zero(double value)
{
    const double tiny = 1e-300;
    return fabs(value) < tiny ? tiny : value;
}

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8), by Lentz's method: two terms
   a step, until a step no longer changes it. */
static double beta_fraction(double a, double b, double x)
{
    const double close = 1e-15;
    double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1));
    double fraction = d;
    for (int step = 1; step <= FRACTION_STEPS; step++) {
        double m = step;
        const double terms[2] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                 -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        for (int odd = 0; odd < 2; odd++) {
            d = 1 / not_zero(1 + terms[odd] * d);
            c = not_zero(1 + terms[odd] / c);
            fraction *= d * c;
        }
        if (fabs(d * c - 1) < close)
            break;
    }
    return fraction;
}

/* Regularised incomplete beta function. */
static double beta_share(double a, double b, double x)
{
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    /* The fraction converges fast below (a + 1) / (a + b + 2); above, I_x(a, b) = 1 - I_1-x(b, a). */
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double statistics_f_tail(double f, double between, double within)
{
    if (isnan(f) || !(between > 0) || !(within > 0) || f <= 0)
        return 1;
    if (isinf(f))
        return 0;
    return beta_share(within / 2, between / 2, within / (within + between * f));
}

/* Of both sides: t^2 is distributed as F with 1 and `freedom`. */
double statistics_t_tail(double t, double freedom)
{
    return statistics_f_tail(t * t, 1, freedom);
}

double statistics_t_limit(double probability, double freedom)
{
    double low = 0, high = 1;
    if (!(freedom > 0) || !(probability > 0))
        return INFINITY;
    /* The inverse of the tail, which falls steadily, by bisection. */
    while (statistics_t_tail(high, freedom) > probability && high < 1e9)
        high *= 2;
    for (int i = 0; i < BISECTIONS && high - low > 1e-12 * high; i++) {
        double middle = (low + high) / 2;
        if (statistics_t_tail(middle, freedom) > probability)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

struct anova anova_of(const struct anova_group *groups, size_t count)
{
    double values = 0, sum = 0, between = 0, within = 0;
    for (size_t i = 0; i < count; i++) {
        values += (double)groups[i].count;
        sum += (double)groups[i].count * groups[i].mean;
    }
    for (size_t i = 0; i < count; i++) {
        double off = groups[i].mean - sum / values;
        between += (double)groups[i].count * off * off;
        within += (double)(groups[i].count - 1) * groups[i].deviation * groups[i].deviation;
    }
    struct anova anova = {.between = (double)count - 1, .within = values - (double)count};
    anova.f = between / anova.between / (within / anova.within);
    anova.p = statistics_f_tail(anova.f, anova.between, anova.within);
    return anova;
}

struct anova_group anova_group_of(const double *values, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    /* Of a sample: n - 1. One value has no deviation. */
    return (struct anova_group){mean, sqrt(ratio_of(squares, (double)count - 1)), count};
}

double statistics_within(double value, double middle, double scale)
{
    /* Moved to the bound, not left out (winsorised): the number of runs stays what it was. Without any spread but a few
       different values, nothing is an outlier. */
    double reach = OUTLIER * scale;
    if (reach <= 0)
        return value;
    return fmin(fmax(value, middle - reach), middle + reach);
}

double statistics_median(const double *sorted, size_t count)
{
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

double statistics_absolute_deviation(double *residuals, size_t count)
{
    for (size_t i = 0; i < count; i++)
        residuals[i] = fabs(residuals[i]);
    statistics_sort(residuals, count);
    return NORMAL_DEVIATION * statistics_median(residuals, count);
}

/* Residuals from the sample's median; returns that. */
static double residuals_of(const double *values, size_t count, double *residuals)
{
    memcpy(residuals, values, count * sizeof *values);
    statistics_sort(residuals, count);
    double median = statistics_median(residuals, count);
    for (size_t i = 0; i < count; i++)
        residuals[i] = values[i] - median;
    return median;
}

/* Mean and deviation of a sample without outliers. */
static struct anova_group group_within(const double *values, size_t count, double median, double scale)
{
    double *inside = memory_new(count * sizeof *inside);
    for (size_t i = 0; i < count; i++)
        inside[i] = statistics_within(values[i], median, scale);
    struct anova_group group = anova_group_of(inside, count);
    free(inside);
    return group;
}

/* Welch and Satterthwaite. */
static double freedom_of(struct anova_group first, struct anova_group second)
{
    double a = first.deviation * first.deviation / (double)first.count;
    double b = second.deviation * second.deviation / (double)second.count;
    double below = a * a / (double)(first.count - 1) + b * b / (double)(second.count - 1);
    return ratio_of((a + b) * (a + b), below);
}

static double square_sum(struct anova_group group)
{
    return (double)(group.count - 1) * group.deviation * group.deviation;
}

struct welch welch_of(const double *before, size_t before_count, const double *after, size_t after_count)
{
    double *residuals = memory_new((before_count + after_count) * sizeof *residuals);
    double first_median = residuals_of(before, before_count, residuals);
    double second_median = residuals_of(after, after_count, residuals + before_count);
    double scale = statistics_absolute_deviation(residuals, before_count + after_count);
    struct anova_group first = group_within(before, before_count, first_median, scale);
    struct anova_group second = group_within(after, after_count, second_median, scale);
    struct welch welch = {first.mean, second.mean, .difference = second.mean - first.mean};
    bool is_known = before_count > 1 && after_count > 1;
    free(residuals);
    if (before_count + after_count > 2)
        welch.spread = sqrt((square_sum(first) + square_sum(second)) / (double)(before_count + after_count - 2));
    welch.error = sqrt(first.deviation * first.deviation / (double)before_count +
                       second.deviation * second.deviation / (double)after_count);
    if (is_known)
        welch.freedom = freedom_of(first, second);
    double reach = INFINITY;
    if (is_known)
        reach = 0;
    if (is_known && welch.error > 0)
        reach = welch.error * statistics_t_limit(0.05, welch.freedom);
    welch.low = welch.difference - reach;
    welch.high = welch.difference + reach;
    return welch;
}

size_t statistics_runs_needed(double effect)
{
    /* Normal quantiles of 5 % on both sides and of 9 in 10; z^2/4 more runs for Student's t. */
    const double level = 1.959964, power = 1.281552;
    double runs = 2 * (level + power) * (level + power) / (effect * effect) + level * level / 4;
    if (!(runs < 1e6))
        return 0;
    size_t whole = (size_t)ceil(runs);
    return larger(STATISTICS_RUNS_LEAST, whole);
}

static int by_value(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

void statistics_sort(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof *values, by_value);
}

void statistics_centre(const double *values, size_t count, double *centred)
{
    double *sorted = memory_new(count * sizeof *sorted);
    memcpy(sorted, values, count * sizeof *sorted);
    statistics_sort(sorted, count);
    double median = statistics_median(sorted, count);
    for (size_t i = 0; i < count; i++)
        centred[i] = sorted[i] = values[i] - median;
    double scale = statistics_absolute_deviation(sorted, count);
    for (size_t i = 0; i < count; i++)
        centred[i] = statistics_within(centred[i], 0, scale);
    free(sorted);
}

uint64_t statistics_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}
