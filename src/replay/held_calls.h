/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_HELD_CALLS_H
#define SIGHT_REPLAY_HELD_CALLS_H

#include "graph/graph.h"
#include "graph/wait.h"
#include "metrics/analysis.h"

/* Calls that move little data and yet, after waiting has ended, take far longer than on any network. If similar calls
   are also prompt, the network is not the cause: a process that should continue is not running.

   Counted are receives, and completions of receives, of HELD_BYTES at most, barriers, collectives of all to all of so
   few bytes, those from or to a root from when all have come, and calls that waited for the other process of an access
   epoch (MPI_Win_wait and others). Where the bytes of collectives and epochs are not known, a function counts if at
   least 1 / HELD_UNKNOWN of its calls are prompt. What explains a call: HELD_STEP_NS for each step of it (log2 of the
   processes), and HELD_BYTE_NS for each byte. A call is held that takes HELD_TIMES as long, and prompt if it takes no
   longer, where it is known when the last it depends on came. Sends do not count: they may be held back by their
   receiver. Where messages arrive before they are sent, a call is held only if it takes longer still by the clock
   error. */
enum { HELD_BYTES = 16384, HELD_STEP_NS = 100000, HELD_BYTE_NS = 10, HELD_TIMES = 10, HELD_UNKNOWN = 5 };

struct held_sums {
    uint64_t small, prompt, held;
    int64_t held_ns;
};

struct held_calls {
    struct held_sums all;
    struct held_sums *unknown; /* by state; owned */
};
struct held_calls held_calls_begin(const struct graph *graph);

/* Adds the call to those of its state if its bytes are not known, else to those of all. */
void held_calls_add(struct held_calls *calls, const struct graph *graph, const struct call *call,
                    const struct wait *wait);

/* Puts the sums into the analysis and frees them. */
void held_calls_end(struct held_calls *calls, struct analysis *analysis);

#endif
