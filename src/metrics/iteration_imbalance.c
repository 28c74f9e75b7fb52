/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/iteration_imbalance.h"

#include "core/memory.h"
#include "core/numbers.h"
#include <math.h>
#include <stdbool.h>

/* The bounds of the classes (see the header). GROWTH_FIT, PERSISTENT, WORK and CHANCE are not in the rules of 7.1:
   noise has a slope, too, a heaviest rank that changes, and one whose total is the largest; iterations without work
   have no share of it. */
static const double BALANCED = 0.05, TRANSIENT = 0.5, GROWING = 0.2, GROWING_STATIC = 0.5, STATIC = 0.7,
                    STATIC_RANKS = 0.5, DYNAMIC = 0.5, SAME_STEP = 0.7, SPREAD = 0.8, PERSISTENT = 0.3,
                    GROWTH_FIT = 0.5, WORK = 0.1, CHANCE = 1.5;
enum { LEAST_RANKS = 2, LEAST_ITERATIONS = 4 };

const char *iteration_class_name(enum iteration_class kind)
{
#define ITERATION_WORD(name, word) word,
    static const char *const names[] = {ITERATION_CLASSES(ITERATION_WORD)};
#undef ITERATION_WORD
    return names[kind];
}

/* The matrix and its margins. */
struct table {
    const double *x;
    size_t ranks, iterations;
    double *rank_means, *iteration_means;
    double *most;       /* by iteration */
    uint32_t *heaviest; /* by iteration: the lowest rank with the maximum */
    double mean;
};

static double at(const struct table *table, size_t rank, size_t iteration)
{
    return table->x[rank * table->iterations + iteration];
}

static struct table table_of(const double *x, size_t ranks, size_t iterations)
{
    struct table table = {.x = x, .ranks = ranks, .iterations = iterations};
    table.rank_means = memory_new(ranks * sizeof *table.rank_means);
    table.iteration_means = memory_new(iterations * sizeof *table.iteration_means);
    table.most = memory_new(iterations * sizeof *table.most);
    table.heaviest = memory_new(iterations * sizeof *table.heaviest);
    for (size_t i = 0; i < ranks; i++)
        for (size_t k = 0; k < iterations; k++) {
            double value = at(&table, i, k);
            table.rank_means[i] += value / (double)iterations;
            table.iteration_means[k] += value / (double)ranks;
            /* Strictly more: the lowest of equal ranks, so that even iterations do not look like rotation. */
            if (i == 0 || value > table.most[k]) {
                table.most[k] = value;
                table.heaviest[k] = (uint32_t)i;
            }
        }
    for (size_t i = 0; i < ranks; i++)
        table.mean += table.rank_means[i] / (double)ranks;
    return table;
}

static void table_clear(struct table *table)
{
    free(table->rank_means);
    free(table->iteration_means);
    free(table->most);
    free(table->heaviest);
}

/* L, S, D and the rank with the largest total. */
static void find_losses(struct iteration_imbalance *imbalance, const struct table *table)
{
    for (size_t k = 0; k < table->iterations; k++) {
        imbalance->losses[k] = table->most[k] - table->iteration_means[k];
        imbalance->loss += imbalance->losses[k];
        imbalance->longest += table->most[k];
    }
    for (size_t i = 1; i < table->ranks; i++)
        if (table->rank_means[i] > table->rank_means[imbalance->heaviest])
            imbalance->heaviest = (uint32_t)i;
    if (table->ranks > 0)
        imbalance->static_loss = (table->rank_means[imbalance->heaviest] - table->mean) * (double)table->iterations;
    /* S <= L holds exactly; in floating point the difference may be some 1e-16 below 0. */
    imbalance->static_loss = fmax(0, fmin(imbalance->static_loss, imbalance->loss));
    imbalance->dynamic_loss = imbalance->loss - imbalance->static_loss;
}

/* Shares of the variance in x = mean + rank + iteration + rest, and the persistence of the rest. */
static void find_shares(struct iteration_imbalance *imbalance, const struct table *table)
{
    double ranks = 0, iterations = 0, rest = 0, next = 0;
    for (size_t i = 0; i < table->ranks; i++) {
        double rank = table->rank_means[i] - table->mean, before = 0;
        ranks += rank * rank * (double)table->iterations;
        for (size_t k = 0; k < table->iterations; k++) {
            /* e = x - rank effect - iteration mean, as the mean is part of both effects. */
            double e = at(table, i, k) - rank - table->iteration_means[k];
            rest += e * e;
            /* Lag 1 within a rank: what is left over persists if a rank's own pattern goes on from one iteration to
               the next. */
            next += e * before;
            before = e;
        }
    }
    for (size_t k = 0; k < table->iterations; k++) {
        double iteration = table->iteration_means[k] - table->mean;
        iterations += iteration * iteration * (double)table->ranks;
    }
    /* Rounding errors are not variance. */
    double all = ranks + iterations + rest;
    double cells = (double)(table->ranks * table->iterations);
    if (all <= table->mean * table->mean * cells * 1e-24)
        return;
    imbalance->rank_share = ranks / all;
    imbalance->iteration_share = iterations / all;
    imbalance->mixed_share = rest / all;
    if (rest > all * 1e-12)
        imbalance->persistence = next / rest;
}

