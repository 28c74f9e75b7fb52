/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_FUNCTIONS_H
#define SIGHT_RENDER_FUNCTIONS_H

#include "metrics/metrics.h"

/* MPI functions of a run by the time spent in them, for charts: the largest have a place of their own, the others share
   the last. Times are exclusive, in seconds: a call inside another counts once. A call
   that never returned lasts to the end of its process. */
enum { FUNCTIONS_MAX = 10 };

struct functions {
    size_t count;                      /* of functions with a place */
    int32_t state[FUNCTIONS_MAX];      /* the largest first */
    double seconds[FUNCTIONS_MAX + 1]; /* over all processes; the last place: all others together */
    size_t others;                     /* how many these are */
};
struct functions functions_of(const struct metrics *metrics);

/* The same places for one process: seconds of each, and of the others. */
void functions_of_process(const struct functions *functions, const struct metrics *metrics,
                          const struct process_row *row, double seconds[FUNCTIONS_MAX + 1]);

#endif
