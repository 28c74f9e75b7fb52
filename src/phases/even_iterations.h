/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_EVEN_ITERATIONS_H
#define SIGHT_PHASES_EVEN_ITERATIONS_H

#include "phases/phases.h"

/* Limit on cells of processes and iterations, to bound memory: more are not replayed. */
enum { EVEN_ITERATIONS_CELLS = 1 << 22 };

/* The iterations of the main loop. */
struct even_iterations {
    const struct graph *graph;
    const struct phases *phases;
    const int64_t *starts;   /* [process * (count + 1) + iteration]; INT64_MIN: the process does not have the loop */
    const double *computing; /* in s, [row * (count - skipped) + iteration - skipped] */
    const uint32_t *rows;    /* by row, ascending: its process */
    size_t row_count;
    uint32_t count, skipped; /* iterations; the first of them that stay as they are */
};

/* How much shorter the run would be if in each iteration all processes computed as long as their mean: by a replay
   (replay.h), which accounts for existing overlap. Cells with hardly any computing (BALANCE_IDLE of the mean), where
   nothing can be stretched, are left unchanged. */
int64_t even_iterations_saving(const struct even_iterations *iterations);

#endif