struct ranked {
    double loss;
    uint32_t iteration;
};

static int by_loss(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    int order = order_by(right->loss, left->loss);
    return order ? order : order_by(left->iteration, right->iteration);
}

/* The worst iterations, and their share of the loss in excess of their number. */
static void find_concentration(struct iteration_imbalance *imbalance, size_t iterations)
{
    struct ranked *ranked = memory_new(iterations * sizeof *ranked);
    size_t worst = (size_t)llround((double)iterations / 10);
    double held = 0;
    if (worst == 0)
        worst = 1;
    for (size_t k = 0; k < iterations; k++)
        ranked[k] = (struct ranked){imbalance->losses[k], (uint32_t)k};
    qsort(ranked, iterations, sizeof *ranked, by_loss);
    imbalance->worst = memory_new(worst * sizeof *imbalance->worst);
    imbalance->worst_count = worst;
    for (size_t k = 0; k < worst; k++) {
        imbalance->worst[k] = ranked[k].iteration;
        held += ranked[k].loss;
    }
    double share = (double)worst / (double)iterations;
    /* q* = (q - w/K) / (1 - w/K): 0 if the loss is spread evenly, 1 if the worst tenth has all of it. */
    if (imbalance->loss > 0 && share < 1)
        imbalance->concentration = (held / imbalance->loss - share) / (1 - share);
    free(ranked);
}

/* (M-m)/m of an iteration. */
static double loss_share(const struct iteration_imbalance *imbalance, const struct table *table, size_t k)
{
    if (table->iteration_means[k] <= 0)
        return 0;
    return imbalance->losses[k] / table->iteration_means[k];
}

/* Iterations without work, such as the last one if the cut is after the work, say nothing about growth. */
static bool has_work(const struct table *table, size_t k)
{
    return table->iteration_means[k] >= WORK * table->mean;
}

/* Values by iteration, and a line through them by least squares. */
struct line {
    double mean, growth; /* the slope times the number of iterations: the growth over the whole run */
    double fit;          /* how well the line fits, as a correlation */
};

/* Through iterations [from, to). */
static struct line line_of(const struct table *table, const double *values, size_t from, size_t to)
{
    double middle = 0, products = 0, squares = 0, spread = 0, count = 0;
    struct line line = {0};
    for (size_t k = from; k < to; k++) {
        if (!has_work(table, k))
            continue;
        count++;
        middle += (double)k;
        line.mean += values[k];
    }
    line.mean = ratio_of(line.mean, count);
    for (size_t k = from; k < to; k++) {
        if (!has_work(table, k))
            continue;
        double distance = (double)k - middle / count, off = values[k] - line.mean;
        products += distance * off;
        squares += distance * distance;
        spread += off * off;
    }
    if (squares > 0)
        line.growth = products / squares * (double)(to - from);
    if (spread > 1e-12)
        line.fit = products / sqrt(squares * spread);
    return line;
}

static struct line line_of_shares(const struct iteration_imbalance *imbalance, const struct table *table, size_t from,
                                  size_t to)
{
    double *shares = memory_new(table->iterations * sizeof *shares);
    for (size_t k = 0; k < table->iterations; k++)
        shares[k] = loss_share(imbalance, table, k);
    struct line line = line_of(table, shares, from, to);
    free(shares);
    return line;
}

static void find_growth(struct iteration_imbalance *imbalance, const struct table *table)
{
    struct line shares = line_of_shares(imbalance, table, 0, table->iterations);
    imbalance->growth = shares.growth;
    imbalance->growth_fit = shares.fit;
}

/* True if what is lost in an iteration grows, or falls, beside the work as well as by itself: where all work grows, the
   share of a constant loss falls. */
static bool grows_in(const struct iteration_imbalance *imbalance, const struct table *table, size_t from, size_t to)
{
    struct line shares = line_of_shares(imbalance, table, from, to);
    struct line losses = line_of(table, imbalance->losses, from, to);
    return fabs(shares.growth) >= GROWING * fmax(shares.mean, 1) && fabs(shares.fit) >= GROWTH_FIT &&
           fabs(losses.growth) >= GROWING * losses.mean && fabs(losses.fit) >= GROWTH_FIT &&
           (shares.growth > 0) == (losses.growth > 0) && (shares.growth > 0) == (imbalance->growth > 0);
}

