/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_WAIT_TABLE_H
#define SIGHT_GRAPH_WAIT_TABLE_H

#include "graph/graph.h"

/* Which calls wait, how long and for what: computed once when a graph is finished, since every analysis needs them. The
   process waited for is not stored: wait_of() finds it again. The waits of a location are numbered in the order of its
   calls. Memory: 2 bits for each call, 5 bytes for each wait, 8 more for one of more than 2 s. */

struct location_waits {
    uint64_t *marks;  /* by call, a bit: it waits */
    uint32_t *before; /* by 64 calls: waits before them */
    uint32_t *ns;     /* by wait; from WAIT_LONG on: index of a long one */
    uint8_t *kinds;   /* by wait: enum wait_kind */
    double *sums_ns;  /* by 64 waits: sum of all before them */
    size_t count;
};

/* Length of `marks` and `before` for so many calls: one more than needed if that is a multiple of 64, since
   waiting_call_before() may ask from the call after the last. */
static inline size_t wait_table_words(size_t calls)
{
    return calls / 64 + 1;
}
#define WAIT_LONG (UINT32_C(1) << 31)

/* Computes the waits of all calls, in up to so many threads; from then on wait_of() uses the table. */
void wait_table_make(struct graph *graph, unsigned threads);
void wait_table_free(struct graph *graph);

static inline uint32_t bits_count(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (uint32_t)(bits * UINT64_C(0x0101010101010101) >> 56);
}

static inline bool wait_table_marks(const struct graph *graph, uint32_t location, size_t call)
{
    return graph->waits[location].marks[call / 64] >> call % 64 & 1;
}

/* How many of the location's waits are in calls before this; all if there are fewer calls. */
static inline uint32_t waits_before(const struct graph *graph, uint32_t location, size_t call)
{
    const struct location_waits *waits = &graph->waits[location];
    if (call >= graph->locations[location].count)
        return (uint32_t)waits->count;
    return waits->before[call / 64] + bits_count(waits->marks[call / 64] & ((UINT64_C(1) << call % 64) - 1));
}

static inline int64_t wait_ns(const struct graph *graph, uint32_t location, size_t wait)
{
    uint32_t ns = graph->waits[location].ns[wait];
    return ns & WAIT_LONG ? graph->long_waits[ns & ~WAIT_LONG] : ns;
}

/* The wait in a call; 0 if it does not wait. */
static inline int64_t wait_ns_in(const struct graph *graph, uint32_t location, size_t call)
{
    return wait_table_marks(graph, location, call) ? wait_ns(graph, location, waits_before(graph, location, call)) : 0;
}

/* What the call waits for: an enum wait_kind, WAIT_NONE (0) if it does not wait. */
static inline int wait_kind_in(const struct graph *graph, uint32_t location, size_t call)
{
    return wait_table_marks(graph, location, call) ? graph->waits[location].kinds[waits_before(graph, location, call)]
                                                   : 0;
}

/* Sum of the location's waits from one on, before another: exact up to 2^53 ns. */
double waits_sum_ns(const struct graph *graph, uint32_t location, size_t from, size_t to);

/* The median of all waits, the upper of two in the middle; 0: there are none. Temporary memory: 8 bytes for each wait.
 */
int64_t waits_median_ns(const struct graph *graph);

/* The location's last call before this that waits; GRAPH_NONE: none. */
uint32_t waiting_call_before(const struct graph *graph, uint32_t location, size_t call);

#endif
