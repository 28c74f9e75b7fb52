/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/messages.h"

/* The size of predefined types, without calling MPI: most messages have one of these, and PMPI_Type_size would be a
   large part of what recording costs. -1 for others. */
static int size_known(MPI_Datatype type)
{
    if (type == MPI_BYTE || type == MPI_CHAR)
        return 1;
    if (type == MPI_INT)
        return sizeof(int);
    if (type == MPI_DOUBLE)
        return sizeof(double);
    if (type == MPI_DATATYPE_NULL)
        return 0;
    return -1;
}

uint64_t message_bytes(MPI_Count count, MPI_Datatype type)
{
    int size = 0;
    if (count > 0)
        size = size_known(type);
    if (size < 0 && PMPI_Type_size(type, &size) != MPI_SUCCESS)
        return 0;
    /* A type of 2 GB and more does not fit into an int (MPI-4.0, 5.1.5). */
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
    return location_put_message(call->location, RECORD_SEND, call->function, comm, &record);
}

void message_send(struct call *call, MPI_Count count, MPI_Datatype type, int dest, int tag)
{
    int size = 0;
    if (count > 0)
        size = size_known(type);
    call->bytes_unknown = size < 0;
    if (dest != MPI_PROC_NULL && call->write) {
        uint64_t bytes = 0;
        if (size > 0)
            bytes = (uint64_t)count * (uint64_t)size;
        /* Recorded before MPI is called: if the call never returns, the trace shows that it was sending. */
        call->send_at = message_put_send(call, bytes, dest, tag, call->comm);
    }
    call->location->open.send_at = call->send_at;
}

void message_sent(struct call *call, MPI_Count count, MPI_Datatype type)
{
    /* Only now MPI may be asked for the size: a wrong type is the program's error, to be reported by its own call. */
    if (call->send_at && call->bytes_unknown)
        location_set_bytes(call->location, call->send_at, message_bytes(count, type));
}

void message_void(struct call *call)
{
    if (call->send_at)
        location_void(call->location, call->send_at);
}

int message_error_class(int error)
{
    int class = error;
    /* Open MPI's own codes are their classes. Asked about a code that it does not know, as programs may have them, it
       calls the program's handler of errors. */
#ifndef OPEN_MPI
    if (error != MPI_SUCCESS)
        PMPI_Error_class(error, &class);
#endif
    return class;
}

bool message_truncated(int outcome)
{
    return message_error_class(outcome) == MPI_ERR_TRUNCATE;
}

void message_put_receive(struct call *call, uint32_t comm, int source, int tag, uint64_t bytes)
{
    if (!call->write)
        return;
    struct record_message record = {.base.ticks = call_end(call), .partner = source, .tag = tag, .bytes = bytes};
    location_put_message(call->location, RECORD_RECEIVE, call->function, comm, &record);
}

void message_received(struct call *call, uint32_t comm, const MPI_Status *status)
{
    if (status->MPI_SOURCE != MPI_PROC_NULL)
        message_put_receive(call, comm, status->MPI_SOURCE, status->MPI_TAG, status_bytes(status));
}

void message_receive_failed(struct call *call, uint32_t comm, const MPI_Status *status, int outcome)
{
    /* The message arrived, if too long for the buffer: it must have its receive, or the send would look unmatched. */
    if (message_truncated(outcome))
        message_received(call, comm, status);
}

void message_exchange_failed(struct call *call, const MPI_Status *status, int outcome)
{
    message_receive_failed(call, call->comm, status, outcome);
    if (!message_truncated(outcome))
        message_void(call);
}

MPI_Status *message_status(struct call *call, MPI_Status *status)
{
    return status == MPI_STATUS_IGNORE ? &call->status : status;
}
