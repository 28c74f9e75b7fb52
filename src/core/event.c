/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/event.h"

#include "core/memory.h"

#include <string.h>

static const char *const rma_steps[] = {
#define RMA_STEP_WORD(name, word) word,
    RMA_STEPS(RMA_STEP_WORD)
#undef RMA_STEP_WORD
};

static const char *const io_steps[] = {
#define IO_STEP_WORD(name, word) word,
    IO_STEPS(IO_STEP_WORD)
#undef IO_STEP_WORD
};

static int find_word(const char *const *words, int count, const char *word)
{
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

const char *rma_step_name(int64_t step)
{
    if (step >= 0 && step < RMA_STEP_COUNT)
        return rma_steps[step];
    return NULL;
}

const char *io_step_name(int64_t step)
{
    if (step >= 0 && step < IO_STEP_COUNT)
        return io_steps[step];
    return NULL;
}

int rma_step_find(const char *word)
{
    return find_word(rma_steps, RMA_STEP_COUNT, word);
}

int io_step_find(const char *word)
{
    return find_word(io_steps, IO_STEP_COUNT, word);
}

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
