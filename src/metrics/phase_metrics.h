/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_PHASE_METRICS_H
#define SIGHT_METRICS_PHASE_METRICS_H

#include "metrics/analysis.h"

#include <stdbool.h>

/* The course of a run: its phases, its loops, and the iterations of its main loop. Found by replay/phases.h; kept with
   the metrics, so that reports from a metrics file say the same. */

enum { PHASE_NONE = UINT32_MAX };

/* X(source, word): what phases are cut by. */
#define PHASE_SOURCES(X)                                                                                               \
    X(NONE, "none")                         /* there is one phase, the whole run */                                    \
    X(USER, "user")                         /* the program's own states and solo events */                             \
    X(LOOPS, "loops")                       /* what each process repeats */                                            \
    X(SYNCHRONISATIONS, "synchronisations") /* collectives of the whole run */

enum phase_source {
#define PHASE_SOURCE_MEMBER(source, word) PHASES_FROM_##source,
    PHASE_SOURCES(PHASE_SOURCE_MEMBER)
#undef PHASE_SOURCE_MEMBER
};
const char *phase_source_name(enum phase_source source);

/* Which kind of time a loop has most of; of equals the first. */
enum loop_class { LOOP_COMPUTING, LOOP_WAITING, LOOP_COMMUNICATING };
const char *loop_class_name(enum loop_class kind); /* "computing" */

#define LOOP_BOTTLENECK_SHARE 0.2 /* Paradyn's extension to loops, 4.3: a bottleneck takes strictly more */

/* True if `part` is strictly more than this share of `whole`. */
static inline bool loop_is_bottleneck(int64_t part, int64_t whole, double share)
{
    return whole > 0 && (double)part / (double)whole > share;
}

/* A loop that processes have in common. Row 0 is the whole run; a loop stands behind the one around it, loops of one
   body in the order in which they occur. Times are sums over the processes that have it. */
struct loop_row {
    char *name;           /* the functions of its body: "MPI_Irecv, MPI_Isend, (MPI_Test), MPI_Allreduce" */
    uint32_t parent;      /* PHASE_NONE of row 0 */
    uint32_t depth;       /* 0: the whole run */
    uint32_t role;        /* 0: all processes that do the same; others only where no iterations are common to all */
    uint32_t processes;   /* that have it */
    uint32_t least, most; /* iterations of a process, all entries together */
    uint32_t entries;     /* how often a process comes to it */
    uint32_t period;      /* iterations after which their kinds repeat; 1: all alike; 0: they do not */
    uint32_t warm_up;     /* first iterations that last longer than median + 5 MAD, on the process that was looked at */
    double similarity;    /* of its iterations to the usual one, in (0, 1] */
    int64_t time_ns;      /* computing + waiting + communicating */
    int64_t computing_ns; /* outside all calls */
    int64_t waiting_ns;   /* in calls, for other processes */
    int64_t communicating_ns; /* in calls, else */
    uint32_t matched;         /* so many first iterations are common: the n-th is the same on all processes */
};

#endif
