/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_PHASE_METRICS_H
#define SIGHT_METRICS_PHASE_METRICS_H

#include "metrics/analysis.h"
#include "metrics/iteration_imbalance.h"

#include <stdbool.h>

/* The course of a run: its phases, its loops, and the iterations of its main loop. Found by phases/phases.h; kept with
   the metrics, so that reports from a metrics file say the same. */

enum {
    PHASE_NONE = UINT32_MAX,
    ITERATION_BINS = 1000,     /* more iterations are reported in bins of equal size */
    ITERATION_CELLS = 1 << 17, /* of a table by process: a larger one is by groups of processes */
    PHASE_CELLS = 1 << 14,     /* the same for phases, which have more numbers each */
    ITERATIONS_SLOWEST = 10    /* that are named */
};

/* X(source, word): what separates the phases. */
#define PHASE_SOURCES(X)                                                                                               \
    X(NONE, "none")                         /* there is one phase, the whole run */                                    \
    X(USER, "user")                         /* the program's own states and solo events */                             \
    X(LOOPS, "loops")                       /* what each process repeats */                                            \
    X(SYNCHRONISATIONS, "synchronisations") /* collectives of the whole run */

enum phase_source {
#define PHASE_SOURCE_MEMBER(source, word) PHASES_FROM_##source,
    PHASE_SOURCES(PHASE_SOURCE_MEMBER)
#undef PHASE_SOURCE_MEMBER
        PHASE_SOURCE_COUNT
};
const char *phase_source_name(enum phase_source source);

/* The kind of time a loop has most of; the first if equal. */
enum loop_class { LOOP_COMPUTING, LOOP_WAITING, LOOP_COMMUNICATING };
const char *loop_class_name(enum loop_class kind); /* "computing" */

#define LOOP_BOTTLENECK_SHARE 0.2 /* Paradyn's extension to loops, 4.3: a bottleneck takes strictly more */

/* True if `part` is strictly more than this share of `whole`. */
static inline bool loop_is_bottleneck(int64_t part, int64_t whole, double share)
{
    return whole > 0 && (double)part / (double)whole > share;
}

/* A loop that processes have in common. Row 0 is the whole run; a loop comes after the one around it, loops of one body
   in the order of occurrence. Times are sums over the processes that have it. */
struct loop_row {
    char *name;               /* the functions of its body: "MPI_Irecv, MPI_Isend, (MPI_Test), MPI_Allreduce" */
    uint32_t parent;          /* PHASE_NONE of row 0 */
    uint32_t depth;           /* 0: the whole run */
    uint32_t role;            /* 0: all processes that do the same; others only if no iterations are common to all */
    uint32_t processes;       /* that have it */
    uint32_t least, most;     /* iterations of a process, all entries together */
    uint32_t entries;         /* how often a process enters it */
    uint32_t period;          /* iterations after which their kinds repeat; 1: all alike; 0: they do not */
    uint32_t warm_up;         /* first iterations longer than median + 5 MAD, on the process examined */
    double similarity;        /* similarity of its iterations to the usual one, in (0, 1] */
    int64_t time_ns;          /* computing + waiting + communicating */
    int64_t computing_ns;     /* outside all calls */
    int64_t waiting_ns;       /* in calls, for other processes */
    int64_t communicating_ns; /* in calls, else */
    uint32_t matched;         /* number of first iterations that are common: the n-th is the same on all processes */
};

/* Sums over all processes of a part of the run. A process with several threads is represented by the one with most
   calls. */
struct part_sums {
    int64_t time_ns; /* compute + mpi */
    int64_t compute_ns, mpi_ns;
    int64_t waits_ns[WAIT_KIND_COUNT]; /* in mpi */
    uint64_t messages, bytes;          /* sent; bytes where they are known */
};
int64_t part_waiting_ns(const struct part_sums *sums);

/* Phases follow each other on each process; begin and end are means over the processes, from the run's begin. */
struct phase_row {
    char *name;
    uint32_t loop; /* row of the loop that it is; PHASE_NONE: none */
    int64_t begin_ns, end_ns;
    struct part_sums sums;
};

