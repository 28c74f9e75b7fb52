/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_NAPS_H
#define SIGHT_GRAPH_NAPS_H

#include "core/event.h"
#include "graph/graph.h"

/* Long pauses between looks for a message (polls.h): a location that computes meanwhile works, one that sleeps waits.
   Only recordings tell, by how long their threads sleep, and by samples of what they compute. */

/* Looks merged into one call, the last of which found a message, until it is known what the pauses are. */
struct nap_series {
    size_t call;
    int64_t enter_ns, leave_ns;   /* of the look that found it */
    int64_t gaps_ns, computed_ns; /* between looks, and the part of it that samples stand for */
};

/* Of a location. Zero-initialised: nothing is known. */
struct naps {
    struct nap_series *series;
    size_t count, capacity;
    int64_t computed_ns, in_calls_ns; /* by samples; in MPI */
    bool have_asleep;
    int64_t first_ns, last_ns;          /* first and last reading */
    int64_t asleep_first_ns, asleep_ns; /* what it had slept until then */
};

/* Takes a reading of the counter of how long the location has slept. */
void naps_asleep(struct naps *naps, const struct event *event);

/* Adds a series that may or may not be waiting. */
void naps_add(struct naps *naps, struct nap_series series);

/* No more calls come: series in which the location sleeps stay one call; the others become their last look. */
void naps_end(struct naps *naps, struct graph *graph, struct location *location);

#endif
