/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_ANALYSE_H
#define SIGHT_REPLAY_ANALYSE_H

#include "graph/graph.h"
#include "metrics/analysis.h"
#include "replay/replay.h"

/* Waits, critical path and replays of a graph, in numbers. Rows of processes are those of metrics: the processes of all
   locations, by rank. Free with analysis_free. */
struct analysis *analyse(const struct graph *graph);

/* Steps that can be left out. The first ones can also be made apart, by another process that has the same graph. */
enum { ANALYSE_APART_COUNT = 2 };
enum analyse_step {
    ANALYSE_DELAYS = 1 << 0,      /* `unattributed` and delay_*_ns */
    ANALYSE_CONCURRENCY = 1 << 1, /* concurrency_ns and computing_course_ns */
    ANALYSE_CALL_SITES = 1 << 2
};

/* What is computed beside the analysis by someone who needs replays as well: they go with its own (replay_run_all). */
enum { ANALYSE_REPLAYS_BESIDE = 2 };
struct analyse_beside {
    void (*begin)(void *context); /* called once, maybe in another thread, while the first steps are made */
    /* Then up to ANALYSE_REPLAYS_BESIDE options; returns how many. */
    size_t (*replays)(void *context, struct replay_options *options);
    void (*end)(void *context, const struct replay *replays);
    void *context;
};

struct analyse_how {
    unsigned threads;       /* at most; each needs memory of its own for a replay */
    unsigned without;       /* of enum analyse_step: their results stay 0 */
    int64_t detail_from_ns; /* so do delays, unless the run would be shorter by more than this without some kind of
                               waits; and call sites, unless it would be without calls themselves; 0: they do not
                               depend on that */
    const struct analyse_beside *beside; /* NULL: nobody */
};

/* The same. */
struct analysis *analyse_in_parallel(const struct graph *graph, struct analyse_how how);

/* The results of these steps, with everything else 0. Free with analysis_free. */
struct analysis *analyse_apart(const struct graph *graph, unsigned steps);

/* Copies the results of these steps; both are of the same graph. */
void analyse_take_apart(struct analysis *analysis, const struct analysis *from, unsigned steps);

#endif
