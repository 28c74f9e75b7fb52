/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/requests.h"

#include "record/messages.h"
#include "record/table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct request {
    struct lane *lane; /* a send: where its record is, */
    uint64_t send_at;  /* and at which place; 0: nowhere */
    uint64_t bytes;    /* a persistent send */
    uint32_t comm;
    int32_t dest, tag;
    uint32_t collective; /* its number among the collectives' requests; 0: it is none */
    bool receive, persistent, active, cancelled;
    struct request *next_free;
};

enum { REQUESTS_AT_ONCE = 64 };

static struct {
    pthread_mutex_t lock;
    struct table by_handle; /* -> address of the request */
    struct request *free;
    uint32_t collectives; /* requests of collectives so far */
} requests = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void requests_lock(void)
{
    if (recorder.threaded)
        pthread_mutex_lock(&requests.lock);
}

static void requests_unlock(void)
{
    if (recorder.threaded)
        pthread_mutex_unlock(&requests.lock);
}

static struct request *request_find(uintptr_t handle)
{
    const uint64_t *value = table_find(&requests.by_handle, handle);
    return value ? (struct request *)(uintptr_t)*value : NULL;
}

static struct request *request_new(void)
{
    if (!requests.free) {
        struct request *block = calloc(REQUESTS_AT_ONCE, sizeof *block);
        for (size_t i = 0; block && i < REQUESTS_AT_ONCE; i++) {
            block[i].next_free = requests.free;
            requests.free = &block[i];
        }
    }
    struct request *request = requests.free;
    if (request)
        requests.free = request->next_free;
    return request;
}

static void request_drop(uintptr_t handle, struct request *request)
{
    table_remove(&requests.by_handle, handle);
    request->next_free = requests.free;
    requests.free = request;
}

/* Sends that are complete at once may share one handle: the latest stands for all. */
static void request_add(const MPI_Request *handle, const struct request *facts)
{
    if (*handle == MPI_REQUEST_NULL)
        return;
    requests_lock();
    struct request *request = request_find(HANDLE_NUMBER(*handle));
    if (!request && (request = request_new())) {
        uint64_t *value = table_put(&requests.by_handle, HANDLE_NUMBER(*handle));
        if (value)
            *value = (uintptr_t)request;
    }
    if (request)
        *request = *facts;
    requests_unlock();
}

void request_of_send(struct call *call, const MPI_Request *request)
{
    if (call->send_at)
        request_add(request, &(struct request){.lane = call->lane, .send_at = call->send_at, .active = true});
}

void request_of_receive(struct call *call, const MPI_Request *request, int source, uint32_t comm)
{
    (void)call;
    if (source != MPI_PROC_NULL && comm != RECORD_COMM_NONE)
        request_add(request, &(struct request){.receive = true, .active = true, .comm = comm});
}

void request_of_persistent_send(struct call *call, const MPI_Request *request, uint64_t bytes, int dest, int tag)
{
    if (dest != MPI_PROC_NULL)
        request_add(request, &(struct request){
                                 .persistent = true, .bytes = bytes, .dest = dest, .tag = tag, .comm = call->comm});
}

void request_of_persistent_receive(struct call *call, const MPI_Request *request, int source)
{
    if (source != MPI_PROC_NULL)
        request_add(request, &(struct request){.persistent = true, .receive = true, .comm = call->comm});
}

static void put_collective(struct call *call, int64_t ticks, uint32_t number)
{
    if (call->write)
        lane_put(call->lane, RECORD_REQUEST, ticks, call->function, number);
}

void request_of_collective(struct call *call, const MPI_Request *handle, bool persistent)
{
    requests_lock();
    uint32_t number = ++requests.collectives;
    requests_unlock();
    request_add(handle, &(struct request){.collective = number, .persistent = persistent, .active = !persistent});
    put_collective(call, call_end(call), number);
}

