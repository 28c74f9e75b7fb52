/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_POLLS_H
#define SIGHT_GRAPH_POLLS_H

#include "graph/naps.h"

/* Polling: a location repeatedly looks for a message (MPI_Iprobe, MPI_Test and similar calls), perhaps sleeping in
   between, until one finds it. That is waiting, not computing: these calls become one, from the first look to the one
   that finds the message, and wait_of() finds its cause. It is polling if at least POLLS_LEAST looks fail and the time
   between looks is mostly short, or if the location sleeps between looks (naps.h): work with an occasional look, to let
   MPI progress, stays work. */
enum { POLLS_LEAST = 2, POLLS_GAP_NS = 2000000 };

struct poll {
    int64_t enter_ns, leave_ns;
};

/* The current series of looks of a location. Zero-initialised: none. */
struct poll_run {
    struct poll *polls; /* those in its latest call */
    size_t count, capacity;
    int64_t computed_ns, since_ns; /* by samples: between these looks, and since the latest one */
    struct naps naps;
};

/* True for states that look for a message and return at once. */
bool state_polls(const struct state_def *state);

/* The location enters a call of that state. True: it continues its latest call, which is open again. False: it is a new
   call, and any polling has ended. */
bool polls_enter(struct poll_run *run, struct graph *graph, struct location *location, uint32_t state,
                 int64_t enter_ns);

/* Its latest call, one that polls, is left. */
void polls_leave(struct poll_run *run, int64_t enter_ns, int64_t leave_ns);

/* A sample outside MPI stands for so much computing. */
void polls_sample(struct poll_run *run, int64_t ns);

/* No more calls come. */
void polls_end(struct poll_run *run, struct graph *graph, struct location *location);

#endif
