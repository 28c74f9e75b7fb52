/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_SHAPE_H
#define SIGHT_HEURISTICS_SHAPE_H

#include "heuristics/measure.h"

#include <stdbool.h>

/* Classifies the imbalance of a series of values. The first rule that holds decides:

   - even: coefficient of variation up to 10 %, and the largest at most 15 % above the mean.
   - pair: two processes only, one has more than the other.
   - two groups: the best split of the sorted values explains 90 % of the variance, the gap between the groups is half
   the distance of their means or more, and each has more than an eighth of the processes, two at least.
   - alternating: two groups, of which one holds the even and one the odd ranks (four processes or more).
   - few high, few low: up to an eighth of the processes (at least one) lie beyond the median by more than five times
   the scaled median distance (1.4826 MAD) and 20 % of the median; without them the coefficient of variation, or (high,
   and none low) the largest's excess over the mean, is at most half as large.
   - gradient: Spearman's rank correlation with the rank is at least 0.9 in magnitude (four processes or more).
   - scattered: none of these. */
enum shape {
    SHAPE_UNKNOWN, /* fewer than two processes, or nothing but zeros */
    SHAPE_EVEN,
    SHAPE_PAIR,
    SHAPE_FEW_HIGH,
    SHAPE_FEW_LOW,
    SHAPE_TWO_GROUPS,
    SHAPE_ALTERNATING,
    SHAPE_GRADIENT,
    SHAPE_SCATTERED
};

/* The first rule. */
bool measure_is_even(const struct measure *measure);

/* The word of JSON: "even", "few-high", ... */
const char *shape_name(enum shape shape);

struct pattern {
    enum shape shape;
    uint32_t *far; /* few: those few; groups: the group with more; ascending, owned */
    size_t far_count;
    uint32_t *rest; /* all others */
    size_t rest_count;
    double far_mean, rest_mean;
    double rest_least, rest_most;
    double trend; /* gradient: the correlation, its sign says whether values grow */
};
struct pattern pattern_of(const struct series *series, const struct measure *measure);

/* The same without the first rule, for values that are even but differ: then few are far if they are beyond the median
   by half of the largest's excess over the mean, instead of 20 % of the median. */
struct pattern pattern_of_differences(const struct series *series, const struct measure *measure);
void pattern_clear(struct pattern *pattern);

/* "0–7,12", "1,024–2,047, 4,096"; of more than five runs of ranks the first three: "0–7,12,14 and 57 more". Ranks are
   ascending. */
enum { RANKS_TEXT_SIZE = 160 };
char *ranks_text(char buffer[RANKS_TEXT_SIZE], const uint32_t *ranks, size_t count);

#endif
