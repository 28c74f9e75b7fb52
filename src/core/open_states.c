/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/open_states.h"

#include "core/event.h"
#include "core/memory.h"
#include "core/numbers.h"

struct open_state *open_states_enter_grow(struct open_states *open, uint32_t state, int64_t time_ns)
{
    if (open->depth >= DEPTH_LIMIT)
        return NULL;
    /* The capacity never exceeds the limit, so that entering only needs to check for a full array. */
    size_t wanted = open->capacity ? open->capacity * 2 : 8;
    open->capacity = smaller(wanted, DEPTH_LIMIT);
    open->frames = memory_resize(open->frames, open->capacity * sizeof *open->frames);
    return open_states_enter(open, state, time_ns);
}

void open_states_free(struct open_states *open)
{
    free(open->frames);
    *open = (struct open_states){0};
}
