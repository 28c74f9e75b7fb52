/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_EVEN_STEPS_H
#define SIGHT_REPLAY_EVEN_STEPS_H

#include "replay/replay.h"

/* A step is the part of the run between two collectives in which all processes wait for the last (barriers, allreduce,
   …). Work that is even in total can be uneven in each step, and the excess of one process can be in a few steps, or
   alone in steps of its own (a serial section): only evening out each step shows what fixing that saves. */

/* With more locations x steps, several steps count as one. */
enum { EVEN_STEPS_CELLS = 1 << 22 };

struct even_steps {
    int64_t alone_ns; /* the most that one location computes in steps in which all others compute next to nothing */
    uint32_t alone_location; /* which */
};

/* For a replay in which all compute as long as their mean in each step. `compute_ns`: computing by location. Locations
   without work (balance.h) are left alone. Adds it to the options, which refer to the result. NULL: there are no steps,
   or they are even. */
struct steps;
struct steps *even_steps_new(const struct graph *graph, const int64_t *compute_ns, struct even_steps *even,
                             struct replay_options *options);
void even_steps_free(struct steps *steps);

#endif
