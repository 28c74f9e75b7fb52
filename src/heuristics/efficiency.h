/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_EFFICIENCY_H
#define SIGHT_HEURISTICS_EFFICIENCY_H

#include "metrics/metrics.h"

/* The upper levels of the POP efficiencies, which need nothing but computing times u(i) and the run's duration T:
   parallel efficiency = mean(u) / T = load balance * communication efficiency, load balance = mean(u) / max(u),
   communication efficiency = max(u) / T. (POP standard metrics; mission/peers 2.6.) All 0 where nothing was computed.
 */
struct efficiency {
    double parallel, load_balance, communication;
};
struct efficiency efficiency_of(const struct metrics *metrics);

/* Share of the processes' total times that is communication; 0 for an empty run. */
double communication_share(const struct metrics *metrics);

/* The part of it that starts and ends MPI (MPI_Init, MPI_Init_thread, MPI_Finalize). A run that is short has much of
   it, however well it is written. */
double startup_share(const struct metrics *metrics);

#endif
