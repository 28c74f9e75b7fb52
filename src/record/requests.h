/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_REQUESTS_H
#define SIGHT_RECORD_REQUESTS_H

#include "record/call.h"

/* Requests are followed from where they are made to where they complete: a receive happens there. */

/* After a non-blocking send: only a cancelled one matters later. */
void request_of_send(struct call *call, const MPI_Request *request);

/* After a non-blocking receive from `source` (MPI_PROC_NULL receives nothing) on the communicator of this number. */
void request_of_receive(struct call *call, const MPI_Request *request, int source, uint32_t comm);

/* Persistent ones: a send of `bytes` to `dest` with `tag`, a receive. */
void request_of_persistent_send(struct call *call, const MPI_Request *request, uint64_t bytes, int dest, int tag);
void request_of_persistent_receive(struct call *call, const MPI_Request *request, int source);

/* After a call that posts a non-blocking collective, or prepares a persistent one. */
void request_of_collective(struct call *call, const MPI_Request *request, bool persistent);

/* Before MPI_Start and MPI_Startall. */
void requests_start(struct call *call, int count, const MPI_Request *requests);

void request_cancel(const MPI_Request *request);
void request_freed(const MPI_Request *request);

/* Before a call that completes requests, which may change the handles; statuses that the program ignores are
   received in own ones, which are returned in place of its. */
MPI_Status *requests_remember(struct call *call, int count, const MPI_Request *requests, MPI_Status *statuses);
MPI_Status *request_remember(struct call *call, const MPI_Request *request, MPI_Status *status);

/* After it: request `index` of those remembered is complete, with this status. */
void request_complete(struct call *call, int index, const MPI_Status *status);

/* The same for the only one, for all (where `result` is MPI_ERR_IN_STATUS those without error), and for some. */
void request_complete_one(struct call *call, const MPI_Status *status);
void requests_complete(struct call *call, int count, const MPI_Status *statuses, int result);
void requests_complete_some(struct call *call, int count, const int *indices, const MPI_Status *statuses, int result);

#endif
