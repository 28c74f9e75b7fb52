/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_EFFICIENCY_H
#define SIGHT_HEURISTICS_EFFICIENCY_H

#include "metrics/metrics.h"

/* From when the first process has left MPI_Init until the last enters MPI_Finalize, as far as the times of their calls
   show: starting and ending MPI is not the program's work. The duration of the run if nothing is left. */
int64_t working_duration_ns(const struct metrics *metrics);

/* The upper levels of the POP efficiencies, which need nothing but computing times u(i) and that duration T: parallel
   efficiency = mean(u) / T = load balance * communication efficiency, load balance = mean(u) / max(u), communication
   efficiency = max(u) / T. (POP standard metrics; mission/peers 2.6.) All 0 if nothing was computed. Naps while
   polling are no computing.
 */
struct efficiency {
    double parallel, load_balance, communication;
};
struct efficiency efficiency_of(const struct metrics *metrics);

/* Share of the processes' total times that is communication, what starts and ends MPI (MPI_Init, MPI_Init_thread,
   MPI_Finalize) left out of both, with naps while polling; 0 for an empty run. */
double communication_share(const struct metrics *metrics);

/* The same with them. */
double mpi_share(const struct metrics *metrics);

/* " (with MPI_Init and MPI_Finalize)" for a sentence with the latter where the former, which the diagnosis gives, reads
   otherwise; else "". */
const char *mpi_share_note(const struct metrics *metrics);

/* Time of the process in these functions. */
int64_t starting_ns(const struct metrics *metrics, const struct process_row *row);

/* When it has left MPI_Init, as far as the times of its calls show; its begin if it calls none. */
int64_t started_ns(const struct metrics *metrics, const struct process_row *row);

/* Share of starting and ending MPI in the processes' total times. It is large in a short run, however well written. */
double startup_share(const struct metrics *metrics);

#endif
