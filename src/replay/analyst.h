/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_ANALYST_H
#define SIGHT_REPLAY_ANALYST_H

#include "graph/graph.h"
#include "replay/analyse.h"
#include "replay/held_calls.h"
#include "replay/path_links.h"
#include "replay/relief.h"
#include "replay/waited_for.h"

/* For analyse.c, savings.c and beside_even_work.c: an analysis under way. */

/* Waits below this share of all processes' time are not worth a replay, unless one process waited longer than the
   following. */
#define REPLAY_SHARE 0.002

/* With many processes the waits of one are a small share, and yet all others may wait for it: this share of the run
   matters. */
#define REPLAY_SHARE_OF_ONE 0.01

/* If the slowest exceeds the mean by less than this share of the run, evening out saves nothing. */
#define BALANCED_SHARE 0.002

/* Sums of waits: by kind, followed by those of contention and of uneven computing. */
enum { CONTENTION = WAIT_KIND_COUNT, UNEVEN, SUMS };

struct analyst {
    const struct graph *graph;
    struct analysis *analysis;
    uint32_t *rows;      /* by location: row of its process */
    int64_t *compute_ns; /* by location: outside all calls */
    int64_t begin_ns;    /* of the run */
    struct course_edges edges;
    int64_t *sites_ns[SUMS], *comms_ns[SUMS]; /* by site and communicator; NULL: no waits */
    uint64_t longest[SUMS][LONGEST_WAITS];    /* locations and calls of the longest waits */
    bool overlapping;                         /* a location has two calls at a time: its times go back */
    struct held_calls held;
    struct path_links links; /* where messages may be slow; none unless such calls are much of the critical path */
    struct waited_for waited_for;
    struct sections *sections; /* NULL: not looked for yet */
    bool unqueued;             /* the run was replayed without queues: its end */
    int64_t unqueued_ns;
    struct relief *relief; /* even totals save most if others do work while they wait; NULL: they do not */
    unsigned without;      /* steps that are left out: see analyse.h */
    int64_t detail_from_ns;
    unsigned replay_threads;             /* each needs memory of its own for a replay */
    bool delays_ahead;                   /* are computed before it is known whether they are wanted */
    const struct analyse_beside *beside; /* NULL: nobody */
};

/* Computing by location, in ns; the caller frees it. */
double *analyst_compute_ns(const struct analyst *analyst);

/* The sections of the program, found when first asked for, by one thread at a time. NULL: there are too many. */
const struct sections *analyst_sections(struct analyst *analyst);

/* Waits of the kinds, all together, in ns. `kinds`: bit 1 << kind. */
static inline double analyst_waits_ns(const struct analysis *analysis, unsigned kinds)
{
    double ns = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        ns += kinds >> kind & 1 ? (double)analysis->waits[kind].ns : 0;
    return ns;
}

/* What replays save (savings.c), all together: on the ideal network; without the waits of each kind; with the function
   that takes most of the critical path taking no time except for waiting; with small messages combined; with even work
   in total, before each call, and between collectives of all. The end that others are compared with and the
   efficiencies come with these. */
void save_all(struct analyst *analyst);

/* After all of these, for each kind of waits: the additional saving without them once work is even; of waits at
   barriers and collectives of all, once no process waits for a single other one either. */
void save_beside_even_work(struct analyst *analyst);

#endif
