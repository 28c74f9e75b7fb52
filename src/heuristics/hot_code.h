/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_HOT_CODE_H
#define SIGHT_HEURISTICS_HOT_CODE_H

#include "metrics/metrics.h"

/* Where the run computes, by samples (profile/profile.h): of runs that compute for most of their time, the function
   with the largest share of the computing, and the calls by which more than half of that is reached. What libraries
   compute counts for the function of the program that calls them, where that is known. Libraries in which threads or
   processes wait for each other do not count. */

enum { HOT_CALLERS = 3 };

struct hot_place {
    const char *function, *file; /* borrowed from the definitions; file "": not known */
    int32_t line;                /* the costliest; of a caller the one that it calls from. 0: not known, or several */
};

struct hot_code {
    bool known;   /* else nothing else counts */
    double share; /* of the computing, in the function itself */
    int64_t self_ns;
    const char *called; /* a library's function, called there, with more than half of that; NULL: none */
    struct hot_place place, caller[HOT_CALLERS]; /* the innermost caller first */
    size_t caller_count;
};

struct hot_code hot_code_of(const struct metrics *metrics);

/* "87 % of the computing is in _int_malloc (malloc.c:4378), mostly called from ma_malloc (util.c:58)." Empty where it
   is not known. */
enum { HOT_CODE_SIZE = 1200 };
char *hot_code_sentence(char buffer[HOT_CODE_SIZE], const struct metrics *metrics);

#endif
