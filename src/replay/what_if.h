/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_WHAT_IF_H
#define SIGHT_REPLAY_WHAT_IF_H

#include "replay/network.h"
#include "replay/replay.h"

/* How long would the run take if something were different? Each scenario is a replay (replay.h), or a simulation on
   another network (network.h). Each saving is separate: they do not add up. */

enum { SCENARIO_TEXT = 200 };

/* If even totals save less than even steps or sections, these are even, too. */
#define WHAT_IF_EVEN "all processes compute equally long"

struct scenario {
    char options[SCENARIO_TEXT]; /* of `sight what-if`: "--free late-sender" */
    char title[SCENARIO_TEXT];   /* "nobody waits for a late sender" */
    int64_t end_ns;              /* the run would take this long */
    int64_t saving_ns;           /* compared with a replay without changes; below 0: it would take longer */
    uint64_t forced;             /* calls that went on without a partner */
    bool deadlock;               /* see network_run */
};

struct scenarios {
    struct scenario *scenario; /* the largest saving first; owned */
    size_t count;
    int64_t replay_ns; /* a replay without changes */
};

/* All standard scenarios of a run: the ideal network, even computing, the process that computes most as fast as the
   mean, the MPI functions with most time taking none, and each kind of wait that matters removed. `graph` NULL: those
   stored in the analysis. `even_ns`: the saving of even work. */
struct scenarios what_if_standard(const struct graph *graph, const struct analysis *analysis, int64_t even_ns);
void scenarios_clear(struct scenarios *scenarios);

/* By location, outside all calls, in ns; free() it. */
double *what_if_computing(const struct graph *graph);

/* By location: the factor by which it computes longer if all compute as long as their mean (balance.h); free() it. */
double *what_if_balanced(const struct graph *graph);

#endif
