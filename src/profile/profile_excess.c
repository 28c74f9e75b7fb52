/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/profile_excess.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdlib.h>

/* See profile_excess.h. With a thousandth, one of a thousand even runs has a row named by chance. Of normal noise one
   value in 740 lies more than three deviations above the mean. */
static const double CHANCE_MOST = 0.001, DEVIATIONS = 3;

double profile_binomial_tail(uint64_t trials, uint64_t successes, double probability)
{
    enum { TERMS_MOST = 100000 };
    double n = (double)trials, x = (double)successes, sum = 0;
    if (successes == 0)
        return 1;
    if (successes > trials)
        return 0;
    /* The normal distribution, with the correction for continuity: half a step, as x stands for [x - 0.5, x + 0.5].
       With so many trials it is close enough, and the sum would take its time. */
    if (trials - successes > TERMS_MOST)
        return erfc((x - 0.5 - n * probability) / sqrt(2 * n * probability * (1 - probability))) / 2;
    /* The sum of C(n,k) p^k (1-p)^(n-k) for k from x to n. Each term is C(n,k+1)/C(n,k) = (n-k)/(k+1) times the odds
       p/(1-p) of the one before. Logarithms, as C(n,k) exceeds any double from 1030 trials on. */
    double log_odds = log(probability) - log1p(-probability);
    double term =
        lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + x * log(probability) + (n - x) * log1p(-probability);
    for (double k = x; k <= n; k++) {
        sum += exp(term);
        term += log((n - k) / (k + 1)) + log_odds;
    }
    /* Rounding may lead beyond 1. */
    return smaller(sum, 1);
}

static bool is_culprit(const struct profile_groups *groups, uint32_t rank)
{
    return is_among(rank, groups->culprits, groups->culprit_count);
}

/* Sums of a row over a group: [0] of the others, [1] of the culprits. Processes without samples in the row have no
   share, and add 0. */
struct sums {
    uint64_t samples;
    double ns, squares;
};

static void add_up(const struct profile_row *row, const struct profile_groups *groups, struct sums sums[2])
{
    sums[0] = sums[1] = (struct sums){0};
    for (size_t i = 0; i < row->process_count; i++) {
        const struct profile_share *share = &row->processes[i];
        struct sums *sum = &sums[is_culprit(groups, share->rank)];
        double ns = (double)share->self_ns;
        sum->samples += share->samples;
        sum->ns += ns;
        sum->squares += ns * ns;
    }
}

/* Excess of a row in ns; 0: none that is worth a word. */
static double excess_of(const struct profile_row *row, const struct profile_groups *groups, size_t tests,
                        double *chance)
{
    double culprits = (double)groups->culprit_count, others = (double)(groups->count - groups->culprit_count);
    struct sums sums[2];
    add_up(row, groups, sums);
    double mean = sums[0].ns / others, excess = sums[1].ns / culprits - mean;
    double variance = 0;
    /* Of the sample, with n - 1. One process alone shows no variance: then the tail alone decides. */
    if (others > 1)
        variance = (sums[0].squares - others * mean * mean) / (others - 1);
    /* Rounding may make the variance of equal times negative. */
    if (excess <= 0 || excess <= DEVIATIONS * sqrt(larger(variance, 0)))
        return 0;
    *chance = profile_binomial_tail(sums[0].samples + sums[1].samples, sums[1].samples, culprits / (culprits + others));
    return *chance * (double)tests < CHANCE_MOST ? excess : 0;
}

static int by_excess(const void *left_excess, const void *right_excess)
{
    const struct profile_excess *left = left_excess, *right = right_excess;
    if (left->ns != right->ns)
        return order_by(right->ns, left->ns);
    return order_by(left->row, right->row);
}

/* The caller is where the time comes from: the culprits' paths may reach a function by another way than the others'
   paths do. */
static void find_caller(const struct profile *profile, const struct profile_rows *rows,
                        const struct profile_groups *groups, struct profile_excess *excess)
{
    int64_t most = 0, *above = memory_new((rows->count + 1) * sizeof *above);
    for (size_t i = 0; i < profile->cell_count; i++) {
        const struct profile_cell *cell = &profile->cells[i];
        if (rows->row_of[cell->path] != excess->row || !is_culprit(groups, cell->rank))
            continue;
        uint32_t path = profile_caller(profile, rows, cell->path + 1);
        if (path)
            time_add(&above[rows->row_of[path - 1]], cell->ns);
    }
    excess->caller = UINT32_MAX;
    for (uint32_t row = 0; row < rows->count; row++)
        if (above[row] > most) {
            most = above[row];
            excess->caller = row;
        }
    free(above);
}

size_t profile_excess_find(const struct profile *profile, const struct profile_rows *rows,
                           const struct profile_groups *groups, struct profile_excess *found, size_t most)
{
    size_t count = 0, tests = 0, capacity = 0;
    struct profile_excess *all = NULL;
    /* Nobody to compare with. */
    if (groups->culprit_count == 0 || groups->culprit_count >= groups->count)
        return 0;
    /* Rows stand hottest first: those in which no sample was taken are last, and are no tests. */
    while (tests < rows->count && rows->row[tests].samples > 0)
        tests++;
    for (uint32_t row = 0; row < tests; row++) {
        struct profile_excess excess = {.row = row};
        excess.ns = llrint(excess_of(&rows->row[row], groups, tests, &excess.chance));
        if (excess.ns > 0)
            ARRAY_PUSH(all, count, capacity, excess);
    }
    if (count > 0)
        qsort(all, count, sizeof *all, by_excess);
    count = smaller(count, most);
    for (size_t i = 0; i < count; i++) {
        found[i] = all[i];
        find_caller(profile, rows, groups, &found[i]);
    }
    free(all);
    return count;
}