void requests_start(struct call *call, int count, const MPI_Request *handles)
{
    requests_lock();
    for (int i = 0; i < count; i++) {
        struct request *request = request_find(HANDLE_NUMBER(handles[i]));
        if (!request || !request->persistent)
            continue;
        request->active = true;
        request->cancelled = false;
        request->lane = call->lane;
        if (request->collective)
            put_collective(call, call->enter_ticks, request->collective);
        else if (!request->receive)
            request->send_at = message_put_send(call, request->bytes, request->dest, request->tag, request->comm);
    }
    requests_unlock();
}

void request_cancel(const MPI_Request *handle)
{
    requests_lock();
    struct request *request = request_find(HANDLE_NUMBER(*handle));
    if (request)
        request->cancelled = true;
    requests_unlock();
}

void request_freed(const MPI_Request *handle)
{
    requests_lock();
    struct request *request = request_find(HANDLE_NUMBER(*handle));
    if (request)
        request_drop(HANDLE_NUMBER(*handle), request);
    requests_unlock();
}

/* What a completed request was: a receive to be recorded, or a send that came to nothing. */
static void request_ended(struct call *call, uintptr_t handle, const MPI_Status *status)
{
    requests_lock();
    struct request *request = request_find(handle);
    if (!request || !request->active) {
        requests_unlock();
        return;
    }
    struct request facts = *request;
    request->active = false;
    if (!request->persistent)
        request_drop(handle, request);
    requests_unlock();
    int cancelled = 0;
    if (facts.cancelled)
        PMPI_Test_cancelled(status, &cancelled);
    if (facts.collective)
        put_collective(call, call_end(call), facts.collective);
    else if (facts.receive && !cancelled)
        message_received(call, facts.comm, status);
    else if (cancelled && facts.send_at)
        lane_void(facts.lane, facts.send_at);
}

MPI_Status *request_remember(struct call *call, const MPI_Request *request, MPI_Status *status)
{
    call->request = HANDLE_NUMBER(*request);
    return message_status(call, status);
}

MPI_Status *requests_remember(struct call *call, int count, const MPI_Request *handles, MPI_Status *statuses)
{
    size_t number = count > 0 ? (size_t)count : 0;
    bool own = statuses == MPI_STATUSES_IGNORE;
    unsigned char *scratch =
        lane_scratch(call->lane, number * (sizeof *call->requests + (own ? sizeof *statuses : 0)) + 1);
    call->requests = (uintptr_t *)(void *)scratch;
    if (!scratch)
        return statuses;
    for (size_t i = 0; i < number; i++)
        call->requests[i] = HANDLE_NUMBER(handles[i]);
    return own ? (MPI_Status *)(void *)(scratch + number * sizeof *call->requests) : statuses;
}

void request_complete(struct call *call, int index, const MPI_Status *status)
{
    if (call->requests && index != MPI_UNDEFINED)
        request_ended(call, call->requests[index], status);
}

void request_complete_one(struct call *call, const MPI_Status *status)
{
    request_ended(call, call->request, status);
}

/* After MPI_ERR_IN_STATUS the statuses tell which requests are complete; after other errors nothing does. */
static bool statuses_tell(const struct call *call, const MPI_Status *statuses, int result)
{
    int class = result;
    if (result != MPI_SUCCESS)
        PMPI_Error_class(result, &class);
    return call->requests && statuses != MPI_STATUSES_IGNORE && (class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS);
}

static bool status_good(const MPI_Status *status, int result)
{
    return result == MPI_SUCCESS || status->MPI_ERROR == MPI_SUCCESS;
}

void requests_complete(struct call *call, int count, const MPI_Status *statuses, int result)
{
    if (!statuses_tell(call, statuses, result))
        return;
    for (int i = 0; i < count; i++)
        if (status_good(&statuses[i], result))
            request_ended(call, call->requests[i], &statuses[i]);
}

void requests_complete_some(struct call *call, int count, const int *indices, const MPI_Status *statuses, int result)
{
    if (!statuses_tell(call, statuses, result) || count == MPI_UNDEFINED)
        return;
    for (int i = 0; i < count; i++)
        if (status_good(&statuses[i], result))
            request_ended(call, call->requests[indices[i]], &statuses[i]);
}
