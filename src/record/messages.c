/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/messages.h"

#include "record/table.h"

#include <pthread.h>

uint64_t message_bytes(MPI_Count count, MPI_Datatype type)
{
    int size = 0;
    if (type == MPI_BYTE || type == MPI_CHAR)
        size = 1;
    else if (type == MPI_INT)
        size = sizeof(int);
    else if (type == MPI_DOUBLE)
        size = sizeof(double);
    else
        PMPI_Type_size(type, &size);
    if (size == MPI_UNDEFINED) {
        MPI_Count large = 0;
        PMPI_Type_size_x(type, &large);
        return (uint64_t)(large * count);
    }
    return (uint64_t)count * (uint64_t)size;
}

uint64_t message_put_send(struct call *call, uint64_t bytes, int dest, int tag, uint32_t comm)
{
    if (!call->write)
        return 0;
    struct record_message record = {.base.ticks = call->enter_ticks, .partner = dest, .tag = tag, .bytes = bytes};
    return lane_put_message(call->lane, RECORD_SEND, call->function, comm, &record);
}

void message_send(struct call *call, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    (void)comm;
    if (dest != MPI_PROC_NULL && call->write)
        call->send_at = message_put_send(call, message_bytes(count, type), dest, tag, call->comm);
}

void message_void(struct call *call)
{
    if (call->send_at)
        lane_void(call->lane, call->send_at);
}

void message_received(struct call *call, uint32_t comm, const MPI_Status *status)
{
    if (!call->write || status->MPI_SOURCE == MPI_PROC_NULL)
        return;
    struct record_message record = {.base.ticks = call_end(call),
                                    .partner = status->MPI_SOURCE,
                                    .tag = status->MPI_TAG,
                                    .bytes = status_bytes(status)};
    lane_put_message(call->lane, RECORD_RECEIVE, call->function, comm, &record);
}

MPI_Status *message_status(struct call *call, MPI_Status *status)
{
    return status == MPI_STATUS_IGNORE ? &call->status : status;
}

static struct table matched; /* message -> communicator + 1 */
static pthread_mutex_t matched_lock = PTHREAD_MUTEX_INITIALIZER;

void message_matched(struct call *call, MPI_Message message)
{
    pthread_mutex_lock(&matched_lock);
    uint64_t *comm = table_put(&matched, HANDLE_NUMBER(message));
    if (comm)
        *comm = (uint64_t)call->comm + 1;
    pthread_mutex_unlock(&matched_lock);
}

void message_take(struct call *call, MPI_Message message)
{
    pthread_mutex_lock(&matched_lock);
    const uint64_t *comm = table_find(&matched, HANDLE_NUMBER(message));
    call->matched_comm = comm ? (uint32_t)*comm - 1 : RECORD_COMM_NONE;
    table_remove(&matched, HANDLE_NUMBER(message));
    pthread_mutex_unlock(&matched_lock);
}