/* The first and the last iteration may be cut before or after some of their work, or be warm-up: one of them alone is
   no growth. */
static bool is_growing(const struct iteration_imbalance *imbalance, const struct table *table)
{
    size_t count = table->iterations;
    return grows_in(imbalance, table, 0, count) && grows_in(imbalance, table, 1, count) &&
           grows_in(imbalance, table, 0, count - 1);
}

/* H(a) / log2(min(P, K)): at most that many ranks can be the heaviest, so that 1 is the largest value for any run. */
static void find_entropy(struct iteration_imbalance *imbalance, const struct table *table)
{
    double entropy = 0, all = (double)table->iterations;
    size_t places = smaller(table->ranks, table->iterations);
    size_t *times = memory_new(table->ranks * sizeof *times);
    for (size_t k = 0; k < table->iterations; k++)
        times[table->heaviest[k]]++;
    for (size_t i = 0; i < table->ranks; i++)
        if (times[i] > 0)
            entropy -= (double)times[i] / all * log2((double)times[i] / all);
    free(times);
    if (places > 1)
        imbalance->entropy = entropy / log2((double)places);
}

/* True if the heaviest rank moves by the same step most of the time. */
static bool steps_alike(const struct table *table)
{
    size_t most = 0, *times = memory_new(table->ranks * sizeof *times);
    for (size_t k = 0; k + 1 < table->iterations; k++) {
        size_t step = (table->heaviest[k + 1] + table->ranks - table->heaviest[k]) % table->ranks;
        if (++times[step] > most)
            most = times[step];
    }
    free(times);
    return (double)most >= SAME_STEP * (double)(table->iterations - 1);
}

/* True if the ranks' totals differ no more than those of ranks that draw each iteration anew, which have 1/K of the
   variance that no iteration has. Of many ranks one then has far the largest total, too. */
static bool is_chance(const struct iteration_imbalance *imbalance, const struct table *table)
{
    return imbalance->rank_share * (double)table->iterations <=
           CHANCE * (imbalance->rank_share + imbalance->mixed_share);
}

/* The order matters: transient, growing and static can all have S = L, so that only the tests before distinguish
   them. */
static enum iteration_class class_of(const struct iteration_imbalance *imbalance, const struct table *table)
{
    /* Negated, so that NaN counts as balanced. */
    if (!(imbalance->loss > BALANCED * imbalance->longest))
        return ITERATION_BALANCED;
    double of_ranks = imbalance->static_loss / imbalance->loss;
    if (imbalance->concentration >= TRANSIENT)
        return ITERATION_TRANSIENT;
    if (of_ranks >= GROWING_STATIC && is_growing(imbalance, table))
        return imbalance->growth > 0 ? ITERATION_GROWING : ITERATION_FALLING;
    if (of_ranks >= STATIC && imbalance->rank_share >= STATIC_RANKS)
        return ITERATION_STATIC;
    if (1 - of_ranks < DYNAMIC && !is_chance(imbalance, table))
        return ITERATION_MIXED;
    bool even = table->rank_means[imbalance->heaviest] <= (1 + BALANCED) * table->mean;
    bool persists = fabs(imbalance->persistence) > PERSISTENT;
    /* Entropy alone would mistake noise for rotation: its heaviest rank also changes each time. */
    if (steps_alike(table) || (imbalance->entropy >= SPREAD && even && persists))
        return ITERATION_ROTATING;
    return persists ? ITERATION_MIXED : ITERATION_RANDOM;
}

struct iteration_imbalance iteration_imbalance_of(const double *x, size_t ranks, size_t iterations)
{
    struct iteration_imbalance imbalance = {.kind = ITERATION_TOO_FEW};
    imbalance.losses = memory_new(iterations * sizeof *imbalance.losses);
    if (ranks == 0 || iterations == 0)
        return imbalance;
    struct table table = table_of(x, ranks, iterations);
    find_losses(&imbalance, &table);
    find_shares(&imbalance, &table);
    find_concentration(&imbalance, iterations);
    find_growth(&imbalance, &table);
    find_entropy(&imbalance, &table);
    if (ranks >= LEAST_RANKS && iterations >= LEAST_ITERATIONS)
        imbalance.kind = class_of(&imbalance, &table);
    table_clear(&table);
    return imbalance;
}

void iteration_imbalance_clear(struct iteration_imbalance *imbalance)
{
    free(imbalance->losses);
    free(imbalance->worst);
    *imbalance = (struct iteration_imbalance){.kind = ITERATION_TOO_FEW};
}

double iteration_imbalance_recoverable(const struct iteration_imbalance *imbalance, double waits, size_t ranks)
{
    /* Iterations that overlap lose less than they differ: never more than what the processes wait on average. */
    if (ranks == 0)
        return 0;
    return fmin(imbalance->loss, waits / (double)ranks);
}
