/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_WAITS_IMPACT_H
#define SIGHT_WAITS_IMPACT_H

#include "waits/critical_path.h"

/* Divides the time of all locations as the critical path sees it (rules of diagnosis, 2.2; Böhme and others, IPDPS
   2012). With the path's length G and P locations, P * G is divided exactly (except for clock errors) into

   - activity: on each location its time in activities of the path, up to their time on the path;
   - other: its time beyond that, or in other activities: doing these faster does not shorten the run;
   - imbalance: its waiting, because something on the path takes longer than it does on this location. Each location's
   waiting is spread over these activities in proportion, and assigned to the locations that have them on the path.
   `inter` is the part due to activities that the location never does: a wrong split between different roles; the rest
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

/* `path_ns` has `activities` values and is borrowed. */
struct impact impact_begin(const int64_t *path_ns, size_t activities);

/* Adds a location: its time in each activity without waits. */
void impact_add(struct impact *impact, const int64_t *own_ns);

/* After the last location. */
void impact_end(struct impact *impact);
void impact_clear(struct impact *impact);

/* How much longer the path does it than the locations on average, without waits: an upper bound of the saving from
   evening it out. */
double impact_excess_ns(const struct impact *impact, size_t activity);

/* The impact of a run's activities; its locations are those with calls. */
struct impact impact_of(const struct graph *graph, const struct critical_path *path);

#endif
