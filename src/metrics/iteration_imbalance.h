/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_ITERATION_IMBALANCE_H
#define SIGHT_METRICS_ITERATION_IMBALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Classifies the imbalance of computing over the iterations of a run (rules of diagnosis, 7.1): x(i,k) is how long rank
   i computes in iteration k, m(k) and M(k) are mean and maximum over the ranks. The first class whose rule holds:

   - too few: fewer than two ranks or four iterations.
   - balanced: loss / sum of M up to 0.05.
   - transient: concentration at least 0.5.
   - growing, falling: growth at least 0.2, or at most -0.2, growth_fit at least 0.5 (our own: chance is no growth), and
     static / loss at least 0.5. M - m, as a share of its mean, has to change as much in the same direction, and growth
     counts as a share of the mean of (M-m)/m where that is above 1 (our own: else a constant M - m beside work that
     grows would be falling). It has to be so without the first and without the last iteration, too, which may be cut
     in their work.
   - static: static / loss at least 0.7 and rank_share at least 0.5.
   - rotating: dynamic / loss at least 0.5, and the heaviest rank moves by the same step in 70 % of the iterations; or
     entropy is at least 0.8, the totals of the ranks are balanced (maximum at most 5 % above the mean), and the part
     that belongs to no rank and no iteration depends on the previous iteration (persistence beyond 0.3 either way).
   - random: dynamic / loss at least 0.5 without a pattern (persistence within 0.3); or (our own: the largest total of
     many ranks is large by chance, too) rank_share at most 1.5 / iterations of rank_share + mixed_share.
   - mixed: none of these. */
#define ITERATION_CLASSES(X)                                                                                           \
    X(TOO_FEW, "too-few")                                                                                              \
    X(BALANCED, "balanced")                                                                                            \
    X(TRANSIENT, "transient")                                                                                          \
    X(GROWING, "growing")                                                                                              \
    X(FALLING, "falling")                                                                                              \
    X(STATIC, "static")                                                                                                \
    X(ROTATING, "rotating")                                                                                            \
    X(RANDOM, "random")                                                                                                \
    X(MIXED, "mixed")

enum iteration_class {
#define ITERATION_MEMBER(name, word) ITERATION_##name,
    ITERATION_CLASSES(ITERATION_MEMBER)
#undef ITERATION_MEMBER
        ITERATION_CLASS_COUNT
};

/* "rotating" */
const char *iteration_class_name(enum iteration_class kind);

/* True if iterations lose time that could be saved by evening them out. */
static inline bool iteration_class_is_uneven(enum iteration_class kind)
{
    return kind != ITERATION_TOO_FEW && kind != ITERATION_BALANCED;
}

/* Numbers without meaning (nothing is lost) are 0. Times have the unit of x. */
struct iteration_imbalance {
    enum iteration_class kind;
    double loss;            /* L: sum over k of M(k) - m(k) */
    double static_loss;     /* S: largest total of a rank - mean of the totals */
    double dynamic_loss;    /* D = L - S >= 0 */
    double longest;         /* sum over k of M(k) */
    double rank_share;      /* R: the ranks' share of the variance */
    double iteration_share; /* the iterations' share: no imbalance */
    double mixed_share;     /* E: the rest */
    double concentration;   /* q*: 0: evenly spread, 1: all in the worst tenth of the iterations (one at least) */
    double growth;          /* b*K: change of (M-m)/m over the run, by least squares */
    double growth_fit;      /* correlation of that with the iteration: how far it is growth */
    double entropy;         /* of the heaviest rank, as a share of log2(min(P, K)) */
    double persistence;     /* correlation of the rest with itself in the next iteration */
    uint32_t heaviest;      /* rank with the largest total, the lowest if equal */
    double *losses;         /* by iteration: M(k) - m(k); owned */
    uint32_t *worst;        /* the worst tenth of the iterations, the worst first; owned */
    size_t worst_count;
};

/* The imbalance of x[i * iterations + k] >= 0. Time O(ranks * iterations), memory O(ranks + iterations). */
struct iteration_imbalance iteration_imbalance_of(const double *x, size_t ranks, size_t iterations);
void iteration_imbalance_clear(struct iteration_imbalance *imbalance);

/* Wall time that evening out may save: if iterations overlap, less is lost than L (7.1, last remark). `waits` is the
   waiting time of all ranks. */
double iteration_imbalance_recoverable(const struct iteration_imbalance *imbalance, double waits, size_t ranks);

#endif
