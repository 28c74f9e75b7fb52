/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_SESSIONS_H
#define SIGHT_RECORD_SESSIONS_H

#include "record/mpi_api.h"

/* Programs may do without MPI_COMM_WORLD: they open sessions (MPI-4) and make communicators of groups. Rank and number
   of processes then come from the process set mpi://WORLD in a session of the recorder's own, without communication. */

/* The processes of the program: of MPI_COMM_WORLD if MPI_Init was called, else of mpi://WORLD. MPI_GROUP_NULL if MPI
   has neither. Free it. */
MPI_Group sessions_world(void);

/* True between MPI_Init and MPI_Finalize. */
bool sessions_have_world(void);

/* Finalises the recorder's own session, so that the program's last one is the last. */
void sessions_end(void);

/* The program made a communicator of a group, or is about to free one. Those that have all processes are the only ones
   over which the clocks of several hosts can be measured, as MPI_Init and MPI_Finalize do. */
void sessions_comm_made(MPI_Comm comm);
void sessions_comm_freed(MPI_Comm comm);

#endif
