/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_EVEN_ITERATIONS_H
#define SIGHT_PHASES_EVEN_ITERATIONS_H

#include "phases/phases.h"
#include "replay/replay.h"

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

/* The run if in each iteration all processes computed as long as their mean, for a replay (replay.h), which accounts
   for existing overlap: adds it to the options, which refer to the result and to `iterations`. Cells with hardly any
   computing (BALANCE_IDLE of the mean), where nothing can be stretched, are left unchanged. */
struct evening;
struct evening *evening_new(const struct even_iterations *iterations, struct replay_options *options);
void evening_free(struct evening *evening); /* NULL: nothing */

#endif
