/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RUNS_LAW_H
#define SIGHT_RUNS_LAW_H

#include <stdbool.h>
#include <stddef.h>

/* How a time grows with the number of processes p: the performance model normal form with one term (Calotoiu et al.,
   "Using automated performance modeling to find scalability bugs in complex codes", SC 2013),

       t(p) = constant + factor * p^power * log2(p)^logs

   The noise of a run is assumed to be proportional to its time, so that squares of relative errors are minimised. Both
   coefficients are at least 0: no part of a run takes negative time. Among the powers and logarithms of a fixed set
   the law is chosen by cross-validation: each number of processes is predicted from the others, and the simplest law
   that predicts no worse than the best, within a standard error, wins. */

struct law_point {
    double p;       /* processes (or threads), at least 1 */
    double time_s;  /* mean of the repeated runs, above 0 */
    double repeats; /* number of runs in the mean, at least 1 */
};

struct law {
    double constant_s, factor_s; /* factor_s is 0 of a constant law */
    double power;
    int logs;
    double error;  /* relative error in cross-validation: root of the mean square */
    bool found;    /* false: too few points, or no law fits; the rest means nothing */
    size_t points; /* different p that it is based on */
    double spread; /* relative residual, root of the mean square, with the degrees of freedom left */
};

/* The number of different p that a law needs. */
enum { LAW_POINTS = 4 };

/* The law of points with different p. */
struct law law_of(const struct law_point *points, size_t count);

/* Time at p processes. */
double law_at(const struct law *law, double p);

/* A 90 % interval for the time of one run at p processes: from the noise of the points, and from all laws that
   predict them no worse than the best, within a standard error. */
struct law_interval {
    double time_s, low_s, high_s;
};
struct law_interval law_predict(const struct law_point *points, size_t count, const struct law *law, double p);

enum { LAW_TEXT_SIZE = 96 };
/* As text: "0.12 + 3.4·p^-1", "3.4·p·log p", "constant". Seconds are those of the coefficients. */
char *law_text(char text[LAW_TEXT_SIZE], const struct law *law);

#endif
