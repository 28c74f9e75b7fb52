/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_LANE_LOOPS_H
#define SIGHT_REPLAY_LANE_LOOPS_H

#include "replay/loops.h"

/* The steps of loops_of, for loops that many lanes have in common: they are found in one lane and timed in each. */

/* Which calls of a lane loops are looked for in, and whether their partners tell them apart. */
enum lane_calls {
    LANE_PARTNERS, /* those that loops_of takes, by function, communicator and relative partner */
    LANE_CALLS,    /* the same calls, whoever the partner is */
    LANE_WORLD     /* collectives of the whole run only: they come in the same order on all lanes */
};

/* What a reading tells of each call. */
enum lane_detail { LANE_TIMES, LANE_SYMBOLS };

/* Those calls as a sequence: a place in it is an index of all these arrays. */
struct lane_reading {
    uint32_t *calls;   /* indices in the lane */
    uint32_t *symbols; /* of LANE_SYMBOLS, else NULL; `ends`, too */
    bool *ends;
    int64_t *enter_ns, *leave_ns;
    size_t count;
};
struct lane_reading lane_read(const struct graph *graph, uint32_t lane, enum lane_calls which, enum lane_detail detail);
void lane_reading_clear(struct lane_reading *reading);

/* Hashes of the lane's calls as LANE_CALLS and LANE_WORLD read them. Lanes with the same hash have the same loops, at
   the same places. `calls` is below 2^63. */
struct lane_signature {
    uint64_t calls, world;
    size_t world_count;
};
struct lane_signature lane_signature_of(const struct graph *graph, uint32_t lane);

/* The loops of the calls, of LANE_PARTNERS as loops_of finds them, without times: calls are places in the reading. */
struct loop_tree lane_loops_find(const struct graph *graph, uint32_t lane, enum lane_calls which);

/* Makes calls of the lane of places in its reading, and sums up times. */
void lane_loops_time(struct loop_tree *tree, const struct graph *graph, uint32_t lane,
                     const struct lane_reading *reading);

/* Counts the first iterations of each loop that are of warming up. */
void loop_tree_warm_up(struct loop_tree *tree);

/* A copy without spare room. */
struct loop_tree loop_tree_copy(const struct loop_tree *tree);

#endif
