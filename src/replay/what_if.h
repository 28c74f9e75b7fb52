/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_WHAT_IF_H
#define SIGHT_REPLAY_WHAT_IF_H

#include "replay/network.h"
#include "replay/replay.h"

/* What would the run last if something were different? Each scenario is a replay (replay.h), or a simulation on another
   network (network.h). Savings are of each alone: they do not add up. */

enum { SCENARIO_TEXT = 200 };

/* Where even totals save less than even steps or sections, those are even, too. */
#define WHAT_IF_EVEN "all processes compute equally long"

struct scenario {
    char options[SCENARIO_TEXT]; /* of `sight what-if`: "--free late-sender" */
    char title[SCENARIO_TEXT];   /* "nobody waits for a late sender" */
    int64_t end_ns;              /* the run would last so long */
    int64_t saving_ns;           /* against a replay with nothing changed; below 0: it would last longer */
    uint64_t forced;             /* calls that went on without a partner */
    bool deadlock;               /* see network_run */
};

struct scenarios {
    struct scenario *scenario; /* the largest saving first; owned */
    size_t count;
    int64_t replay_ns; /* a replay with nothing changed */
};

/* All standard scenarios of a run: the ideal network, even computing, the process that computes most as fast as the
   mean, the MPI functions that take most time for nothing, and each kind of wait that matters gone. `graph` NULL: those
   that the analysis holds. `even_ns`: what even work saves. */
struct scenarios what_if_standard(const struct graph *graph, const struct analysis *analysis, int64_t even_ns);
void scenarios_clear(struct scenarios *scenarios);

/* By location, outside all calls, in ns; to be freed. */
double *what_if_computing(const struct graph *graph);

/* By location: how many times as long it computes if all compute as long as their mean (balance.h); to be freed. */
double *what_if_balanced(const struct graph *graph);

#endif
