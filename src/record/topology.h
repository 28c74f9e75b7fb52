/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_TOPOLOGY_H
#define SIGHT_RECORD_TOPOLOGY_H

#include "record/location.h"
#include "record/mpi_api.h"

/* The neighbours of this process in the topology of a communicator, if any: neighbourhood collectives wait for them. */

/* Records them for the communicator that has this number; `comm` is that, or the one that it is a copy of. */
void topology_record(struct location *location, uint32_t number, MPI_Comm comm);

#endif
