/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_EVEN_STEPS_H
#define SIGHT_REPLAY_EVEN_STEPS_H

#include "replay/graph.h"

/* A step is what lies between two collectives in which all processes wait for the last (barriers, allreduce, …). Work
   that is even in total can be uneven in each step, and what one process does longer can lie in a few steps, or alone
   in steps of its own (a serial section): what mending that saves shows only where each step is evened out. */

/* Of more lanes x steps several steps count as one. */
enum { EVEN_STEPS_CELLS = 1 << 22 };

struct even_steps {
    int64_t saving_ns;   /* a run in which all compute as long as their mean in each step would be so much shorter, by a
                            replay (replay.h); 0: there are no steps, or they are even */
    int64_t alone_ns;    /* the most that one lane computes in steps in which all others compute next to nothing */
    uint32_t alone_lane; /* which */
};

/* `compute_ns`: computing by lane. Lanes that have no work (balance.h) are left alone. */
struct even_steps even_steps_of(const struct graph *graph, const int64_t *compute_ns);

#endif
