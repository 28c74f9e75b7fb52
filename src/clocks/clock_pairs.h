/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLOCKS_CLOCK_PAIRS_H
#define SIGHT_CLOCKS_CLOCK_PAIRS_H

#include "clocks/causality.h"
#include "clocks/clock_map.h"
#include "clocks/corridor.h"

/* What the events of a run reveal about the clocks of each pair of processes: the bounds of messages and of calls that
   wait for each other (see corridor.h), and the leaves of collectives that all leave when the last has entered. In such
   a collective every process is tied to its lowest member, in other calls as causal_gate has it. Memory: 80 bytes for
   each pair of processes that meet, and their hulls. */

/* Both leave together except for some jitter: d(x) of corridor.h is `line` within `spread`. */
struct clock_exits {
    struct clock_line line;
    double spread; /* root mean square of the residuals */
    size_t count;
    double x, d, xx, xd, dd; /* sums while they are collected */
};

struct clock_pair {
    uint32_t a, b;  /* timelines, a < b */
    uint32_t exits; /* 1 + index; 0: there are none */
    struct corridor corridor;
};

struct clock_pairs {
    struct clock_pair *pair;
    size_t count, capacity;
    struct clock_exits *exits;
    size_t exit_count, exit_capacity;
    struct map index;
};

/* Zero-initialised is empty. */
void clock_pairs_fill(struct clock_pairs *pairs, const struct causality *causality, const struct clock_scale *scale);
void clock_pairs_clear(struct clock_pairs *pairs);

/* How far b's clock is ahead of a's: from the corridor or, if that is wide and the exits are more precise, from these.
 */
struct corridor_fit clock_pair_fit(struct clock_pairs *pairs, size_t pair);

/* The same with both clocks corrected by these lines. */
struct corridor_fit clock_pair_rest(const struct clock_pairs *pairs, size_t pair, struct clock_line a,
                                    struct clock_line b);

/* The largest violation of the bounds by the lines. */
double clock_pair_contradiction(const struct clock_pairs *pairs, size_t pair, struct clock_line a, struct clock_line b);

#endif
