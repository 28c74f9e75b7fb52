/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RUNS_PERMUTATION_H
#define SIGHT_RUNS_PERMUTATION_H

#include <stddef.h>

/* How likely differences between two versions are if the versions do not differ: then it is chance which run belongs to
   which, and every other way to divide the runs is as good. For many numbers of the same runs at once, the largest
   difference of each division is what the observed ones are compared with, step by step from the largest (Westfall and
   Young, Resampling-Based Multiple Testing, 1993, algorithm 4.1; Ge, Dudoit and Speed, Test 12, 2003): the probability
   of even one false alarm among all numbers is held, whatever their distribution and however they depend on each other.

   A difference is that of means over its standard error, to which the spread of the calmest tenth of the numbers is
   added, so that none stands out because it happens to spread little (Tusher, Tibshirani and Chu, PNAS 98, 2001).
   Outliers from the median of all runs count as statistics_within says. Both treat all divisions alike. */

/* Numbers: `values` has `before + after` of them for each of `count` tests, those of the first version first.
   `adjusted` gets a probability for each test. All divisions are tried where there are at most PERMUTATIONS_MOST, else
   so many random ones, always the same. `least` is the smallest spread that is believed, in the unit of the values. */
enum { PERMUTATIONS_MOST = 12870 };
void permutation_test(const double *values, size_t count, size_t before, size_t after, double least, double *adjusted);

#endif
