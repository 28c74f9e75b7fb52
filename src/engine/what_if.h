/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_WHAT_IF_H
#define SIGHT_ENGINE_WHAT_IF_H

#include "core/guess.h"
#include "engine/engine.h"
#include "profile/causal.h"
#include "replay/what_if.h"

/* How long a run would take if something were different: a replay of what engine_run returned for these wants. */
enum { WHAT_IF_WANTS = ENGINE_ANALYSIS | ENGINE_PHASES | ENGINE_GRAPH | ENGINE_SAMPLES | ENGINE_BEFORE_HANG };

/* What takes no time, or never waits. */
struct what_if_free {
    enum {
        WHAT_IF_FREE_WAIT,     /* waits of the kind */
        WHAT_IF_FREE_FUNCTION, /* calls of the MPI function */
        WHAT_IF_FREE_TAG,      /* messages with the tag `number` are always in time */
        WHAT_IF_FREE_COMM      /* messages on the communicator with the id `number`, too */
    } what;
    enum wait_kind wait;
    const char *function;
    int64_t number;
};

/* What is different; all zero: nothing. Everything it points to is borrowed until the call returns. */
struct what_if_change {
    bool ideal;             /* an ideal network and MPI, which take no time */
    bool balance;           /* all processes compute equally long */
    const uint32_t *faster; /* these processes compute `speed` times as fast; NULL: none */
    size_t faster_count;
    double speed;         /* 0: for as long as the mean process */
    const char *function; /* its own code takes `part` (0 to 1) less time on all processes (causal.h); NULL: none */
    double part;
    const struct what_if_free *free;
    size_t free_count;
    const struct network *network; /* a different network, whose `compute` does not count; NULL: the recorded one. With
                                      one, `ideal`, `function` and `free` do not count */
};

enum what_if_lack {
    WHAT_IF_LACKS_NOTHING,
    WHAT_IF_LACKS_PROCESSES, /* none of the faster ones is in the run */
    WHAT_IF_LACKS_SAMPLES,   /* there are none, so that nothing is known about functions */
    WHAT_IF_LACKS_FUNCTION,  /* no sample was taken in it; `meant` may be what was */
    WHAT_IF_LACKS_FREE       /* free[answer.free_index] is nothing of the run */
};

struct what_if_answer {
    enum what_if_lack lack; /* if something is lacking there is no answer */
    size_t free_index;
    struct guess meant;
    int64_t end_ns;    /* the run would take this long */
    int64_t saving_ns; /* compared with a replay without changes; below 0: it would take longer */
    uint64_t forced;   /* calls that went on without a partner */
    bool deadlock;     /* see network_run */
};

/* Replays the run with the change. It has a graph and an analysis. */
struct what_if_answer engine_what_if(const struct engine_result *run, const struct what_if_change *change);

/* What functions would save the whole run if they were faster, of a run with a graph and samples: rows of `functions`,
   for profile_rows_clear. `threads`: at most so many; 0: as many as there are processors. */
struct what_if_functions {
    struct profile_rows functions;
    struct causal_row row[CAUSAL_ROWS];
    size_t count;
};
struct what_if_functions engine_what_if_functions(const struct engine_result *run, unsigned threads);

/* The standard scenarios of a run with an analysis, also of a metrics file; scenarios_clear. */
struct scenarios engine_what_if_standard(const struct engine_result *run);

#endif
