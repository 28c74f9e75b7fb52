/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RUNS_STATISTICS_H
#define SIGHT_RUNS_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* What few runs can show. */

/* Probability of more than f under the F distribution, and of more than |t|, on both sides, under Student's: by the
   continued fraction of the incomplete beta function (Press et al., Numerical Recipes, 6.4). 1 where an argument is no
   number or a degree of freedom is not above 0. */
double statistics_f_tail(double f, double between, double within);
double statistics_t_tail(double t, double freedom);

/* The t that is exceeded, on both sides together, with this probability (0.05: a 95 % interval). */
double statistics_t_limit(double probability, double freedom);

/* One-way analysis of variance (Fisher 1925): whether the means of some groups differ by more than their spread
   explains. */
struct anova_group {
    double mean, deviation; /* deviation of a sample: divided by count - 1 */
    size_t count;           /* at least 2 */
};
struct anova {
    double f, p;
    double between, within; /* degrees of freedom */
};
struct anova anova_of(const struct anova_group *groups, size_t count);
struct anova_group anova_group_of(const double *values, size_t count);

/* Outliers: values whose distance from `middle` is more than 3.5 normalised median absolute deviations count as that
   far (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993). `scale` is that deviation; 0: nothing is
   changed. */
double statistics_within(double value, double middle, double scale);

/* Median of sorted values; and the normalised median of the absolute values of numbers, which sorts them by that. */
double statistics_median(const double *sorted, size_t count);
double statistics_absolute_deviation(double *residuals, size_t count);

/* The difference of two samples (Welch, Biometrika 34, 1947), each without outliers from its own median. */
struct welch {
    double before, after; /* means */
    double difference;    /* after - before */
    double error;         /* standard error of the difference */
    double freedom;
    double spread;    /* deviation of one run, of both samples pooled */
    double low, high; /* 95 % interval of the difference; infinite where a sample has one value */
};
struct welch welch_of(const double *before, size_t before_count, const double *after, size_t after_count);

/* Runs of each version that show a difference of `effect` deviations at 5 % in nine cases of ten; at least
   STATISTICS_RUNS_LEAST. 0: more than a million. */
enum { STATISTICS_RUNS_LEAST = 5 };
size_t statistics_runs_needed(double effect);

/* Sorts numbers, smallest first. */
void statistics_sort(double *values, size_t count);

/* The values as differences from their median, those beyond statistics_within of it moved to that bound: so that
   squares of them lose no digits, and one bad run decides nothing. `centred` has room for as many. */
void statistics_centre(const double *values, size_t count, double *centred);

/* The next of a fixed series of random numbers (xorshift, Marsaglia 2003): the same runs give the same result. The
   state must not be 0. */
#define STATISTICS_RANDOM UINT64_C(88172645463325252)
uint64_t statistics_random(uint64_t *state);

#endif
