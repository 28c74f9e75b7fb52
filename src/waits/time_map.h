/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_WAITS_TIME_MAP_H
#define SIGHT_WAITS_TIME_MAP_H

#include "waits/sync_points.h"

/* What a location does in an interval: time by label, excluding waits. Time in a call is labelled by its function,
   computing by the functions before and after it. Sums at intervals make long ones as cheap as short ones: their memory
   is a quarter of a number for each call at most, and only on locations that have long intervals. */

struct time_map {
    double *ns;       /* by label */
    uint32_t *labels; /* those with time */
    size_t count;
};

/* From a point to the enter of a call. */
struct interval {
    uint32_t location;
    uint32_t end;  /* the call */
    int64_t first; /* the call that opens it: counts with `opening_ns` only; -1: begin of the run */
    double opening_ns;
};

struct time_maps {
    const struct sync_points *points;
    uint32_t *functions;   /* by state: number of its function, from 1 */
    uint32_t *states;      /* by function: first state of its name */
    size_t function_count; /* including the 0 for the run's begin */
    size_t label_count;
    bool fine;                  /* false: too many functions to label computing by both */
    int64_t begin_ns;           /* of the run */
    struct location_sums *sums; /* by location, made when needed */
    struct time_map scratch;
};

struct time_maps time_maps_of(const struct sync_points *points);
void time_maps_clear(struct time_maps *maps);

struct time_map time_map_new(const struct time_maps *maps);
void time_map_free(struct time_map *map);

/* Computes the map of the interval. */
void time_map_fill(struct time_maps *maps, struct time_map *map, const struct interval *interval);

/* What a label means: time in calls of `state`, or computing before them and after calls of `before`. States are the
   first of their names. */
enum { TIME_IN_CALL = UINT32_MAX, TIME_FROM_BEGIN = UINT32_MAX - 1, TIME_FROM_ANY = UINT32_MAX - 2 };
struct time_label {
    uint32_t before; /* a state, or one of these */
    uint32_t state;
};
struct time_label time_label_of(const struct time_maps *maps, uint32_t label);

#endif
