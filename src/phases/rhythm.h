/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_RHYTHM_H
#define SIGHT_PHASES_RHYTHM_H

#include <stddef.h>
#include <stdint.h>

/* The period of a run without examining its calls: autocorrelation of how many processes compute at a time (rules of
   diagnosis, 5.4, after Casas, Badia, Labarta 2010 and Llort et al. 2011). A check of iterations that were found
   otherwise. */

enum { RHYTHM_BINS = 4096, RHYTHM_LAGS = RHYTHM_BINS / 2, RHYTHM_ITERATIONS = 128 };

struct rhythm {
    int64_t begin_ns, end_ns; /* of the time examined */
    double bins[RHYTHM_BINS]; /* processes that compute, on average, times the width of a bin */
};

/* Adds an interval in which a process computes. */
void rhythm_add(struct rhythm *rhythm, int64_t begin_ns, int64_t end_ns);

/* The smallest lag whose autocorrelation is a local maximum, half of that of no lag or more, and 0.9 of the largest
   such. 0: there is none. */
int64_t rhythm_period_ns(const struct rhythm *rhythm);

#endif
