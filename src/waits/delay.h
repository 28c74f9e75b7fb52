/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_WAITS_DELAY_H
#define SIGHT_WAITS_DELAY_H

#include "waits/time_map.h"

/* Root causes of waits (rules of diagnosis_rules 1; Böhme et al., ICPP 2010). A delay is what a process does longer
   than the one that waits for it, since the two last synchronised; its cost is the waiting, of all processes, that it
   causes: at once in the wait that follows (short-term), and through waits of the delayer itself, which are then to
   blame only in part (long-term). All costs and what is not attributed together are all waits.

   Beyond those rules: Finalize is a barrier; in all to one the latest sender delays the root; the root is not taken to
   wait longer than until the first other comes, as in wait.h. Where nothing is common yet, an interval begins with the
   run, also on locations that begin later: their delay is before their first call. A collective that is left before the
   last has come ties nobody, but its waits have causes. A call that sends and then waits is the begin of an interval
   without that wait. What an order of events against all causality would attribute is not attributed.

   Time: that of waits, with a logarithm of the number of locations; memory: that of the points, and some 120 bytes for
   each wait that is known to cost others something and not reached yet. */

/* By kind of the wait that the cost comes from in the end, in ns. */
struct delay_sums {
    double short_ns[WAIT_CAUSED_COUNT], long_ns[WAIT_CAUSED_COUNT];
};

/* What delays: time in calls of a function, or computing between two. */
struct delay_place {
    struct time_label label;
    double short_ns, long_ns;
};

/* All waits of a kind. */
struct delay_waits {
    double ns;
    double direct_ns, indirect_ns;      /* because the delayer did more; because it had waited itself */
    double propagating_ns, terminal_ns; /* the largest part that others wait for because of this wait; the rest */
    double unattributed_ns;             /* costs that no delay is found for */
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
