/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_SOLO_H
#define SIGHT_SEARCH_SOLO_H

#include "graph/graph.h"

/* When at most one location computes, that is, is outside all calls between its first and its last event. Time O(calls
   x log locations); memory 24 bytes for each such time. */

/* A time in which only this location computes; or, begin and end being equal, in which no location did, before this one
   began to at `begin_ns`. */
struct solo_time {
    int64_t begin_ns, end_ns;
    int64_t none_ns;
};

struct solo_location {
    struct solo_time *times; /* in order */
    size_t count, capacity;
};

struct solo {
    struct solo_location *locations; /* by location; NULL where there are fewer than two */
    size_t count;
};

/* Time before begin_ns does not count. */
struct solo solo_of(const struct graph *graph, int64_t begin_ns);
void solo_clear(struct solo *solo);

#endif
