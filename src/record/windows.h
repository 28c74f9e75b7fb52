/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_WINDOWS_H
#define SIGHT_RECORD_WINDOWS_H

#include "core/payload.h"
#include "record/call.h"

/* One-sided communication. The targets of a call are recorded as ranks in its window. */

/* After the call: the processes that MPI_Win_post exposes the window to, or that MPI_Win_start will access. */
void window_group(struct call *call, MPI_Group group, MPI_Win win);

/* How the lock is, by the arguments of MPI_Win_lock. */
enum window_lock window_lock_of(int type, int assert);

/* After the call: all processes' windows are locked. */
void window_all(struct call *call, MPI_Win win, enum window_lock lock);

/* The process whose window is locked, flushed or unlocked. */
void window_rank(struct call *call, int rank, enum window_lock lock);

/* A call sends the target `sent` bytes, and receives `received` from it. */
void window_moved(struct call *call, int target, uint64_t sent, uint64_t received);

/* The same for a call that sends nothing if its operation is MPI_NO_OP. */
void window_exchanged(struct call *call, int target, MPI_Op op, uint64_t sent, uint64_t received);

#endif
