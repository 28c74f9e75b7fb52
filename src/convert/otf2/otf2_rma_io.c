/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/otf2_events.h"

/* The number that the steps of an operation share. The library gives all ones for none; 0 is legal, but means none
   here: the steps of that one operation are not linked. */
static void set_match(struct event *event, uint64_t match)
{
    event->request = match == UINT64_MAX ? 0 : match;
    event->requests = event->request != 0;
}

/* One-sided operations */

/* OTF2 records the steps of an operation as records of their own (manual, "RMA"); our graph looks at the call that
   started it. So a step is an event, and what it says of window, target and bytes also goes onto the leave of the MPI
   call that is open. */
static void one_sided(struct otf2_location *location, OTF2_TimeStamp time, enum rma_step step, OTF2_RmaWinRef id,
                      uint32_t remote, uint64_t sent, uint64_t received, uint64_t match)
{
    uint32_t index = otf2_index(&location->otf2->window_ids, id);
    struct event *event = otf2_push(location, time, EVENT_RMA, 0);
    event->value = step;
    set_match(event, match);
    event->bytes_sent = otf2_bytes(sent);
    event->bytes_received = otf2_bytes(received);
    location->undefined += index == OTF2_NONE;
    if (index == OTF2_NONE || location->otf2->window[index].window == EVENT_UNKNOWN)
        return;
    event->comm = location->otf2->window[index].window;
    if (remote != UINT32_MAX)
        event->partner = defs_world_rank(location->otf2->defs, event->comm, (int32_t)remote);
    struct otf2_call *call = &location->call;
    /* MPI_Win_create is a call on the communicator below the window: that one stays on its leave. */
    if (!call->open || step == RMA_WINDOW_MADE)
        return;
    call->comm = event->comm;
    /* Steps that complete or synchronise have no bytes of their own, and would erase those of the operation. */
    if (step != RMA_PUT && step != RMA_GET && step != RMA_ATOMIC)
        return;
    call->moved = true;
    call->root = remote <= INT32_MAX ? (int32_t)remote : EVENT_UNKNOWN;
    call->sent = event->bytes_sent;
    call->received = event->bytes_received;
}

/* The library wants a function with its own prototype for each kind of record; they differ in nothing else. Beyond the
   largest int64 a size is unknown (otf2_bytes). */
#define UNUSED __attribute__((unused))
#define NO_BYTES UINT64_MAX
#define ON_RMA(name, step, arguments, remote, sent, received, match)                                                   \
    static OTF2_CallbackCode on_##name(EVENT_ARGUMENTS, OTF2_RmaWinRef window RMA_ARGUMENTS arguments)                 \
    {                                                                                                                  \
        BEGIN;                                                                                                         \
        one_sided(location, time, step, window, remote, sent, received, match);                                        \
        return OTF2_CALLBACK_SUCCESS;                                                                                  \
    }
#define RMA_ARGUMENTS(...) __VA_OPT__(, ) __VA_ARGS__
ON_RMA(window_made, RMA_WINDOW_MADE, (), UINT32_MAX, NO_BYTES, NO_BYTES, UINT64_MAX)
ON_RMA(window_freed, RMA_WINDOW_FREED, (), UINT32_MAX, NO_BYTES, NO_BYTES, UINT64_MAX)
ON_RMA(put, RMA_PUT, (uint32_t remote, uint64_t bytes, uint64_t match), remote, bytes, 0, match)
ON_RMA(get, RMA_GET, (uint32_t remote, uint64_t bytes, uint64_t match), remote, 0, bytes, match)
ON_RMA(rma_done, RMA_COMPLETE, (uint64_t match), UINT32_MAX, NO_BYTES, NO_BYTES, match)
ON_RMA(rma_remote, RMA_REMOTE, (uint64_t match), UINT32_MAX, NO_BYTES, NO_BYTES, match)
ON_RMA(unlock, RMA_UNLOCK, (uint32_t remote, uint64_t lock), remote, NO_BYTES, NO_BYTES, lock)
ON_RMA(wait_change, RMA_WAIT, (), UINT32_MAX, NO_BYTES, NO_BYTES, UINT64_MAX)
ON_RMA(atomic, RMA_ATOMIC,
       (uint32_t remote, OTF2_RmaAtomicType type UNUSED, uint64_t sent, uint64_t received, uint64_t match), remote,
       sent, received, match)
ON_RMA(lock_asked, RMA_REQUEST_LOCK, (uint32_t remote, uint64_t lock, OTF2_LockType type UNUSED), remote, NO_BYTES,
       NO_BYTES, lock)
ON_RMA(lock, RMA_LOCK, (uint32_t remote, uint64_t lock, OTF2_LockType type UNUSED), remote, NO_BYTES, NO_BYTES, lock)
ON_RMA(sync, RMA_SYNC, (uint32_t remote, OTF2_RmaSyncType type UNUSED), remote, NO_BYTES, NO_BYTES, UINT64_MAX)

/* These two name the window after their other arguments. */

