/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/requests.h"

#include "core/payload.h"
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
    uint32_t number; /* its place in the pool, from 1 */
    bool collective, receive, persistent, active, cancelled;
    bool told; /* the call that made it is recorded, with its number */
};

/* Numbers are given again, the lowest first: what is posted and completed together has numbers in a row. */
enum { POOL_BLOCK = 64 };
struct pool_block {
    uint64_t free; /* bits */
    struct request requests[POOL_BLOCK];
};

static struct {
    pthread_mutex_t lock;
    struct table by_handle; /* -> address of the request */
    struct pool_block **blocks;
    uint32_t block_count;
    uint32_t first_free; /* no block before has room */
} requests = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Requests of a call that are not recorded yet. */
struct told {
    uint32_t first, count;
};

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

static bool pool_grow(void)
{
    struct pool_block **larger = realloc(requests.blocks, (requests.block_count + 1) * sizeof(struct pool_block *));
    if (!larger)
        return false;
    requests.blocks = larger;
    struct pool_block *block = calloc(1, sizeof *block);
    if (!block)
        return false;
    block->free = UINT64_MAX;
    for (uint32_t i = 0; i < POOL_BLOCK; i++)
        block->requests[i].number = requests.block_count * POOL_BLOCK + i + 1;
    requests.blocks[requests.block_count++] = block;
    return true;
}

static struct request *request_new(void)
{
    while (requests.first_free < requests.block_count && !requests.blocks[requests.first_free]->free)
        requests.first_free++;
    if (requests.first_free == requests.block_count && !pool_grow())
        return NULL;
    struct pool_block *block = requests.blocks[requests.first_free];
    struct request *request = &block->requests[__builtin_ctzll(block->free)];
    block->free &= block->free - 1;
    return request;
}

static void request_drop(uintptr_t handle, const struct request *request)
{
    uint32_t place = request->number - 1;
    table_remove(&requests.by_handle, handle);
    requests.blocks[place / POOL_BLOCK]->free |= UINT64_C(1) << place % POOL_BLOCK;
    if (place / POOL_BLOCK < requests.first_free)
        requests.first_free = place / POOL_BLOCK;
}

static void told_end(struct call *call, struct told *told)
{
    if (told->count > 0)
        lane_put_requests(call->lane, told->first, told->count);
    told->count = 0;
}

static void tell(struct call *call, struct told *told, const struct request *request)
{
    if (!call->write || !request->told)
        return;
    if (told->count == REQUESTS_AT_ONCE_MAX || request->number != told->first + told->count)
        told_end(call, told);
    if (told->count++ == 0)
        told->first = request->number;
}

/* Sends that are complete at once may share one handle: the latest stands for all. */
static void request_add(struct call *call, const MPI_Request *handle, const struct request *facts)
{
    if (*handle == MPI_REQUEST_NULL)
        return;
    struct told told = {0};
    requests_lock();
    struct request *request = request_find(HANDLE_NUMBER(*handle));
    if (!request && (request = request_new())) {
        uint64_t *value = table_put(&requests.by_handle, HANDLE_NUMBER(*handle));
        if (value)
            *value = (uintptr_t)request;
    }
    if (request) {
        uint32_t number = request->number;
        *request = *facts;
        request->number = number;
        request->told = call->write;
        tell(call, &told, request);
    }
    requests_unlock();
    told_end(call, &told);
}

void request_of_send(struct call *call, const MPI_Request *request)
{
    if (call->send_at)
        request_add(call, request, &(struct request){.lane = call->lane, .send_at = call->send_at, .active = true});
}

void request_of_receive(struct call *call, const MPI_Request *request, int source, uint32_t comm)
{
    if (source != MPI_PROC_NULL && comm != RECORD_COMM_NONE)
        request_add(call, request, &(struct request){.receive = true, .active = true, .comm = comm});
}

void request_of_persistent_send(struct call *call, const MPI_Request *request, uint64_t bytes, int dest, int tag)
{
    if (dest != MPI_PROC_NULL)
        request_add(
            call, request,
            &(struct request){.persistent = true, .bytes = bytes, .dest = dest, .tag = tag, .comm = call->comm});
}

void request_of_persistent_receive(struct call *call, const MPI_Request *request, int source)
{
    if (source != MPI_PROC_NULL)
        request_add(call, request, &(struct request){.persistent = true, .receive = true, .comm = call->comm});
}

void request_of_collective(struct call *call, const MPI_Request *handle, bool persistent)
{
    request_add(call, handle, &(struct request){.collective = true, .persistent = persistent, .active = !persistent});
}

void requests_start(struct call *call, int count, const MPI_Request *handles)
{
    struct told told = {0};
    requests_lock();
    for (int i = 0; i < count; i++) {
        struct request *request = request_find(HANDLE_NUMBER(handles[i]));
        if (!request || !request->persistent)
            continue;
        request->active = true;
        request->cancelled = false;
        request->lane = call->lane;
        if (!request->receive && !request->collective)
            request->send_at = message_put_send(call, request->bytes, request->dest, request->tag, request->comm);
        tell(call, &told, request);
    }
    requests_unlock();
    told_end(call, &told);
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
static void request_ended(struct call *call, uintptr_t handle, const MPI_Status *status, struct told *told)
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
    if (!cancelled)
        tell(call, told, &facts);
    if (facts.receive && !cancelled)
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
    struct told told = {0};
    if (call->requests && index != MPI_UNDEFINED)
        request_ended(call, call->requests[index], status, &told);
    told_end(call, &told);
}

void request_complete_one(struct call *call, const MPI_Status *status)
{
    struct told told = {0};
    request_ended(call, call->request, status, &told);
    told_end(call, &told);
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
    struct told told = {0};
    if (!statuses_tell(call, statuses, result))
        return;
    for (int i = 0; i < count; i++)
        if (status_good(&statuses[i], result))
            request_ended(call, call->requests[i], &statuses[i], &told);
    told_end(call, &told);
}

void requests_complete_some(struct call *call, int count, const int *indices, const MPI_Status *statuses, int result)
{
    struct told told = {0};
    if (!statuses_tell(call, statuses, result) || count == MPI_UNDEFINED)
        return;
    for (int i = 0; i < count; i++)
        if (status_good(&statuses[i], result))
            request_ended(call, call->requests[indices[i]], &statuses[i], &told);
    told_end(call, &told);
}