/* A phase on a group of processes: sums over them. */
struct phase_cell {
    int64_t compute_ns, mpi_ns, waiting_ns;
    uint64_t messages, bytes;
};

/* Iterations [first, first + count) of the main loop. */
struct iteration_row {
    uint32_t first, count;
    int64_t begin_ns;     /* of the first, mean over the processes, from the run's begin */
    int64_t time_ns;      /* of all, mean over the processes */
    int64_t longest_ns;   /* the longest of them, mean over the processes */
    int64_t computing_ns; /* sum of the iterations' mean computing */
    int64_t most_ns;      /* sum of the iterations' longest computing */
    uint32_t heaviest;    /* row of the process that computes most in them in total */
    struct part_sums sums;
};

struct slow_iteration {
    uint32_t iteration;
    int64_t begin_ns, time_ns; /* means over the processes, from the run's begin */
    uint32_t heaviest;         /* row of the process that computes most */
    int64_t most_ns;           /* and for how long */
};

/* The main loop, iteration by iteration. `rows` are bins where there are more than ITERATION_BINS. */
struct iteration_metrics {
    uint32_t loop;      /* row; PHASE_NONE: no iterations were found, and the rest is 0 */
    uint32_t count;     /* iterations */
    uint32_t processes; /* that have them */
    struct iteration_row *rows;
    size_t row_count;
    size_t group_count, per_group; /* of processes; the last may be smaller */
    int64_t *computing_ns;         /* [group * row_count + row]: mean of an iteration on a process; -1: none has them */
    /* How long iterations take, as means over the processes. */
    int64_t median_ns, mad_ns; /* of all; the median distance from it */
    int64_t mean_ns;           /* without warming up */
    uint32_t warm_up;          /* first iterations longer than median + 5 MAD and 1.1 medians */
    uint32_t slow;             /* later ones that are */
    struct slow_iteration slowest[ITERATIONS_SLOWEST];
    size_t slowest_count;
    double trend;      /* change from the first to the last by least squares, of the mean, without warming up */
    double trend_fit;  /* correlation of iteration and time: how much of a trend it is */
    int64_t rhythm_ns; /* period of how many processes compute, by autocorrelation; 0: not known (see rhythm.h) */
    /* Imbalance of computing, without warming up: see iteration_imbalance.h. */
    enum iteration_class kind;
    int64_t loss_ns, static_ns;      /* L and S; the rest is dynamic */
    int64_t most_ns, recoverable_ns; /* sum of the iterations' longest computing; see iteration_imbalance_recoverable */
    int64_t saving_ns; /* how much shorter a run with even iterations, or even turns of the loops inside them
                          (replay/even_turns.h), would be, by replay; -1: not replayed */
    double rank_share, iteration_share, mixed_share, concentration, growth, entropy, persistence;
    uint32_t heaviest;  /* row of the process with the largest total */
    int64_t waiting_ns; /* in the loop, all processes together */
};

/* The rhythm differs by more than a tenth from the median iteration, and from any multiple of it, as work in only every
   k-th iteration would cause: the iterations may be cut in the wrong places. */
bool iteration_rhythm_differs(const struct iteration_metrics *iterations);

struct phase_metrics {
    enum phase_source source;
    struct phase_row *phases;
    size_t phase_count;
    size_t group_count, per_group; /* of processes; the last may be smaller */
    struct phase_cell *cells;      /* [group * phase_count + phase] */
    struct loop_row *loops;
    size_t loop_count;
    uint32_t role_count;
    bool by_world; /* iterations are cut by collectives of the whole run only */
    struct iteration_metrics iterations;
    size_t process_count;
};

/* How many processes share a row of a table with this many columns and at most this many cells: 1 if they are few. */
size_t phase_group_size(size_t processes, size_t columns, size_t cells);

void phase_metrics_free(struct phase_metrics *metrics);

#endif
