/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RUNS_CHANGE_POINTS_H
#define SIGHT_RUNS_CHANGE_POINTS_H

#include <stddef.h>

/* Where the level of a series of numbers changes for good. The series is divided where the difference of the means of
   both sides is largest for their length (the standardised cumulative sum: Page, Biometrika 41, 1954), if no more than
   one random order of the same numbers in a hundred has so large a difference anywhere; then both sides are divided
   again (binary segmentation: Vostrikova, Soviet Mathematics Doklady 24, 1981). Outliers from the median of the part
   count as statistics_within says. */

struct change_point {
    size_t at;            /* first number of the new level */
    double before, after; /* means of the levels on both sides, up to the next change, without outliers */
    double p;             /* share of random orders with as large a difference */
};

/* Both sides of a change have at least so many numbers. */
enum { CHANGE_POINT_SIDE = 3 };

/* In order; free() them. `least` is the smallest relative difference of levels that is reported. */
struct change_point *change_points_of(const double *values, size_t count, double least, size_t *found);

#endif
