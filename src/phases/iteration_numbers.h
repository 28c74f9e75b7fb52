/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_ITERATION_NUMBERS_H
#define SIGHT_PHASES_ITERATION_NUMBERS_H

#include "phases/even_iterations.h"
#include "phases/phase_numbers.h"
#include "phases/rhythm.h"
#include "replay/even_turns.h"

#include <math.h>

/* For phase_numbers.c: the iterations of the main loop. */

struct phase_counter {
    const struct graph *graph;
    struct phases *phases; /* owned */
    struct phase_metrics *metrics;
    int64_t begin_ns;  /* of the run */
    int64_t *starts;   /* a copy of where iterations begin; NULL: there are too many */
    double *computing; /* [process * (iterations + 1) + iteration]: computing of all; below 0: the process does not have
                          the loop. Replaces its starts once the process has been walked. */
    double *times, *begins; /* by iteration: means over the processes, in ns */
    uint32_t per_row;       /* iterations in a row */
    struct rhythm *rhythm;
    /* Replays that tell what even iterations would save; they refer to what follows. */
    struct replay_options replays[PHASE_REPLAYS];
    size_t replay_count;
    uint32_t *kept; /* by row of the compacted `computing`: its process */
    struct even_iterations even;
    struct evening *evening;
    int64_t *borders_ns; /* by location: where its iterations begin, then where they end */
    struct even_turns *turns;
};

/* Rounded as in a metrics file, so that reports from there are the same. */
static inline double phase_nano(double value)
{
    return round(value * 1e9) / 1e9;
}

/* Before the processes are walked: fills `starts`, `computing`, `times`, `begins` and `rhythm`. */
void iteration_numbers_begin(struct phase_counter *counter);

/* After that: everything but what the replays tell, and `replays`. */
void iteration_numbers_find(struct phase_counter *counter);

/* What they tell. Frees what belongs to iterations. True: the phases are as they were before; else the begins of
   iterations are lost. */
bool iteration_numbers_end(struct phase_counter *counter, const struct replay *replays);

#endif
