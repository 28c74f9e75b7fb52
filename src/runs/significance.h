/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RUNS_SIGNIFICANCE_H
#define SIGHT_RUNS_SIGNIFICANCE_H

#include "heuristics/comparison.h"

#include <stdbool.h>

/* Whether two versions with several runs each differ, in what, and by how much: the run as a whole, its quantities, its
   functions, its processes, and each function on each process.

   Probabilities are those of permutation_test (permutation.h), on logarithms where all values are above 0, which makes
   them about relative changes. Computing is tested twice, as it is and divided by the median change of all computing of
   its run, which takes out noise that a whole run has in common. They are adjusted in two families, the duration of the
   run and all its parts, joined by Holm's correction: with SIGNIFICANCE_LEVEL, one comparison in twenty of identical
   versions reports anything. Changes, intervals and effects are those of welch_of (statistics.h); intervals are for one
   number at a time. */

#define SIGNIFICANCE_LEVEL 0.05

enum tested_kind { TESTED_RUN, TESTED_QUANTITY, TESTED_FUNCTION, TESTED_COMPUTING, TESTED_COMMUNICATION, TESTED_CELL };
const char *tested_kind_name(enum tested_kind kind); /* "run", "quantity", "function", "computing", ... */

struct tested {
    enum tested_kind kind;
    const char *name;   /* of the quantity, function or state; borrowed */
    size_t quantity;    /* of the run and of quantities: index */
    uint32_t rank;      /* of computing, communication and cells */
    double *values;     /* of the runs, the first version's first */
    bool computes;      /* it is computing: of a process, or in a state of the program */
    bool is_share;      /* what differs is its share of the run's computing: values are without what a whole run gains
                           or loses, a factor that is the same for all of them */
    bool is_relative;   /* the change is a share of the first version; else in the quantity's own unit */
    double mean;        /* of the first version, of relative changes the geometric one */
    double now;         /* of the second */
    double change;      /* 0.03: 3 % more */
    double low, high;   /* 95 % interval; infinite where a version has one run */
    double effect;      /* change in deviations of one run (Cohen's d); 0 without spread */
    double p;           /* adjusted */
    bool is_shown;      /* p is at most SIGNIFICANCE_LEVEL */
    size_t runs_needed; /* of each version, to show a change as large as this one; 0: more than a million, or none */
};

struct significance {
    size_t before, after;  /* runs */
    bool is_possible;      /* so many runs can show something at all */
    struct tested *tested; /* the run first, then those with the least p, then with the largest effect */
    size_t count, shown;
};

/* Names are borrowed from the versions' metrics. Free with significance_clear. */
struct significance significance_of(const struct version *before, const struct version *after);
void significance_clear(struct significance *significance);

/* "MPI_Recv on process 3", "computing of process 2", "duration". */
enum { TESTED_NAME_SIZE = 160 };
char *tested_name(char name[TESTED_NAME_SIZE], const struct tested *tested);

/* What the tests say of quantities and functions, in place of the rough rule, for a version of the comparison. */
void significance_apply(const struct significance *significance, struct comparison *comparison, size_t version);

/* How much of a number changed, better or worse. */
enum change tested_change(const struct tested *tested);

/* Fills in change, interval, effect and needed runs of values of one number. */
void tested_measure(struct tested *tested, size_t before, size_t after);

/* Whether so many runs can show a difference at all: the least probability that there is, of one of the `families` that
   Holm's correction joins, against SIGNIFICANCE_LEVEL. And the fewest runs of each version that can. */
bool significance_possible(size_t before, size_t after, size_t families);
size_t significance_runs_least(size_t families);

#endif
