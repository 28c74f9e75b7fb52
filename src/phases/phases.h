/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_PHASES_H
#define SIGHT_PHASES_PHASES_H

#include "phases/common_loops.h"
#include "phases/user_spans.h"

/* The phases of a run, the same on all its processes though not at the same time, and the iterations of its loops.

   Phases are cut by the program's own marks (user_spans.h: outermost states, or solo events, that all processes have in
   the same order), else by the loops that the processes have in common (common_loops.h: each is a phase, as are the
   gaps before, between and after), else by collectives of the whole run. On each process they follow each other without
   gaps from its first event to its last; a gap shorter than PHASES_GAP of the run belongs to the phase before.

   Which phase, and which iteration, is time t of process p in?

       struct phases *phases = phases_of(graph, spans);          spans may be NULL
       uint32_t phase = phases_at(phases, p, t);                 p: the row of the process, as in metrics, or
                                                                 phases->loops.processes[location]
       uint32_t row = phases->main_loop;                         PHASE_NONE: no iterations were found
       uint32_t iteration = phases_iteration_at(phases, row, p, t);    PHASE_NONE: outside the loop

   phases->phase[phase].name is its name, phases->loops.rows[row] describes the loop (most: how many
   iterations); phases_begin and common_loops_start give the borders on each process, for marks in a picture. A phase
   that is a loop names its row in `loop`. Times are on the trace's own clock. Nothing here needs the graph any more. */

#define PHASES_GAP 0.01
enum { PHASES_MOST = 64 };

struct phase {
    char *name;               /* "solve", "loop 1", "before loop 1", "phase 3" */
    uint32_t loop;            /* row of loops; PHASE_NONE: not a loop */
    int64_t begin_ns, end_ns; /* mean over the processes */
};

struct phases {
    enum phase_source source;
    struct phase *phase; /* at least one if there are processes */
    size_t count;
    int64_t *begins; /* by process, count + 1 each: the last is the end of the process; see phases_begin */
    struct common_loops loops;
    uint32_t main_loop; /* the longest matched loop; PHASE_NONE: there is none */
};

/* Memory: 8 bytes for each iteration and phase of each process. */
struct phases *phases_of(const struct graph *graph, const struct user_spans *spans);

/* The same in up to so many threads. */
struct phases *phases_in_threads(const struct graph *graph, const struct user_spans *spans, unsigned threads);
void phases_free(struct phases *phases);

/* When a phase begins on a process; `phase` may be their number: the end of the last. */
static inline int64_t phases_begin(const struct phases *phases, uint32_t process, size_t phase)
{
    return phases->begins[process * (phases->count + 1) + phase];
}

/* The phase at a moment: the last that has begun; before all the first. Time O(log phases). */
uint32_t phases_at(const struct phases *phases, uint32_t process, int64_t time_ns);

/* The iteration at a moment, in a loop that is matched; PHASE_NONE: outside, or the process does not have the loop.
   Time O(log iterations). */
uint32_t phases_iteration_at(const struct phases *phases, uint32_t loop, uint32_t process, int64_t time_ns);

/* The last of `count` ascending times that is not later; 0 where all are. */
uint32_t phases_last_begun(const int64_t *begins_ns, uint32_t count, int64_t time_ns);

#endif
