/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_MEASURE_H
#define SIGHT_HEURISTICS_MEASURE_H

#include <stddef.h>
#include <stdint.h>

/* Measures of how evenly something is spread over processes. All deviations are of the population: the processes are
   all there are. */

/* One value for each process, by rank. */
struct series {
    double *value;
    uint32_t *rank; /* ascending */
    size_t count;
};

struct series series_new(size_t count);
void series_clear(struct series *series);

/* The series without one process (a copy). */
struct series series_without(const struct series *series, uint32_t rank);

struct measure {
    size_t count;
    double sum, mean;
    double deviation; /* sqrt( sum (x - mean)^2 / N ) */
    double variation; /* coefficient of variation: deviation / mean; 0 where the mean is 0 */
    double least, most;
    uint32_t least_rank, most_rank; /* the first of equals */
    double most_over_mean;          /* max / mean, the inverse of POP's load balance; 1 where the mean is 0 */
    double imbalance;               /* max - mean: how much longer the slowest takes than an even share */
    double gini;                    /* sum over i, j of |x_i - x_j| / (2 N^2 mean): 0 even .. 1 - 1/N one has all */
    double median, mad;             /* median, and median distance from it: unmoved by single processes */
};
struct measure measure_of(const struct series *series);

/* Pearson's correlation of two rows of values; 0 where one does not vary. */
double correlation(const double *x, const double *y, size_t count);

/* Spearman's rank correlation of the values with their place, ties averaged. */
double trend_of(const struct series *series);

#endif
