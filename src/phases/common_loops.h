/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_COMMON_LOOPS_H
#define SIGHT_PHASES_COMMON_LOOPS_H

#include "phases/location_loops.h"

/* Loops that the processes of a run have in common, with the iterations that are the same on all of them (rules of
   diagnosis, 5.3, "across ranks"). Processes whose calls are the same, partners aside, have the same loops: they are
   found once. Then:

   - If COMMON_PART of the processes run the same outermost loops equally often, their n-th iterations are the same. Up
   to one in a hundred may be missing, as in recordings that were cut.
   - Else, if the collectives of the whole run repeat, iterations are cut by those.
   - Else (master and workers) processes with the same usual iteration form a role; each role has loops of its own, and
     no iteration is common to all.

   A process with several threads is represented by the one with most calls. */

#define COMMON_PART 0.9
enum {
    COMMON_LEAST = 3,   /* iterations of a loop that matters */
    COMMON_ROLES = 8,   /* the largest ones are distinguished */
    COMMON_LOOPS = 1000 /* rows at most */
};
#define COMMON_SHARE 0.05 /* of the time: less does not matter */

struct common_loops {
    struct loop_row *rows; /* empty only without processes; owned */
    size_t count, capacity;
    int64_t **starts; /* by row of a loop that is matched, else NULL: see common_loops_start */
    size_t role_count;
    uint32_t *roles;     /* by process; PHASE_NONE: it has none of the loops */
    uint32_t *processes; /* by location: the row of its process, as in metrics */
    uint32_t *locations; /* by process: the location that represents it */
    size_t process_count;
    bool by_world; /* iterations are cut by collectives of the whole run only */
};

struct common_loops common_loops_of(const struct graph *graph, unsigned threads);
void common_loops_clear(struct common_loops *loops);

/* When an iteration begins on a process: at the end of the call before its first, so that it includes the computing
   before its calls; the first one at most as long before its first call as any later one. `iteration` may be
   rows[row].matched: the end of the last. INT64_MIN: the process does not have the loop. */
static inline int64_t common_loops_start(const struct common_loops *loops, uint32_t row, uint32_t process,
                                         uint32_t iteration)
{
    return loops->starts[row][(size_t)process * (loops->rows[row].matched + (size_t)1) + iteration];
}

#endif
