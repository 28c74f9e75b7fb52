/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_SOLO_H
#define SIGHT_SEARCH_SOLO_H

#include "replay/graph.h"

/* When at most one lane computes, that is, is outside all calls between its first and its last event. Time O(calls x
   log lanes); memory 24 bytes for each such time. */

/* A time in which only this lane computes; or, begin and end being equal, in which no lane did, before this one began
   to at `begin_ns`. */
struct solo_time {
    int64_t begin_ns, end_ns;
    int64_t none_ns;
};

struct solo_lane {
    struct solo_time *times; /* in order */
    size_t count, capacity;
};

struct solo {
    struct solo_lane *lanes; /* by lane; NULL where there are fewer than two */
    size_t count;
};

struct solo solo_of(const struct graph *graph);
void solo_clear(struct solo *solo);

#endif
