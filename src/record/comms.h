/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_COMMS_H
#define SIGHT_RECORD_COMMS_H

#include "record/location.h"
#include "record/mpi_api.h"

/* Communicators: numbered by each process as it meets them, and given a key that is the same in all members without
   communication. Members create communicators from a parent in the same order, so (key of the parent, members, count of
   these so far) identifies each one. Threads may create some of them in any order: then they have a name as well. */

/* World, of this group, which it keeps, and self; and back to MPI what was borrowed of it. comms_resume: again, of
   another group of the same processes. */
void comms_start(struct location *location, MPI_Group world);
void comms_resume(MPI_Group world);
void comms_finish(void);

/* The number of a communicator that is not MPI_COMM_WORLD. An unknown one, which may be invalid, gets a number, and
 *new is set: call comm_look once a call on it has succeeded. */
uint32_t comm_number_of_other(struct location *location, MPI_Comm comm, bool *new);

/* The number of any communicator. */
static inline uint32_t comm_number(struct location *location, MPI_Comm comm, bool *new)
{
    return comm == MPI_COMM_WORLD ? RECORD_WORLD : comm_number_of_other(location, comm, new);
}

/* Defines the communicator that got this number as a new one. */
void comm_look(struct location *location, uint32_t number, MPI_Comm comm);

/* A call on one that got this number as a new one has failed: it may be none. */
void comm_drop(uint32_t number, MPI_Comm comm);

/* The tag or text that all members of a new communicator gave it. */
uint64_t comm_name_of_tag(int tag);
uint64_t comm_name_of_text(const char *text);

/* The group of all processes. */
MPI_Group comms_world(void);

/* A call made `comm` of `parent` (RECORD_COMM_NONE: of none), with this name (0: none). MPI_COMM_NULL is no
   communicator. */
void comm_made(struct location *location, uint32_t parent, uint64_t name, MPI_Comm comm);

/* A call that was entered at `since_ns`, of CLOCK_MONOTONIC, gave an inter-communicator to another program, in one of
   the ways in which programs meet (`kin`). MPI_COMM_NULL is no communicator. */
void comm_met(struct location *location, MPI_Comm comm, enum record_kin kin, int64_t since_ns);

/* MPI_Comm_idup: `comm` will have the members and the topology of `of`, whose number is `parent`, but must not be
   queried yet. */
void comm_promised(struct location *location, uint32_t parent, MPI_Comm of, MPI_Comm comm);

/* What a call is about to free. MPI may give its handle to another thread before the call has returned: so it is
   forgotten before it, and remembered again if the call fails, as when a callback of an attribute forbids it. Until
   then the thread itself knows it, as callbacks may use it. */
struct freed_handle comm_forget(const MPI_Comm *comm); /* NULL: of none */
void handle_freed(struct location *location, struct freed_handle freed);
void handle_kept(struct freed_handle freed);

/* Windows are numbered among the communicators, and have a key like theirs: `win` has the members of `parent`. */
void window_made(struct location *location, uint32_t parent, MPI_Win win);
uint32_t window_number(struct location *location, MPI_Win win); /* RECORD_WORLD if it is not known */
struct freed_handle window_forget(const MPI_Win *win);          /* as of a communicator */

#endif
