/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RUNS_SCALING_H
#define SIGHT_RUNS_SCALING_H

#include "metrics/metrics.h"
#include "runs/law.h"

/* How far a program scales: runs of one program with different numbers of processes and threads, its parts side by
   side, and the law by which each grows.

   With n = processes * threads, and the smallest size as reference (time T0, n0), of strong scaling:

       speed-up S = T0 / T, efficiency E = S * n0 / n
       Amdahl (1967): S = 1 / (f + (1 - f) / (n / n0))
       Karp and Flatt (1990): f = (1 / S - n0 / n) / (1 - n0 / n)

   Of weak scaling, where the work of a process stays the same: E = T0 / T, S = E * n / n0 (Gustafson, 1988). POP's
   efficiencies as in heuristics/efficiency.h; computation scalability is the reference's total computing divided by
   that of the size (weak: per process), and global efficiency is its product with the parallel efficiency. */

/* The repeated runs of a size. */
struct scaling_size {
    uint32_t processes, threads;
    size_t repeats;
    double time_s, least_s, most_s; /* duration of the runs: mean, shortest, longest */
    double speedup, efficiency;
    double serial; /* by Karp and Flatt; NAN for the reference, and of weak scaling */
    double global, parallel, load_balance, communication, computation;
    double serialisation, transfer; /* NAN: a run has no analysis */
    double hybrid, openmp;          /* as in heuristics/threads.h; NAN: a run has no parallel regions in its trace */
};

/* X(KIND, word): the parts of a run that rows are about. Times are means over processes. */
#define SCALING_KINDS(X)                                                                                               \
    X(RUN, "run")             /* the duration of the whole */                                                          \
    X(COMPUTING, "computing") /* outside MPI */                                                                        \
    X(MPI, "mpi")             /* inside */                                                                             \
    X(WAITING, "waiting")     /* of that: waiting for other processes */                                               \
    X(PHASE, "phase")                                                                                                  \
    X(LOOP, "loop")                                                                                                    \
    X(ITERATION, "iteration") /* one of the main loop */                                                               \
    X(REGION, "region")       /* a state of the program's own: exclusive time */                                       \
    X(FUNCTION, "function")   /* an MPI function: exclusive time */

enum scaling_kind {
#define SCALING_KIND_MEMBER(kind, word) SCALING_##kind,
    SCALING_KINDS(SCALING_KIND_MEMBER)
#undef SCALING_KIND_MEMBER
        SCALING_KIND_COUNT
};
const char *scaling_kind_name(enum scaling_kind kind);

struct scaling_row {
    char *name;
    enum scaling_kind kind;
    double *times_s;  /* by size: mean of the runs; NAN where none has it */
    double *speedups; /* by size, against the reference; NAN where one of both is missing or 0 */
    struct law law;   /* over n; not found where it is missing in a size */
};

/* The predicted time with more processes than were tried. */
struct scaling_forecast {
    double n;
    struct law_interval time;
    double efficiency;
};

struct scaling {
    bool weak;
    struct scaling_size *sizes; /* by n, then processes */
    size_t size_count;
    struct scaling_row *rows; /* the run itself, then sorted by time at the largest size, most first */
    size_t row_count;
    double amdahl;                        /* serial fraction that fits best, by least squares of relative errors */
    struct scaling_forecast forecasts[2]; /* at 2 and 4 times the largest n; n 0: there is no law */
    double half_n; /* smallest n at which efficiency falls below 50 %, measured or by the law; 0: none up to 2^20 */
    bool half_measured;
    size_t breaking; /* the row that costs most beyond ideal scaling at half_n, or at the largest n; row_count: none */
    double breaking_s; /* what it costs there, beyond ideal */
    unsigned cores;    /* of the machine that the runs were made on; 0: not known. Set by the caller. */
    bool too_few;      /* fewer sizes than a law needs */
};

/* Runs in any order; runs of the same size are repeats. `threads` 0: as the definitions say. NULL and a fault if there
   are fewer than two sizes. Free with scaling_free. */
struct scaling_run {
    const struct metrics *metrics; /* NULL: only the run's time is known */
    uint32_t processes;            /* 0: as many as the metrics have */
    uint32_t threads;
    double time_s; /* without metrics */
};
struct scaling *scaling_of(const struct scaling_run *runs, size_t count, bool weak, struct error *err);
void scaling_free(struct scaling *scaling);

/* Processes times threads of a run, and how long it took. */
uint64_t scaling_run_n(const struct scaling_run *run);
double scaling_run_s(const struct scaling_run *run);

/* n of a size. */
static inline double scaling_n(const struct scaling_size *size)
{
    return (double)size->processes * (double)size->threads;
}

#endif
