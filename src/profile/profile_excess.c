/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/profile_excess.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdlib.h>

static const double CHANCE_MOST = 0.001, DEVIATIONS = 3;

double profile_binomial_tail(uint64_t trials, uint64_t successes, double probability)
{
    enum { TERMS_MOST = 100000 };
    double n = (double)trials, x = (double)successes, sum = 0;
    if (successes == 0)
        return 1;
    if (successes > trials)
        return 0;
    if (trials - successes > TERMS_MOST) /* normal, with the correction for continuity */
        return erfc((x - 0.5 - n * probability) / sqrt(2 * n * probability * (1 - probability))) / 2;
    double log_odds = log(probability) - log1p(-probability);
    double term =
        lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + x * log(probability) + (n - x) * log1p(-probability);
    for (double k = x; k <= n; k++) {
        sum += exp(term);
        term += log((n - k) / (k + 1)) + log_odds;
    }
    return smaller(sum, 1);
}

static bool is_among(const uint32_t *ranks, size_t count, uint32_t rank)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranks[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ranks[low] == rank;
}

/* Sums of a row over a group. */
struct sums {
    uint64_t samples;
    double ns, squares;
};

static void add_up(const struct profile_row *row, const struct profile_groups *groups, struct sums sums[2])
{
    sums[0] = sums[1] = (struct sums){0};
    for (size_t i = 0; i < row->process_count; i++) {
        const struct profile_share *share = &row->processes[i];
        struct sums *sum = &sums[is_among(groups->culprits, groups->culprit_count, share->rank)];
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
    double variance = others > 1 ? (sums[0].squares - others * mean * mean) / (others - 1) : 0;
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
    return left->row < right->row ? -1 : left->row > right->row;
}

static void find_caller(const struct profile *profile, const struct profile_rows *rows,
                        const struct profile_groups *groups, struct profile_excess *excess)
{
    int64_t most = 0, *above = memory_new((rows->count + 1) * sizeof *above);
    for (size_t i = 0; i < profile->cell_count; i++) {
        const struct profile_cell *cell = &profile->cells[i];
        if (rows->row_of[cell->path] != excess->row || !is_among(groups->culprits, groups->culprit_count, cell->rank))
            continue;
        uint32_t path = profile->defs->paths[cell->path].parent;
        while (path && rows->row_of[path - 1] == excess->row)
            path = profile->defs->paths[path - 1].parent;
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
    if (groups->culprit_count == 0 || groups->culprit_count >= groups->count)
        return 0;
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
