/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/event.h"

#include "core/memory.h"

#include <string.h>

void batch_set_payload(struct batch *batch, struct event *event, const void *payload, size_t length)
{
    if (length == 0)
        return;
    ARRAY_RESERVE(batch->arena, batch->arena_capacity, batch->arena_length + length);
    memcpy(batch->arena + batch->arena_length, payload, length);
    event->payload = (uint32_t)batch->arena_length;
    event->payload_length = (uint32_t)length;
    batch->arena_length += length;
}

void batch_free(struct batch *batch)
{
    free(batch->arena);
    batch->arena = NULL;
    batch->arena_length = batch->arena_capacity = 0;
}
