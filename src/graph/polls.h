/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_POLLS_H
#define SIGHT_GRAPH_POLLS_H

#include "graph/graph.h"

/* Polling: a location looks for a message again and again (MPI_Iprobe, MPI_Test and their like), perhaps with a nap in
   between, until one finds it. That is waiting, not computing: these calls become one, from the first look to the one
   that finds the message, and wait_of() says for whom. It is polling if it looks at least POLLS_LEAST times in vain and
   what lies between two looks is short, most times: work in larger pieces with a look now and then, to let MPI go on,
   stays work. */
enum { POLLS_LEAST = 2, POLLS_GAP_NS = 2000000 };

struct poll {
    int64_t enter_ns, leave_ns;
};

/* The looks of a location at hand. Zero-initialised: there are none. */
struct poll_run {
    struct poll *polls; /* those that are in its latest call */
    size_t count, capacity;
};

/* True of states that look for a message and return at once. */
bool state_polls(const struct state_def *state);

/* The location enters a call of that state. True: it goes on with its latest call, which is open again. False: it is
   another call; if there was polling, that is over. */
bool polls_enter(struct poll_run *run, struct graph *graph, struct location *location, uint32_t state,
                 int64_t enter_ns);

/* Its latest call, one that polls, is left. */
void polls_leave(struct poll_run *run, int64_t enter_ns, int64_t leave_ns);

/* No more calls come. */
void polls_end(struct poll_run *run, struct graph *graph, struct location *location);

#endif
