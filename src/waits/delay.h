/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_WAITS_DELAY_H
#define SIGHT_WAITS_DELAY_H

#include "waits/time_map.h"

/* Root causes of waits (rules of diagnosis_rules 1; Böhme et al., ICPP 2010). A delay is the time that a process spends
   longer on something than the process that waits for it, since the two last synchronised; its cost is the waiting of
   all processes that it causes: directly in the wait that follows (short-term), and indirectly through waits of the
   delayer itself, which are then only partly to blame (long-term). All costs plus the unattributed rest add up to all
   waits.

   Beyond those rules: Finalize is a barrier; in all to one the latest sender delays the root; the root's wait ends when
   the first other arrives, as in wait.h. Before the first synchronisation an interval begins with the run, also on
   locations that begin later: their delay is before their first call. A collective that is left before the last member
   arrives does not synchronise, but its waits have causes. An interval that begins with a call that sends and then
   waits excludes that wait. Nothing is attributed if the order of events violates causality.

   Time: linear in the waits, times the logarithm of the number of locations; memory: that of the synchronisation
   points, and some 120 bytes for each wait that has known costs for others and is not visited yet. */

/* By kind of the final wait that the cost comes from, in ns. */
struct delay_sums {
    double short_ns[WAIT_CAUSED_COUNT], long_ns[WAIT_CAUSED_COUNT];
};

/* A cause of delay: time in calls of a function, or computing between two. */
struct delay_place {
    struct time_label label;
    double short_ns, long_ns;
};

/* All waits of a kind. */
struct delay_waits {
    double ns;
    double direct_ns, indirect_ns;      /* because the delayer did more; because it had itself waited */
    double propagating_ns, terminal_ns; /* the largest part of the others' waiting caused by this wait; the rest */
    double unattributed_ns;             /* costs for which no delay is found */
};

struct delays {
    struct delay_sums *locations; /* by location: costs that it causes, owned */
    struct delay_place *places;   /* those with a cost, owned */
    size_t place_count;
    struct delay_waits waits[WAIT_CAUSED_COUNT];
};

struct delays delays_of(const struct graph *graph);
void delays_clear(struct delays *delays);

/* All costs that a location causes, in ns. */
double delays_location_ns(const struct delays *delays, size_t location);

#endif
