/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_SYNC_H
#define SIGHT_RECORD_SYNC_H

#include "record/location.h"
#include "record/mpi_api.h"

/* Clocks of several hosts. At the begin and at the end of the program one process of each host asks process 0 for its
   time, many times; each answer bounds the offset from both sides. Nothing is corrected here: what was measured is
   recorded, and the merge does it. */

/* True if not all processes share one clock; `all` is a communicator that has all of them. Communicates only if the
   launcher does not say that all are on this host. `world` becomes the number of their MPI program (see world.h).
 */
bool sync_needed(uint64_t host, MPI_Comm all, uint64_t *world);

/* Measures, on all processes; records the offset from this process's clock to that of process 0. */
void sync_clocks(struct location *location, uint64_t host, MPI_Comm all);

#endif
