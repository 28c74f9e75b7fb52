/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_LOCATION_LOOPS_H
#define SIGHT_PHASES_LOCATION_LOOPS_H

#include "phases/loops.h"

/* The steps of loops_of, for loops that many locations have in common: they are found in one location and timed in
   each. */

/* Which calls of a location are searched for loops, and whether their partners distinguish them. */
enum location_calls {
    LOCATION_PARTNERS, /* those that loops_of takes, by function, communicator and relative partner */
    LOCATION_CALLS,    /* the same calls, regardless of the partner */
    LOCATION_WORLD     /* collectives of the whole run only: they come in the same order on all locations */
};

/* The data of a reading about each call. */
enum location_detail { LOCATION_TIMES, LOCATION_SYMBOLS };

/* Those calls as a sequence: a place in it is an index of all these arrays. */
struct location_reading {
    uint32_t *calls;   /* indices in the location */
    uint32_t *symbols; /* of LOCATION_SYMBOLS, else NULL; `ends`, too */
    bool *ends;
    int64_t *enter_ns, *leave_ns;
    size_t count, capacity;
};
/* Into a reading of all zeros, or of another location before, whose memory is used again. */
void location_read(const struct graph *graph, uint32_t location, enum location_calls which, enum location_detail detail,
                   struct location_reading *reading);
void location_reading_clear(struct location_reading *reading);

/* Hashes of the location's calls as LOCATION_CALLS and LOCATION_WORLD read them. Locations with the same hash have the
   same loops, at the same places. `calls` is below 2^63. */
struct location_signature {
    uint64_t calls, world;
    size_t world_count;
};
struct location_signature location_signature_of(const struct graph *graph, uint32_t location);

/* The loops of the calls, of LOCATION_PARTNERS as loops_of finds them, without times: calls are places in the reading.
 */
struct loop_tree location_loops_find(const struct graph *graph, uint32_t location, enum location_calls which);

/* The time in calls, and waiting in them, before each call of a location: an interval's time is a difference. */
struct location_passed {
    int64_t *calls_ns, *waits_ns;
    size_t capacity;
};
void location_passed_clear(struct location_passed *passed);

/* Converts places in the reading to calls of the location, and sums up times. `passed` is filled: all zeros, or of
   another location before, whose memory is used again. */
void location_loops_time(struct loop_tree *tree, const struct graph *graph, uint32_t location,
                         const struct location_reading *reading, struct location_passed *passed);

/* Counts the first iterations of each loop that belong to warming up. */
void loop_tree_warm_up(struct loop_tree *tree);

/* The middle value, or the mean of the two in the middle. Sorts the values, of which there is at least one. */
double loop_median(double *values, size_t count);

/* Copies a tree into one of all zeros, or one whose memory is used again. */
void loop_tree_copy(struct loop_tree *to, const struct loop_tree *from);

#endif
