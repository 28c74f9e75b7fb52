/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_WAITS_IMPACT_H
#define SIGHT_WAITS_IMPACT_H

#include "waits/critical_path.h"

/* What the time of all locations goes into, as the critical path sees it (rules of diagnosis, 2.2; Böhme and others,
   IPDPS 2012). With the path's length G and P locations, P * G is parted exactly (but for clock errors) into

   - activity: on each location what it does of what is on the path, up to as long as the path does it;
   - other: what it does beyond that, or that is not on the path: doing it faster does not shorten the run;
   - imbalance: its waiting, because something on the path takes longer than it does on this location. Each location's
   waiting is spread over such activities in proportion, and these are booked on who has them on the path. `inter` is
   what of it is due to activities that the location never does at all: a wrong split between different roles; the rest
   is uneven work among equals.

   Activities are calls of a function, computing before calls of it, and computing up to the end (critical_path.h). */

struct impact {
    size_t activities, locations;
    const int64_t *path_ns; /* g: by activity, time on the path; borrowed */
    int64_t length_ns;      /* G */
    double activity_ns, other_ns, imbalance_ns, inter_ns;
    double *by_activity; /* imbalance by activity, owned */
    double *mean_ns;     /* by activity: sum over locations without waits, until impact_end: then the mean; owned */
};

/* `path_ns` has `activities` values and stays the caller's. */
struct impact impact_begin(const int64_t *path_ns, size_t activities);

/* One more location: its time in each activity without waits. */
void impact_add(struct impact *impact, const int64_t *own_ns);

/* After the last location. */
void impact_end(struct impact *impact);
void impact_clear(struct impact *impact);

/* What the path does longer than the locations do on average, without waits: an upper bound of what evening this one
   out saves. */
double impact_excess_ns(const struct impact *impact, size_t activity);

/* The impact of a run's activities. */
struct impact impact_of(const struct graph *graph, const struct critical_path *path);

#endif
