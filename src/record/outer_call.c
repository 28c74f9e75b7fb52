/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/outer_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct outer_call {
    struct open_call open;
    void *scratch; /* its own: an inner call needs another one */
    size_t scratch_size;
    struct freed_handle freeing;
    struct record_pending pending; /* what it waits for: inner calls overwrite the slot */
    struct outer_call *outer;
};

/* Whoever reads the slot meanwhile finds that of one call or none. */
static void pending_store(struct record_pending *slot, const struct record_pending *pending)
{
    const size_t first = sizeof slot->position;
    __atomic_store_n(&slot->position, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memcpy((char *)slot + first, (const char *)pending + first, sizeof *slot - first);
    __atomic_store_n(&slot->position, pending->position, __ATOMIC_RELEASE);
}

bool outer_call_keep(struct location *location)
{
    int before = errno;
    struct outer_call *outer = malloc(sizeof *outer);
    errno = before;
    if (!outer)
        return false;
    *outer = (struct outer_call){.open = location->open,
                                 .scratch = location->scratch,
                                 .scratch_size = location->scratch_size,
                                 .freeing = location->freeing,
                                 .pending = *location->pending,
                                 .outer = location->outer};
    location->scratch = NULL;
    location->scratch_size = 0;
    location->open.frame = NULL;
    location->outer = outer;
    return true;
}

void outer_call_resume(struct location *location)
{
    struct outer_call *outer = location->outer;
    free(location->scratch);
    location->scratch = outer->scratch;
    location->scratch_size = outer->scratch_size;
    location->open = outer->open;
    location->freeing = outer->freeing;
    pending_store(location->pending, &outer->pending);
    location->outer = outer->outer;
    free(outer);
}
