/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_WAITED_FOR_H
#define SIGHT_REPLAY_WAITED_FOR_H

#include "graph/sweep.h"
#include "metrics/analysis.h"

/* How long others wait for a process: a moment in which several of them wait counts once, unlike in sums of waits. That
   is the time by which the process is late, to be compared with what it lost; it is only found for runs in which it is
   known what processes lost because they had no core.

   The waits come in the order of a sweep, and those of a window are sorted by when they begin. Memory: 24 bytes for
   each wait of a window and of the calls that are read ahead with it. */

struct late_wait {
    int64_t from_ns, to_ns; /* on the trace's clock */
    uint32_t row;           /* of the process waited for */
};

struct waited_for {
    bool wanted;
    struct windows windows;
    size_t window; /* at hand */
    struct late_wait *waits;
    size_t count, capacity;
    int64_t *until_ns; /* by row: up to where its time is counted; owned */
    int64_t *sums_ns;  /* by row; borrowed */
};

/* Adds to the analysis. End with waited_for_end. */
struct waited_for waited_for_begin(const struct graph *graph, struct analysis *analysis);

/* Before the waits of a window: `window` counts the windows of the sweep. */
void waited_for_reach(struct waited_for *waited_for, size_t window);

/* A wait of another process for the one in this row. */
void waited_for_add(struct waited_for *waited_for, uint32_t row, int64_t from_ns, int64_t ns);

void waited_for_end(struct waited_for *waited_for);

#endif
