/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_THREADS_H
#define SIGHT_HEURISTICS_THREADS_H

#include "metrics/metrics.h"

/* What the cores of a run do whose processes have threads with OpenMP's parallel regions. A process has a core for each
   thread that takes part in any. */

/* A process's times, in ns. The master is the thread with the most time in regions. */
struct process_threads {
    size_t threads;
    double serial;   /* of the master, outside regions and MPI: the other threads are idle */
    double waiting;  /* of all threads, for other threads of their regions, except for short ones */
    double overhead; /* of all threads, in short regions: what is not computing */
    double useful;   /* computing, of all threads */
};
struct process_threads process_threads_of(const struct metrics *metrics, size_t row);

/* POP's hybrid efficiencies (multiplicative): of all cores = processes * threads. With T, the time from MPI_Init to
   MPI_Finalize: hybrid = sum of computing of all threads / (cores * T) = MPI's * OpenMP's, where MPI's is the parallel
   efficiency of heuristics/efficiency.h: mean over processes of time outside MPI / T. The losses are shares of the
   cores' time; what OpenMP's efficiency lacks besides is starting regions, and cores of processes with fewer threads.
 */
struct thread_efficiency {
    size_t threads; /* of all processes; 0: the run has no parallel regions, and the rest is 0 */
    double hybrid, mpi, openmp;
    double serial, waiting, overhead;
};
struct thread_efficiency thread_efficiency_of(const struct metrics *metrics);

#endif
