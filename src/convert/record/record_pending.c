/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_pending.h"

#include "core/event.h"
#include "core/memory.h"
#include "core/mpi_error.h"
#include "core/numbers.h"

#include <stdlib.h>

/* A signal that was caught, or an error that was handled, and after which recording went on, did not end the process.
 */
static bool died(const struct record_file *file)
{
    return (file->header.signal || file->header.error) && file->header.died_at >= file->last_end;
}

bool record_pending_ended(const struct record_file *file)
{
    return file->header.end == RECORD_EXITED || died(file);
}

static void add(struct record_pending_items *items, struct pending pending, uint32_t comm)
{
    struct record_pending_item item = {.pending = pending, .comm = comm};
    ARRAY_PUSH(items->items, items->count, items->capacity, item);
}

static struct pending how_it_ended(const struct record_file *file)
{
    const struct record_header *header = &file->header;
    /* An exit for an error follows it. */
    if (header->error && died(file))
        return (struct pending){.what = PENDING_ERROR,
                                .tag = mpi_error_known(header->error) ? (int32_t)header->error : 0};
    if (header->end == RECORD_EXITED)
        return (struct pending){.what = PENDING_EXIT, .tag = header->exit_code};
    if (died(file))
        return (struct pending){.what = PENDING_SIGNAL, .tag = header->signal};
    if (file->died_ns)
        return (struct pending){.what = PENDING_DIED, .tag = file->died_how};
    return (struct pending){.what = PENDING_ALIVE};
}

static struct pending of_request(const struct record_request *request, int32_t how)
{
    struct pending pending = {.what = PENDING_COLLECTIVE,
                              .partner = EVENT_UNKNOWN,
                              .tag = EVENT_UNKNOWN,
                              .how = how,
                              .request = (int32_t)request->number};
    if (request->collective)
        return pending;
    pending.what = request->receive ? PENDING_RECEIVE : PENDING_SEND;
    if (request->message)
        pending.what = PENDING_TAKEN;
    pending.partner = request->partner;
    pending.tag = request->tag;
    pending.partitions = request->partitions;
    pending.ready = request->ready;
    if (request->partitions > 0 && request->threads)
        pending.how |= PENDING_THREADS;
    return pending;
}

/* Requests that the slot lists are waited for or tested; those that are done by now are no longer there. */
static void add_requests(struct record_pending_items *items, const struct record_file *file,
                         const struct record_pending *slot, int32_t how)
{
    size_t count = file->request_count;
    struct record_request *own = file->frozen ? NULL : record_file_requests(file, &count);
    const struct record_request *requests = own ? own : file->requests;
    uint32_t listed = smaller(slot->count, RECORD_PENDING_REQUESTS);
    for (size_t i = 0; i < count; i++) {
        bool is_listed = false;
        for (uint32_t k = 0; k < listed && how && !is_listed; k++)
            is_listed = slot->requests[k] == requests[i].handle;
        add(items, of_request(&requests[i], is_listed ? how : 0), requests[i].comm);
    }
    /* The slot has room for a few handles: others are waited for, too, and nobody knows which. */
    if (how && slot->count > listed)
        add(items, (struct pending){.what = PENDING_UNKNOWN, .how = how}, RECORD_WORLD);
    free(own);
}

static const int32_t what_of_wait[RECORD_WAIT_COUNT] = {[RECORD_WAIT_RECEIVE] = PENDING_RECEIVE,
                                                        [RECORD_WAIT_PROBE] = PENDING_PROBE,
                                                        [RECORD_WAIT_ROOT] = PENDING_ROOT,
                                                        [RECORD_WAIT_ABORT] = PENDING_ABORT};

struct record_pending_items record_pending_of(const struct record_file *file, const struct record_last_call *last)
{
    struct record_pending_items items = {0};
    const struct record_pending *slot = file->pending;
    bool valid = slot && slot->position != 0 && slot->position == last->entered_at && slot->wait < RECORD_WAIT_COUNT &&
                 slot->wait != RECORD_WAIT_THREAD;
    bool requests = valid && (slot->wait == RECORD_WAIT_ALL || slot->wait == RECORD_WAIT_ANY);
    /* A slot that belongs to an earlier call than the last one is out of date. */
    int32_t how = 0;
    if (valid)
        how = last->open ? PENDING_WAITED : PENDING_TESTED;
    if (requests && slot->wait == RECORD_WAIT_ANY)
        how |= PENDING_ANY;
    add(&items, how_it_ended(file), RECORD_WORLD);
    if (slot && slot->position != 0 && slot->wait == RECORD_WAIT_THREAD && !last->open) {
        add(&items, (struct pending){.what = PENDING_THREAD, .partner = EVENT_UNKNOWN, .tag = -1}, RECORD_WORLD);
        items.items[items.count - 1].self = slot->requests[0];
    }
    if (valid && !requests)
        add(&items,
            (struct pending){.what = what_of_wait[slot->wait], .partner = slot->partner, .tag = slot->tag, .how = how},
            last->comm);
    /* Requests belong to the process: they are listed once, with its main thread, unless another thread waits for
       them. */
    if (file->header.thread == 0 || requests)
        add_requests(&items, file, slot, requests ? how : 0);
    return items;
}
