/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_GROUPS_H
#define SIGHT_RECORD_GROUPS_H

#include "core/payload.h"
#include "record/call.h"

/* Groups of processes that calls name. They are recorded as ranks. */

/* A call made a group, or is about to free one (NULL: none). */
void group_made(MPI_Group group);
void group_forget(const MPI_Group *group);

/* Ranks first, first + step, ..., last of the call's communicator or window. */
void group_put_ranks(struct call *call, int first, int last, int step, enum window_lock lock);

/* The members of a group as ranks in another one. MPI is asked about both. */
void group_put_members(struct call *call, MPI_Group group, MPI_Group all);

/* Before a call that makes a communicator of a group: its members as ranks in `comm`, or in the world. Nothing if it is
   not known to be a group: MPI must not be asked about it then. */
void group_of_comm(struct call *call, MPI_Group group, MPI_Comm comm);
void group_of_world(struct call *call, MPI_Group group);

#endif
