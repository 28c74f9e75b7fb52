/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLOCKS_CLOCK_MAP_H
#define SIGHT_CLOCKS_CLOCK_MAP_H

#include "clocks/corridor.h"

#include <stdint.h>

/* How the times of a process are corrected, in three steps, each of which keeps the order of times (also in damaged
   traces, whose times may be too large for the precision of doubles):
   1. a line: offset and drift against the reference;
   2. jumps: a receive that would still be earlier than its send is moved to it, and the events that follow move with
   it, less and less;
   3. ramps: events before such a receive are moved towards it, more and more. Only the places where something changes
   are stored. */

/* From this event on, times are later by `shift_ns`, which shrinks by `back` times the elapsed time, down to 0. */
struct clock_jump {
    int64_t time_ns;  /* after step 1 */
    int64_t shift_ns; /* > 0 */
    uint32_t ordinal; /* number of events of the process before it: some may have the same time */
};

/* A corner of the ramps; between two of them the shift is on the straight line, outside of all it is 0. */
struct clock_corner {
    int64_t time_ns; /* after step 2 */
    int64_t shift_ns;
};

/* An event's time as recorded and as corrected. */
struct clock_step {
    int64_t time_ns, corrected_ns;
};

struct clock_map {
    struct clock_line line; /* how far the process's clock must be put forward; x counts from the origin */
    struct clock_jump *jumps;
    size_t jump_count, jump_capacity;
    struct clock_corner *corners;
    size_t corner_count, corner_capacity;
    /* The position of reading. */
    uint64_t seen; /* events so far */
    /* The latest event so far and the previous one: an event that is not earlier than these must not become earlier. */
    struct clock_step latest, previous;
    bool begun;    /* there are such */
    size_t jump;   /* jumps begun */
    size_t corner; /* corners passed */
};

/* What all maps of a trace share. */
struct clock_scale {
    int64_t origin_ns;
    double back; /* 1 - gamma: by how much of the elapsed time jumps shrink */
};

/* Sums and differences that end at the largest and smallest time there is. */
static inline int64_t time_plus(int64_t time_ns, int64_t ns)
{
    int64_t sum;
    return __builtin_add_overflow(time_ns, ns, &sum) ? (ns > 0 ? INT64_MAX : INT64_MIN) : sum;
}

static inline int64_t time_minus(int64_t time_ns, int64_t ns)
{
    int64_t rest;
    return __builtin_sub_overflow(time_ns, ns, &rest) ? (ns > 0 ? INT64_MIN : INT64_MAX) : rest;
}

/* The three steps. The map is not changed. */
int64_t clock_line_time(const struct clock_map *map, const struct clock_scale *scale, int64_t time_ns);
int64_t clock_jump_shift(const struct clock_jump *jump, const struct clock_scale *scale, int64_t time_ns);
size_t clock_jumps_begun(const struct clock_jump *jumps, size_t count, int64_t time_ns); /* not later than the time */
int64_t clock_corner_shift(const struct clock_corner *from, int64_t time_ns); /* between `from` and the next */

/* The corrected time of the next event of the process; `counts` as event_counts. Never earlier than that of a previous
   event that is not later. */
int64_t clock_map_next(struct clock_map *map, const struct clock_scale *scale, int64_t time_ns, int counts);

/* The reading begins anew. */
void clock_map_rewind(struct clock_map *map);
void clock_map_clear(struct clock_map *map);

#endif
