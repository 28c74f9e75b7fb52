/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_TEAM_LOOPS_H
#define SIGHT_PHASES_TEAM_LOOPS_H

#include "phases/common_loops.h"
#include "phases/location_loops.h"

/* For common_loops.c: the loops of processes whose calls are the same. */

/* For where the first iteration of a process begins: see common_loops.c. */
struct start_facts {
    int64_t gap_ns, longest_ns;
};

/* Processes whose calls are the same, and their loops. */
struct team {
    uint64_t signature;
    uint32_t *members; /* processes */
    size_t count, capacity;
    struct loop_row *rows;
    size_t row_count;
    uint64_t *bodies; /* by row: hash of the functions of its body */
    int64_t **starts; /* by row, by member: where its iterations begin, and the end of the last; NULL: not kept */
    struct start_facts **facts; /* by row, by member */
    uint32_t role;              /* PHASE_NONE: none */
    uint32_t *common;           /* by row of the role: the team's own row, PHASE_NONE: it has none */
};

/* All teams of a run. */
struct finder {
    const struct graph *graph;
    struct common_loops *loops;
    struct location_signature *signatures; /* by process */
    struct team *teams;                    /* the largest first */
    size_t count, capacity;
    enum location_calls which;
    unsigned threads;
};

/* Finds the loops of each team, once, and times them on each of its members: fills the rows, their bodies, starts and
   facts. In up to finder->threads threads, with the same result. */
void teams_find_loops(struct finder *finder);

/* Adds the times of a row to another one, and its processes. */
void loop_row_add(struct loop_row *to, const struct loop_row *row);

#endif
