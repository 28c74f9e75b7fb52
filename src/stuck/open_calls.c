/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/open_calls.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/payload.h"

#include <string.h>

/* Threads 0 of so many processes have a place each; numbers beyond may be damage. */
enum { NUMBERED = 1 << 20 };

/* A thread. */
struct open_call {
    uint32_t depth; /* nested open MPI calls */
    uint32_t state; /* of the outermost one */
};

struct open_calls {
    struct sink sink;
    const struct defs *defs;
    struct open_call *first; /* by process: its thread 0 */
    size_t first_count;      /* that there is room for */
    struct open_call *others;
    size_t other_count, other_capacity;
    struct map places; /* (process, thread) -> index of others */
};

static enum status begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    ((struct open_calls *)sink)->defs = defs;
    return STATUS_OK;
}

static struct open_call *other_of(struct open_calls *calls, const struct event *event)
{
    uint64_t *place = map_put(&calls->places, map_pair(event->process, event->thread), calls->other_count);
    if (*place == calls->other_count)
        ARRAY_PUSH(calls->others, calls->other_count, calls->other_capacity, (struct open_call){0});
    return &calls->others[*place];
}

/* Processes are numbered from 0 in nearly all traces, and few have threads that call MPI. */
static inline struct open_call *call_of(struct open_calls *calls, const struct event *event)
{
    if (event->thread != 0 || event->process >= NUMBERED)
        return other_of(calls, event);
    if (event->process >= calls->first_count) {
        size_t before = calls->first_count;
        ARRAY_RESERVE(calls->first, calls->first_count, event->process + (size_t)1);
        memset(calls->first + before, 0, (calls->first_count - before) * sizeof *calls->first);
    }
    return &calls->first[event->process];
}

static enum status events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    struct open_calls *calls = (struct open_calls *)sink;
    for (size_t i = 0; i < batch->count; i++) {
        const struct event *event = &batch->events[i];
        if (event->kind > EVENT_LEAVE || !calls->defs->states[event->state].is_mpi)
            continue;
        struct open_call *call = call_of(calls, event);
        if (event->kind == EVENT_LEAVE)
            call->depth -= call->depth > 0;
        else if (call->depth++ == 0)
            call->state = event->state;
    }
    return STATUS_OK;
}

struct open_calls *open_calls_new(void)
{
    struct open_calls *calls = memory_new(sizeof *calls);
    calls->sink = (struct sink){.begin = begin, .events = events};
    return calls;
}

struct sink *open_calls_sink(struct open_calls *calls)
{
    return &calls->sink;
}

bool open_calls_are_told(const struct defs *defs)
{
    for (size_t i = 0; i < defs->mark_count; i++)
        if (payload_mark_is_ours(defs->marks[i].name))
            return true;
    return false;
}

static bool any_open(const struct open_calls *calls, const struct open_call *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].depth > 0 && strcmp(calls->defs->states[list[i].state].name, "MPI_Finalize") != 0)
            return true;
    return false;
}

bool open_calls_end(struct open_calls *calls)
{
    bool open = any_open(calls, calls->first, calls->first_count) || any_open(calls, calls->others, calls->other_count);
    map_clear(&calls->places);
    free(calls->first);
    free(calls->others);
    free(calls);
    return open;
}
