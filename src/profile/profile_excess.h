/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PROFILE_PROFILE_EXCESS_H
#define SIGHT_PROFILE_PROFILE_EXCESS_H

#include "profile/profile_rows.h"

/* Where some processes compute what the others do not: rows of a profile in which they have more samples than chance
   explains.

   If a row took the same time on every process, each of its n samples would fall on one of c processes out of c + o
   with probability c / (c + o), so that X samples or more on them are as likely as the tail of a binomial distribution.
   That must be less than 0.001 over the number of rows (Bonferroni). As processes are never quite even, the mean of the
   c must also be more than three standard deviations of the others above their mean, where there are at least two. */

struct profile_excess {
    uint32_t row;    /* of the rows */
    int64_t ns;      /* mean self time of these processes beyond the mean of the others; above 0 */
    double chance;   /* the tail */
    uint32_t caller; /* of the paths of these processes that end in the row, what most of the time stands above it: a
                        row; UINT32_MAX: nothing */
};

/* Processes of a run: `culprits` and all. Both ascending. */
struct profile_groups {
    const uint32_t *culprits;
    size_t culprit_count;
    const uint32_t *all;
    size_t count;
};

/* The rows with most excess, most first; at most `most` of them. How many. */
size_t profile_excess_find(const struct profile *profile, const struct profile_rows *rows,
                           const struct profile_groups *groups, struct profile_excess *found, size_t most);

/* P(B >= successes) for B of so many trials of this probability, which is neither 0 nor 1. */
double profile_binomial_tail(uint64_t trials, uint64_t successes, double probability);

#endif
