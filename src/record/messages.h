/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_MESSAGES_H
#define SIGHT_RECORD_MESSAGES_H

#include "record/call.h"

/* The two ends of messages. Partners are recorded as ranks in the communicator; the merge finds the processes. */

/* Bytes of `count` elements of a type, as sent. Only after a call that took both: MPI is called, and would raise an
   error for an invalid type. No elements, and the null handle, are 0 bytes. */
uint64_t message_bytes(MPI_Count count, MPI_Datatype type);

/* A send begins now, at the entry of the call: it cannot be received before. If its bytes are not known without calling
   MPI, message_sent adds them after the call has succeeded. */
void message_send(struct call *call, MPI_Count count, MPI_Datatype type, int dest, int tag);
void message_sent(struct call *call, MPI_Count count, MPI_Datatype type);

/* The same, with everything known. Returns the place of the record, 0 if nothing was recorded. */
uint64_t message_put_send(struct call *call, uint64_t bytes, int dest, int tag, uint32_t comm);

/* The call failed: nothing was sent. */
void message_void(struct call *call);

/* The class of an error that MPI has returned, or put into a status. */
int message_error_class(int error);

/* The message arrived, though the receiving call failed: it was longer than the buffer. */
bool message_truncated(int outcome);

/* A receive is complete, with this status. */
void message_received(struct call *call, uint32_t comm, const MPI_Status *status);

/* The same, with everything known. */
void message_put_receive(struct call *call, uint32_t comm, int source, int tag, uint64_t bytes);

/* A receive failed, or a call that sends and receives: the part that did happen is kept. */
void message_receive_failed(struct call *call, uint32_t comm, const MPI_Status *status, int outcome);
void message_exchange_failed(struct call *call, const MPI_Status *status, int outcome);

/* The status of a call whose program wants none. */
MPI_Status *message_status(struct call *call, MPI_Status *status);

#endif
