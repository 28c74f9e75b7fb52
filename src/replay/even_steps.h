/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_EVEN_STEPS_H
#define SIGHT_REPLAY_EVEN_STEPS_H

#include "graph/graph.h"

/* A step is what lies between two collectives in which all processes wait for the last (barriers, allreduce, …). Work
   that is even in total can be uneven in each step, and what one process does longer can lie in a few steps, or alone
   in steps of its own (a serial section): what mending that saves shows only where each step is evened out. */

/* Of more locations x steps several steps count as one. */
enum { EVEN_STEPS_CELLS = 1 << 22 };

struct even_steps {
    int64_t saving_ns; /* a run in which all compute as long as their mean in each step would be so much shorter, by a
                          replay (replay.h); 0: there are no steps, or they are even */
    int64_t alone_ns;  /* the most that one location computes in steps in which all others compute next to nothing */
    uint32_t alone_location; /* which */
};

/* `compute_ns`: computing by location. Locations that have no work (balance.h) are left alone. `free_waits` as of
   struct replay_options: what is saved without these waits as well. */
struct even_steps even_steps_of(const struct graph *graph, const int64_t *compute_ns, unsigned free_waits);

#endif
