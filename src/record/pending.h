/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_PENDING_H
#define SIGHT_RECORD_PENDING_H

#include "core/event.h"
#include "record/call.h"
#include "record/metadata.h"

/* What a call waits for, stored before it is made: if it never returns, its location's slot (struct record_pending)
   shows it. It takes a few stores into mapped memory; nothing is looked up. */

/* Only calls that are recorded have a slot. `make bench-record` builds a recorder without, to see what they cost. */
static inline bool pending_wanted(const struct call *call)
{
#ifdef RECORD_WITHOUT_PENDING
    (void)call;
    return false;
#else
    return call->write;
#endif
}

/* The empty slot for the current call; only for recorded calls. */
static inline struct record_pending *pending_begin(struct call *call, enum record_wait wait)
{
    struct record_pending *slot = call->location->pending;
    __atomic_store_n(&slot->position, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    slot->wait = wait;
    return slot;
}

static inline void pending_end(struct call *call, struct record_pending *slot)
{
    __atomic_store_n(&slot->position, location_position(call->location), __ATOMIC_RELEASE);
}

/* A receive or a probe. Before the call's own message is recorded. */
static inline void pending_message(struct call *call, enum record_wait wait, int source, int tag)
{
    if (call->write)
        metadata_note_any(call->location, source, tag);
    if (!pending_wanted(call))
        return;
    struct record_pending *slot = pending_begin(call, wait);
    slot->partner = source == MPI_ANY_SOURCE ? RECORD_ANY : source == MPI_PROC_NULL ? PARTNER_NONE : source;
    slot->tag = tag == MPI_ANY_TAG ? RECORD_ANY : tag;
    pending_end(call, slot);
}

/* A collective with a root. */
static inline void pending_root(struct call *call, int root)
{
    if (!pending_wanted(call))
        return;
    struct record_pending *slot = pending_begin(call, RECORD_WAIT_ROOT);
    slot->partner = root == MPI_ROOT ? ROOT_SELF : root == MPI_PROC_NULL ? ROOT_BESIDE : root;
    pending_end(call, slot);
}

/* Requests that the call waits for, or tests. */
static inline void pending_requests(struct call *call, enum record_wait wait, size_t count, const MPI_Request *handles)
{
    if (!pending_wanted(call))
        return;
    struct record_pending *slot = pending_begin(call, wait);
    slot->count = (uint32_t)(count < UINT32_MAX ? count : UINT32_MAX);
    size_t listed = count < RECORD_PENDING_REQUESTS ? count : RECORD_PENDING_REQUESTS;
    for (size_t i = 0; i < listed; i++)
        slot->requests[i] = HANDLE_NUMBER(handles[i]);
    pending_end(call, slot);
}

/* What the call tested has come. */
static inline void pending_forget(struct call *call)
{
    if (pending_wanted(call))
        __atomic_store_n(&call->location->pending->position, 0, __ATOMIC_RELAXED);
}

static inline void pending_abort(struct call *call, int code)
{
    if (!pending_wanted(call))
        return;
    struct record_pending *slot = pending_begin(call, RECORD_WAIT_ABORT);
    slot->tag = code;
    pending_end(call, slot);
}

#endif
