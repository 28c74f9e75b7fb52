/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_CONCURRENCY_H
#define SIGHT_REPLAY_CONCURRENCY_H

#include "replay/analyst.h"

/* How many processes compute at once, as ParaGraph's concurrency profile (Heath and Etheridge, Visualizing the
   Performance of Parallel Programs, IEEE Software 8, 1991): analysis->concurrency_ns, and over the run
   computing_course_ns. A process computes while any of its threads is outside MPI. */
void concurrency_take(struct analyst *analyst);

#endif
