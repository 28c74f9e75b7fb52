/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/open_states.h"

#include "core/event.h"
#include "core/memory.h"

#include <string.h>

struct open_state *open_states_enter(struct open_states *open, uint32_t state, int64_t time_ns)
{
    if (open->depth >= DEPTH_LIMIT)
        return NULL;
    ARRAY_PUSH(open->frames, open->depth, open->capacity, (struct open_state){.state = state, .time_ns = time_ns});
    return &open->frames[open->depth - 1];
}

void open_states_remove(struct open_states *open, ptrdiff_t at)
{
    size_t index = (size_t)at;
    open->depth--;
    memmove(&open->frames[index], &open->frames[index + 1], (open->depth - index) * sizeof *open->frames);
}

void open_states_free(struct open_states *open)
{
    free(open->frames);
    *open = (struct open_states){0};
}
