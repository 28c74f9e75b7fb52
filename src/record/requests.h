/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_REQUESTS_H
#define SIGHT_RECORD_REQUESTS_H

#include "record/call.h"

/* Requests are tracked from creation to completion, which is when a receive happens. */

/* After a non-blocking send: only a cancelled one matters later. */
void request_of_send(struct call *call, const MPI_Request *request, int dest, int tag);

/* After a non-blocking receive from `source` (MPI_PROC_NULL receives nothing), and after one of a matched message. */
void request_of_receive(struct call *call, const MPI_Request *request, int source, int tag);
void request_of_matched(struct call *call, const MPI_Request *request);

/* After a probe that took a message (MPI_Mprobe), which only a call that names it receives: as of a request. Before
   that call: the message's communicator becomes call->matched_comm, RECORD_COMM_NONE if it is not known. */
void request_of_message(struct call *call, const MPI_Message *message, const MPI_Status *status);
void request_take_message(struct call *call, const MPI_Message *message);

/* After one that also sends; `tag` and `bytes` are those requested by the receive. */
void request_of_exchange(struct call *call, const MPI_Request *request, int source, int tag, uint64_t bytes);

/* Persistent ones: a send of `bytes` to `dest` with `tag`, a receive. */
void request_of_persistent_send(struct call *call, const MPI_Request *request, uint64_t bytes, int dest, int tag);
void request_of_persistent_receive(struct call *call, const MPI_Request *request, int source, int tag);

/* A send of `partitions` parts, of `bytes` together. */
void request_of_partitioned_send(struct call *call, const MPI_Request *request, int partitions, uint64_t bytes,
                                 int dest, int tag);

/* Before MPI_Pready and its relatives: so many more parts are ready. Below 0, after them if they failed: it was not so.
 */
void request_ready(MPI_Request request, int64_t partitions);

/* After a call that posts a non-blocking collective, or prepares a persistent one. */
void request_of_collective(struct call *call, const MPI_Request *request, bool persistent);

/* What a call that starts a persistent request changes: the request (NULL: it is not known), and its facts before. */
struct request_start {
    struct record_request *request, before;
};

/* Before MPI_Start and MPI_Startall. */
void requests_start(struct call *call, int count, const MPI_Request *requests);

/* After them: the handles may be new ones. */
void requests_started(struct call *call, const MPI_Request *requests);

/* After them, if they failed, as of an active request: everything is as it was. */
void requests_not_started(struct call *call);

void request_cancel(const MPI_Request *request);
void request_freed(const MPI_Request *request);

/* Before a call that completes requests, after which the handles are changed or other threads' own. `wait`: whether the
   call waits for all or any of them. */
void requests_remember(struct call *call, int count, const MPI_Request *requests, enum record_wait wait);

/* The same of a call with a status for each: if the program ignores them, the recorder's own are returned instead. */
MPI_Status *requests_remember_all(struct call *call, int count, const MPI_Request *requests, MPI_Status *statuses,
                                  enum record_wait wait);

/* After it: true if its results show which requests are complete, even if some of them failed. */
bool requests_known(const struct call *call, int outcome);

/* Then: request `index` of those remembered (MPI_UNDEFINED: none) is complete, with this status; all are; some are. */
void request_complete(struct call *call, int index, const MPI_Status *status, int outcome);
void requests_complete(struct call *call, const MPI_Status *statuses, int outcome);
void requests_complete_some(struct call *call, int count, const int *indices, const MPI_Status *statuses, int outcome);

/* At the end: those not complete continue. */
void requests_release(struct call *call);

#endif
