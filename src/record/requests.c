/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/requests.h"

#include "core/payload.h"
#include "record/messages.h"
#include "record/pending.h"
#include "record/request_table.h"
#include "record/table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Numbers are reused, the lowest first: requests posted and completed together have consecutive numbers, which one
   record names as a range. The blocks are mapped from a file, so that other processes can see what is pending. */
enum { POOL_BLOCK = RECORD_REQUESTS_BLOCK };
struct pool_block {
    uint64_t free; /* bits */
    struct record_request *requests;
};

static struct {
    pthread_mutex_t lock;
    struct table by_handle; /* -> address of the request */
    struct pool_block *blocks;
    uint32_t block_count;
    uint32_t first_free; /* no block before has room */
} requests = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Requests of a call that are not recorded yet. */
struct range {
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

static struct record_request *request_find(uintptr_t handle)
{
    const uint64_t *value = table_find(&requests.by_handle, handle);
    return value ? (struct record_request *)(uintptr_t)*value : NULL;
}

static bool pool_grow(void)
{
    struct pool_block *larger = realloc(requests.blocks, (requests.block_count + 1) * sizeof *larger);
    if (!larger)
        return false;
    requests.blocks = larger;
    struct record_request *block = request_table_page(requests.block_count);
    if (!block)
        block = calloc(POOL_BLOCK, sizeof *block);
    if (!block)
        return false;
    for (uint32_t i = 0; i < POOL_BLOCK; i++)
        block[i].number = requests.block_count * POOL_BLOCK + i + 1;
    requests.blocks[requests.block_count++] = (struct pool_block){.free = UINT64_MAX, .requests = block};
    return true;
}

static struct record_request *request_new(void)
{
    while (requests.first_free < requests.block_count && !requests.blocks[requests.first_free].free)
        requests.first_free++;
    if (requests.first_free == requests.block_count && !pool_grow())
        return NULL;
    struct pool_block *block = &requests.blocks[requests.first_free];
    /* The lowest bit that is set: the lowest free number. */
    struct record_request *request = &block->requests[__builtin_ctzll(block->free)];
    block->free &= block->free - 1;
    return request;
}

static void slot_free(struct record_request *request)
{
    uint32_t place = request->number - 1;
    request->active = 0;
    requests.blocks[place / POOL_BLOCK].free |= UINT64_C(1) << place % POOL_BLOCK;
    if (place / POOL_BLOCK < requests.first_free)
        requests.first_free = place / POOL_BLOCK;
}

/* Forgets the handle, unless it stands for a newer request: MPI gives freed handles to new requests at once. */
static void handle_drop(const struct record_request *request)
{
    if (request_find(request->handle) == request)
        table_remove(&requests.by_handle, request->handle);
}

static void request_drop(struct record_request *request)
{
    handle_drop(request);
    slot_free(request);
}

static void range_end(struct call *call, struct range *range)
{
    if (range->count > 0)
        location_put_requests(call->location, range->first, range->count);
    range->count = 0;
}

static void range_add(struct call *call, struct range *range, const struct record_request *request)
{
    if (!call->write || !request->is_recorded)
        return;
    /* A gap: what was collected is written, and a new range begins. */
    if (range->count == REQUESTS_AT_ONCE_MAX || request->number != range->first + range->count)
        range_end(call, range);
    if (range->count++ == 0)
        range->first = request->number;
}

/* The request for a new handle. Sends that complete at once may share one handle: the latest represents all. One in use
   by a call stays unchanged until that call has ended. */
static struct record_request *request_for(uintptr_t handle)
{
    struct record_request *request = request_find(handle);
    if (request && !request->held)
        return request;
    if ((request = request_new())) {
        uint64_t *value = table_put(&requests.by_handle, handle);
        if (value)
            *value = (uintptr_t)request;
    }
    return request;
}

static void request_add(struct call *call, const MPI_Request *handle, const struct record_request *facts)
{
    if (*handle == MPI_REQUEST_NULL)
        return;
    struct range range = {0};
    /* location_put_requests is outside the lock: writing a block to disk must not stop the other threads. */
    requests_lock();
    struct record_request *request = request_for(HANDLE_NUMBER(*handle));
    if (request) {
        /* Everything but its number and handle is new: the slot was another request's. */
        uint32_t number = request->number;
        *request = *facts;
        request->handle = HANDLE_NUMBER(*handle);
        request->number = number;
        request->function = (uint16_t)call->function;
        request->is_recorded = call->write;
        range_add(call, &range, request);
    }
    requests_unlock();
    range_end(call, &range);
}

/* The values of the table: each MPI has different numbers for "any". */
static int32_t known_source(int source)
{
    return source == MPI_ANY_SOURCE ? RECORD_ANY : source;
}

static int32_t known_tag(int tag)
{
    return tag == MPI_ANY_TAG ? RECORD_ANY : tag;
}

void request_of_send(struct call *call, const MPI_Request *request, int dest, int tag)
{
    if (call->send_at)
        request_add(call, request,
                    &(struct record_request){.location = (uintptr_t)call->location,
                                             .send_at = call->send_at,
                                             .active = true,
                                             .comm = call->comm,
                                             .partner = dest,
                                             .tag = tag});
}

void request_of_receive(struct call *call, const MPI_Request *request, int source, int tag)
{
    if (call->write)
        metadata_note_any(call->location, source, tag);
    if (source != MPI_PROC_NULL)
        request_add(call, request,
                    &(struct record_request){.receive = true,
                                             .active = true,
                                             .comm = call->comm,
                                             .partner = known_source(source),
                                             .tag = known_tag(tag)});
}

void request_of_matched(struct call *call, const MPI_Request *request)
{
    if (call->matched_comm != RECORD_COMM_NONE)
        request_add(call, request,
                    &(struct record_request){.receive = true,
                                             .active = true,
                                             .comm = call->matched_comm,
                                             .partner = RECORD_NOT_KNOWN,
                                             .tag = RECORD_NOT_KNOWN});
}

void request_of_message(struct call *call, const MPI_Message *message, const MPI_Status *status)
{
    if (status->MPI_SOURCE == MPI_PROC_NULL)
        return;
    requests_lock();
    struct record_request *request = request_for(HANDLE_NUMBER(*message));
    if (request) {
        uint32_t number = request->number;
        *request = (struct record_request){.handle = HANDLE_NUMBER(*message),
                                           .number = number,
                                           .function = (uint16_t)call->function,
                                           .comm = call->comm,
                                           .partner = status->MPI_SOURCE,
                                           .tag = status->MPI_TAG,
                                           .receive = true,
                                           .message = true,
                                           .active = true};
    }
    requests_unlock();
}

/* Another thread may receive it than the one that found it. */
void request_take_message(struct call *call, const MPI_Message *message)
{
    call->matched_comm = RECORD_COMM_NONE;
    if (!message)
        return;
    requests_lock();
    struct record_request *request = request_find(HANDLE_NUMBER(*message));
    if (request && request->message) {
        call->matched_comm = request->comm;
        request_drop(request);
    }
    requests_unlock();
}

void request_of_exchange(struct call *call, const MPI_Request *request, int source, int tag, uint64_t bytes)
{
    if (source != MPI_PROC_NULL)
        request_add(call, request,
                    &(struct record_request){.receive = true,
                                             .exchange = true,
                                             .active = true,
                                             .partner = known_source(source),
                                             .tag = known_tag(tag),
                                             .bytes = bytes,
                                             .comm = call->comm});
}

void request_of_persistent_send(struct call *call, const MPI_Request *request, uint64_t bytes, int dest, int tag)
{
    if (dest != MPI_PROC_NULL)
        request_add(call, request,
                    &(struct record_request){
                        .persistent = true, .bytes = bytes, .partner = dest, .tag = tag, .comm = call->comm});
}

void request_of_partitioned_send(struct call *call, const MPI_Request *request, int partitions, uint64_t bytes,
                                 int dest, int tag)
{
    bool counted = partitions > 0 && partitions <= UINT16_MAX;
    if (dest != MPI_PROC_NULL)
        request_add(call, request,
                    &(struct record_request){.persistent = true,
                                             .bytes = bytes,
                                             .partner = dest,
                                             .tag = tag,
                                             .comm = call->comm,
                                             .partitions = counted ? (uint16_t)partitions : 0,
                                             .threads = recorder.threaded});
}

void request_ready(MPI_Request handle, int64_t partitions)
{
    requests_lock();
    struct record_request *request = request_find(HANDLE_NUMBER(handle));
    if (request && request->partitions > 0) {
        int64_t ready = request->ready + partitions;
        /* A program that marks parts twice is wrong: what it counts up to must not be, too. */
        if (ready > request->partitions)
            ready = request->partitions;
        request->ready = ready > 0 ? (uint16_t)ready : 0;
    }
    requests_unlock();
}

void request_of_persistent_receive(struct call *call, const MPI_Request *request, int source, int tag)
{
    if (source != MPI_PROC_NULL)
        request_add(call, request,
                    &(struct record_request){.persistent = true,
                                             .receive = true,
                                             .comm = call->comm,
                                             .partner = known_source(source),
                                             .tag = known_tag(tag)});
}

void request_of_collective(struct call *call, const MPI_Request *handle, bool persistent)
{
    request_add(call, handle,
                &(struct record_request){
                    .collective = true, .persistent = persistent, .active = !persistent, .comm = call->comm});
}

/* For a call that starts it. Held: a successful start may change the handle, and another thread get the old one. */
static struct request_start request_start(struct call *call, uintptr_t handle)
{
    struct record_request *request = request_find(handle);
    if (!request || !request->persistent)
        return (struct request_start){.request = NULL};
    struct request_start start = {.request = request, .before = *request};
    request->active = request->held = true;
    request->cancelled = false;
    request->ready = 0;
    request->location = (uintptr_t)call->location;
    if (!request->receive && !request->collective)
        /* Each start sends a message of its own. */
        request->send_at = message_put_send(call, request->bytes, request->partner, request->tag, request->comm);
    return start;
}

void requests_start(struct call *call, int count, const MPI_Request *handles)
{
    size_t number = count > 0 && handles ? (size_t)count : 0;
    call->starts = location_scratch(call->location, number * sizeof *call->starts + 1);
    call->start_count = call->starts ? number : 0;
    requests_lock();
    for (size_t i = 0; i < call->start_count; i++)
        call->starts[i] = request_start(call, HANDLE_NUMBER(handles[i]));
    requests_unlock();
    call->location->open.started = call->start_count;
}

/* Open MPI replaces a request of which it still sends the last message. */
static void handle_move(struct record_request *request, uintptr_t handle)
{
    if (request->handle == handle)
        return;
    handle_drop(request);
    request->handle = handle;
    uint64_t *value = table_put(&requests.by_handle, handle);
    if (value)
        *value = (uintptr_t)request;
}

void requests_started(struct call *call, const MPI_Request *handles)
{
    struct range range = {0};
    call->location->open.started = 0;
    requests_lock();
    for (size_t i = 0; i < call->start_count; i++) {
        struct request_start *start = &call->starts[i];
        if (!start->request)
            continue;
        handle_move(start->request, HANDLE_NUMBER(handles[i]));
        start->request->held = start->before.held;
        range_add(call, &range, start->request);
    }
    requests_unlock();
    range_end(call, &range);
}

void requests_not_started(struct call *call)
{
    call->location->open.started = 0;
    requests_lock();
    /* The last first: a request may be there twice. */
    for (size_t i = call->start_count; i-- > 0;) {
        const struct request_start *start = &call->starts[i];
        if (!start->request)
            continue;
        if (start->request->send_at != start->before.send_at)
            location_void(call->location, start->request->send_at);
        *start->request = start->before;
    }
    requests_unlock();
}

void request_cancel(const MPI_Request *handle)
{
    requests_lock();
    struct record_request *request = handle ? request_find(HANDLE_NUMBER(*handle)) : NULL;
    if (request)
        request->cancelled = true;
    requests_unlock();
}

/* Its outcome will never be known. A send that was to be cancelled does not count as arrived. */
void request_freed(const MPI_Request *handle)
{
    struct record_request facts = {0};
    requests_lock();
    struct record_request *request = handle ? request_find(HANDLE_NUMBER(*handle)) : NULL;
    if (request) {
        facts = *request;
        if (request->held)
            handle_drop(request);
        else
            request_drop(request);
    }
    requests_unlock();
    if (facts.active && facts.cancelled && facts.send_at)
        location_void((struct location *)(uintptr_t)facts.location, facts.send_at);
}

/* For a call that may complete it; NULL if it is not tracked, or another argument of the call has it.
   Held: another thread that completes the same request in the meantime would free the slot under this call. */
static struct record_request *request_hold(uintptr_t handle)
{
    struct record_request *request = request_find(handle);
    if (!request || !request->active || request->held)
        return NULL;
    request->held = true;
    return request;
}

/* The array has room for `size` more bytes after the requests. */
static unsigned char *remember(struct call *call, int count, const MPI_Request *handles, size_t size,
                               enum record_wait wait)
{
    size_t number = count > 0 && handles ? (size_t)count : 0;
    /* One more byte, so that the size is never 0: NULL means that there is no memory. */
    call->requests = location_scratch(call->location, number * sizeof *call->requests + size + 1);
    call->request_count = call->requests ? number : 0;
    requests_lock();
    for (size_t i = 0; i < call->request_count; i++)
        call->requests[i] = request_hold(HANDLE_NUMBER(handles[i]));
    requests_unlock();
    call->location->open.held = call->request_count;
    pending_requests(call, wait, call->request_count, handles);
    return call->requests ? (unsigned char *)(call->requests + number) : NULL;
}

void requests_remember(struct call *call, int count, const MPI_Request *handles, enum record_wait wait)
{
    remember(call, count, handles, 0, wait);
}

MPI_Status *requests_remember_all(struct call *call, int count, const MPI_Request *handles, MPI_Status *statuses,
                                  enum record_wait wait)
{
    bool own = statuses == MPI_STATUSES_IGNORE && count > 0 && handles;
    unsigned char *room = remember(call, count, handles, own ? (size_t)count * sizeof *statuses : 0, wait);
    return own && room ? (MPI_Status *)(void *)room : statuses;
}

void requests_release(struct call *call)
{
    call->location->open.held = 0;
    requests_lock();
    for (size_t i = 0; i < call->request_count; i++) {
        struct record_request *request = call->requests[i];
        if (!request)
            continue;
        request->held = false;
        /* The handle was given to a newer request while this one was held, so that nobody else frees the slot. */
        if (request_find(request->handle) != request)
            slot_free(request);
    }
    requests_unlock();
}

bool requests_known(const struct call *call, int outcome)
{
    int class = message_error_class(outcome);
    /* After any other error MPI says nothing about single requests. */
    return call->requests && (class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS || class == MPI_ERR_TRUNCATE);
}

/* What an exchange received. MPICH leaves the status of its request as it was (4.0.2): then the request's values are
   recorded, or nothing if they do not name the sender. */
static void exchange_received(struct call *call, const struct record_request *facts, const MPI_Status *status)
{
#ifdef MPICH_VERSION
    bool same = status->MPI_SOURCE == facts->partner && status->MPI_TAG == facts->tag;
    uint64_t bytes = same && status_bytes(status) < facts->bytes ? status_bytes(status) : facts->bytes;
    if (facts->partner >= 0 && facts->tag >= 0)
        message_put_receive(call, facts->comm, facts->partner, facts->tag, bytes);
#else
    message_received(call, facts->comm, status);
#endif
}

/* Handles a completed request: a receive to be recorded, or a send that did not happen. */
static void request_ended(struct call *call, size_t index, const MPI_Status *status, int error, struct range *range)
{
    struct record_request *request = call->requests[index];
    int cancelled = 0, class = message_error_class(error);
    if (!request || class == MPI_ERR_PENDING)
        return;
    requests_lock();
    /* A copy: as soon as the lock is released, another thread may use the slot again. */
    struct record_request facts = *request;
    request->active = request->held = false;
    /* Persistent requests stay for their next start. */
    if (!facts.persistent || request_find(facts.handle) != request)
        request_drop(request);
    call->requests[index] = NULL;
    requests_unlock();
    bool good = class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE;
    if (facts.cancelled && good)
        PMPI_Test_cancelled(status, &cancelled);
    if (good && !cancelled)
        range_add(call, range, &facts);
    if (facts.exchange && good && !cancelled)
        exchange_received(call, &facts, status);
    else if (facts.receive && good && !cancelled)
        message_received(call, facts.comm, status);
    else if (facts.send_at && (cancelled || !good))
        location_void((struct location *)(uintptr_t)facts.location, facts.send_at);
}

/* Each has an error of its own in its status only after MPI_ERR_IN_STATUS. */
static int error_of(const MPI_Status *status, int outcome)
{
    return message_error_class(outcome) == MPI_ERR_IN_STATUS ? status->MPI_ERROR : outcome;
}

void request_complete(struct call *call, int index, const MPI_Status *status, int outcome)
{
    struct range range = {0};
    if (index >= 0 && (size_t)index < call->request_count)
        request_ended(call, (size_t)index, status, outcome, &range);
    range_end(call, &range);
}

void requests_complete(struct call *call, const MPI_Status *statuses, int outcome)
{
    struct range range = {0};
    for (size_t i = 0; statuses != MPI_STATUSES_IGNORE && i < call->request_count; i++)
        request_ended(call, i, &statuses[i], error_of(&statuses[i], outcome), &range);
    range_end(call, &range);
}

void requests_complete_some(struct call *call, int count, const int *indices, const MPI_Status *statuses, int outcome)
{
    struct range range = {0};
    for (int i = 0; statuses != MPI_STATUSES_IGNORE && i < count; i++)
        if (indices[i] >= 0 && (size_t)indices[i] < call->request_count)
            request_ended(call, (size_t)indices[i], &statuses[i], error_of(&statuses[i], outcome), &range);
    range_end(call, &range);
}
