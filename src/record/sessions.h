/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_SESSIONS_H
#define SIGHT_RECORD_SESSIONS_H

#include "record/mpi_api.h"

/* Programs may do without MPI_COMM_WORLD: they open sessions (MPI-4) and make communicators of groups. Which process
   of how many this is, the process set mpi://WORLD tells then, of a session of the recorder's own, without any talk. */

/* The processes of the program: of MPI_COMM_WORLD where MPI_Init was called, else of mpi://WORLD. MPI_GROUP_NULL where
   MPI tells neither. To be freed. */
MPI_Group sessions_world(void);

/* True between MPI_Init and MPI_Finalize. */
bool sessions_have_world(void);

/* Gives the recorder's own session back, so that the program's last one is the last. */
void sessions_end(void);

/* The program made a communicator of a group, or is about to free one. Those that have all processes are the only ones
   over which the clocks of several hosts can be measured, as MPI_Init and MPI_Finalize do. */
void sessions_comm_made(MPI_Comm comm);
void sessions_comm_freed(MPI_Comm comm);

#endif