static OTF2_CallbackCode on_group_sync(EVENT_ARGUMENTS, OTF2_RmaSyncLevel level UNUSED, OTF2_RmaWinRef window,
                                       OTF2_GroupRef group UNUSED)
{
    BEGIN;
    one_sided(location, time, RMA_SYNC, window, UINT32_MAX, NO_BYTES, NO_BYTES, UINT64_MAX);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_rma_collective(EVENT_ARGUMENTS, OTF2_CollectiveOp operation UNUSED,
                                           OTF2_RmaSyncLevel level UNUSED, OTF2_RmaWinRef window, uint32_t root UNUSED,
                                           uint64_t sent, uint64_t received)
{
    BEGIN;
    one_sided(location, time, RMA_SYNC, window, UINT32_MAX, sent, received, UINT64_MAX);
    return OTF2_CALLBACK_SUCCESS;
}

/* Files */

static struct event *file_event(struct otf2_location *location, OTF2_TimeStamp time, OTF2_IoHandleRef handle,
                                enum io_step step, uint64_t match)
{
    uint32_t index = otf2_index(&location->otf2->handle_ids, handle);
    location->undefined += index == OTF2_NONE;
    if (index == OTF2_NONE)
        return NULL;
    struct event *event = otf2_push(location, time, EVENT_IO, location->otf2->handles[index]);
    event->value = step;
    set_match(event, match);
    return event;
}

/* Flushes move no bytes that anybody counts: theirs stay unknown. */
static void set_bytes(struct event *event, OTF2_IoOperationMode mode, uint64_t bytes)
{
    if (mode == OTF2_IO_OPERATION_MODE_READ)
        event->bytes_received = otf2_bytes(bytes);
    else if (mode == OTF2_IO_OPERATION_MODE_WRITE)
        event->bytes_sent = otf2_bytes(bytes);
}

static OTF2_CallbackCode on_open(EVENT_ARGUMENTS, OTF2_IoHandleRef handle, OTF2_IoAccessMode mode UNUSED,
                                 OTF2_IoCreationFlag creation UNUSED, OTF2_IoStatusFlag flags UNUSED)
{
    BEGIN;
    file_event(location, time, handle, IO_OPEN, UINT64_MAX);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_close(EVENT_ARGUMENTS, OTF2_IoHandleRef handle)
{
    BEGIN;
    file_event(location, time, handle, IO_CLOSE, UINT64_MAX);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_seek(EVENT_ARGUMENTS, OTF2_IoHandleRef handle, int64_t wanted UNUSED,
                                 OTF2_IoSeekOption from UNUSED, uint64_t offset UNUSED)
{
    BEGIN;
    file_event(location, time, handle, IO_SEEK, UINT64_MAX);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_io_begin(EVENT_ARGUMENTS, OTF2_IoHandleRef handle, OTF2_IoOperationMode mode,
                                     OTF2_IoOperationFlag flags, uint64_t bytes, uint64_t match)
{
    BEGIN;
    (void)flags;
    /* The completion does not repeat the mode: it is kept under the operation's number until then. */
    enum io_step step = IO_BEGIN_FLUSH;
    if (mode == OTF2_IO_OPERATION_MODE_READ)
        step = IO_BEGIN_READ;
    else if (mode == OTF2_IO_OPERATION_MODE_WRITE)
        step = IO_BEGIN_WRITE;
    struct event *event = file_event(location, time, handle, step, match);
    if (event)
        set_bytes(event, mode, bytes);
    if (match != UINT64_MAX)
        *map_put(&location->modes, match, 0) = mode;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_io_end(EVENT_ARGUMENTS, OTF2_IoHandleRef handle, uint64_t bytes, uint64_t match)
{
    BEGIN;
    /* A completion whose begin is missing (recording was off then) is neither read nor write. */
    const uint64_t *begun = match == UINT64_MAX ? NULL : map_find(&location->modes, match);
    OTF2_IoOperationMode mode = OTF2_IO_OPERATION_MODE_FLUSH;
    enum io_step step = IO_FLUSH;
    if (begun)
        mode = (OTF2_IoOperationMode)*begun;
    if (!begun)
        step = IO_OTHER;
    else if (mode == OTF2_IO_OPERATION_MODE_READ)
        step = IO_READ;
    else if (mode == OTF2_IO_OPERATION_MODE_WRITE)
        step = IO_WRITE;
    struct event *event = file_event(location, time, handle, step, match);
    if (event)
        set_bytes(event, mode, bytes);
    if (event && location->call.open) {
        location->call.moved = true;
        location->call.sent = event->bytes_sent;
        location->call.received = event->bytes_received;
    }
    if (begun)
        map_remove(&location->modes, match);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_io_cancelled(EVENT_ARGUMENTS, OTF2_IoHandleRef handle, uint64_t match)
{
    BEGIN;
    file_event(location, time, handle, IO_CANCEL, match);
    if (match != UINT64_MAX)
        map_remove(&location->modes, match);
    return OTF2_CALLBACK_SUCCESS;
}

/* Begins (RmaCollectiveBegin), attempts and tests (RmaTryLock, RmaOpTest, IoOperationIssued, IoOperationTest) are not
   asked for: no wait and no sum needs them. */
void otf2_set_rma_io(OTF2_EvtReaderCallbacks *callbacks)
{
    SET(RmaWinCreate, on_window_made);
    SET(RmaWinDestroy, on_window_freed);
    SET(RmaPut, on_put);
    SET(RmaGet, on_get);
    SET(RmaAtomic, on_atomic);
    SET(RmaOpCompleteBlocking, on_rma_done);
    SET(RmaOpCompleteNonBlocking, on_rma_done);
    SET(RmaOpCompleteRemote, on_rma_remote);
    SET(RmaRequestLock, on_lock_asked);
    SET(RmaAcquireLock, on_lock);
    SET(RmaReleaseLock, on_unlock);
    SET(RmaSync, on_sync);
    SET(RmaGroupSync, on_group_sync);
    SET(RmaWaitChange, on_wait_change);
    SET(RmaCollectiveEnd, on_rma_collective);
    SET(IoCreateHandle, on_open);
    SET(IoDestroyHandle, on_close);
    SET(IoSeek, on_seek);
    SET(IoOperationBegin, on_io_begin);
    SET(IoOperationComplete, on_io_end);
    SET(IoOperationCancelled, on_io_cancelled);
}
