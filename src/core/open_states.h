/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_OPEN_STATES_H
#define SIGHT_CORE_OPEN_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The states open on one thread, oldest first: the pairing core that readers, writers and metrics share.
   Rule (design, "What the numbers mean"): a leave closes the latest open instance of its state, wherever it is. */
struct open_state {
    uint32_t state;       /* index into defs->states */
    uint32_t mark;        /* free for the user */
    int64_t time_ns;      /* of the enter */
    int64_t exclusive_ns; /* free for the user */
};
struct open_states {
    struct open_state *frames;
    size_t depth, capacity;
};
enum { OPEN_STATES_NONE = -1 };

/* Opens a state; the borrowed frame is zero but for state and time. NULL when DEPTH_LIMIT states are open. */
struct open_state *open_states_enter_grow(struct open_states *open, uint32_t state, int64_t time_ns);
static inline struct open_state *open_states_enter(struct open_states *open, uint32_t state, int64_t time_ns)
{
    if (open->depth == open->capacity)
        return open_states_enter_grow(open, state, time_ns);
    struct open_state *frame = &open->frames[open->depth++];
    *frame = (struct open_state){.state = state, .time_ns = time_ns};
    return frame;
}

/* Index of the latest open instance of `state`, or OPEN_STATES_NONE. */
static inline ptrdiff_t open_states_find(const struct open_states *open, uint32_t state)
{
    ptrdiff_t at = (ptrdiff_t)open->depth - 1;
    while (at >= 0 && open->frames[at].state != state)
        at--;
    return at;
}

/* Removes the frame at index `at`; frames above it move down. */
static inline void open_states_remove(struct open_states *open, ptrdiff_t at)
{
    open->depth--;
    for (size_t index = (size_t)at; index < open->depth; index++)
        open->frames[index] = open->frames[index + 1];
}

void open_states_free(struct open_states *open);

#endif
