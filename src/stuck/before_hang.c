/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/before_hang.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"

#include <string.h>

static enum status begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    struct before_hang *before = (struct before_hang *)sink;
    before->defs = defs;
    before->last_ns = INT64_MIN;
    /* Found before the sinks begin: they see the definitions, but never events of this mark. */
    for (size_t i = 0; i < defs->mark_count; i++)
        if (strcmp(defs->marks[i].name, PENDING_MARK_NAME) == 0)
            before->mark = (uint32_t)i + 1;
    for (size_t i = 0; i < before->count; i++)
        if (before->sinks[i]->begin && before->sinks[i]->begin(before->sinks[i], defs, err) != STATUS_OK)
            return STATUS_FAILED;
    return STATUS_OK;
}

static bool is_pending(const struct before_hang *before, const struct event *event)
{
    return event->kind == EVENT_MARK && event->state + 1 == before->mark;
}

static uint64_t *depth_of(struct before_hang *before, const struct event *event)
{
    return map_put(&before->depths, map_pair(event->process, event->thread), 0);
}

/* Only in traces with such marks: they are those of runs that did not end. */
static void follow(struct before_hang *before, const struct event *event)
{
    before->last_ns = larger(event->time_ns, before->last_ns);
    if ((event->kind != EVENT_ENTER && event->kind != EVENT_LEAVE) || !before->defs->states[event->state].is_mpi)
        return;
    uint64_t *depth = depth_of(before, event);
    if (event->kind == EVENT_ENTER)
        ++*depth;
    else if (*depth > 0)
        --*depth;
}

static void note_end(struct before_hang *before, const struct event *event)
{
    uint64_t *depth = depth_of(before, event);
    if (*depth > 0)
        return;
    struct event end = *event;
    end.payload_length = 0;
    ARRAY_PUSH(before->ends, before->end_count, before->end_capacity, end);
    *depth = 1; /* a thread may have several of them */
}

/* What happens after the hang has begun: true for what is passed on, as if it happened then. */
static bool ends_something(struct before_hang *before, const struct event *event)
{
    if (event->kind != EVENT_ENTER && event->kind != EVENT_LEAVE)
        return false;
    uint64_t *later = map_put(&before->later, map_pair(event->process, event->thread), 0);
    if (event->kind == EVENT_LEAVE && *later == 0)
        return true;
    if (event->kind == EVENT_LEAVE)
        --*later;
    else if (*later == 0 && strcmp(before->defs->states[event->state].name, "MPI_Finalize") == 0)
        return true;
    else
        ++*later;
    return false;
}

/* Follows an event. False: it is not passed on. */
static bool keep(struct before_hang *before, struct event *event)
{
    if (is_pending(before, event)) {
        note_end(before, event);
        return false;
    }
    if (!event_counts(event))
        return true;
    if (event->time_ns > before->until_ns) {
        if (!ends_something(before, event))
            return false;
        event->time_ns = before->until_ns;
    }
    follow(before, event);
    return true;
}

/* The batch without pending calls and what comes after the hang has begun: the same batch if it has neither. */
static const struct batch *without_hang(struct before_hang *before, const struct batch *batch)
{
    if (!before->mark)
        return batch;
    size_t first = 0;
    while (first < batch->count && !is_pending(before, &batch->events[first]) &&
           batch->events[first].time_ns <= before->until_ns) {
        if (event_counts(&batch->events[first]))
            follow(before, &batch->events[first]);
        first++;
    }
    /* Nearly all batches: passed on without a copy. */
    if (first == batch->count)
        return batch;
    struct batch *kept = &before->kept;
    kept->arena = batch->arena;
    /* Payloads stay where they are: the copied events refer to the same arena. */
    kept->arena_length = batch->arena_length;
    kept->count = first;
    memcpy(kept->events, batch->events, first * sizeof *kept->events);
    for (size_t i = first; i < batch->count; i++) {
        struct event *event = &kept->events[kept->count];
        *event = batch->events[i];
        kept->count += keep(before, event);
    }
    return kept;
}

static enum status pass_on(struct before_hang *before, const struct batch *batch, struct error *err)
{
    for (size_t i = 0; i < before->count; i++)
        if (before->sinks[i]->events(before->sinks[i], batch, err) != STATUS_OK)
            return STATUS_FAILED;
    return STATUS_OK;
}

static enum status events(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct before_hang *before = (struct before_hang *)sink;
    return pass_on(before, without_hang(before, batch), err);
}

/* The marks that are left, not later than the hang. */
static enum status pass_ends(struct before_hang *before, struct error *err)
{
    struct batch *kept = &before->kept;
    kept->arena_length = 0;
    for (size_t i = 0; i < before->end_count;) {
        for (kept->count = 0; i < before->end_count && kept->count < BATCH_EVENTS; i++) {
            struct event *event = &kept->events[kept->count++];
            *event = before->ends[i];
            event->time_ns = smaller(event->time_ns, before->last_ns);
        }
        if (pass_on(before, kept, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    return STATUS_OK;
}

static enum status end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    struct before_hang *before = (struct before_hang *)sink;
    if (pass_ends(before, err) != STATUS_OK)
        return STATUS_FAILED;
    for (size_t i = 0; i < before->count; i++)
        if (before->sinks[i]->end && before->sinks[i]->end(before->sinks[i], end, err) != STATUS_OK)
            return STATUS_FAILED;
    return STATUS_OK;
}

void before_hang_start(struct before_hang *before, struct sink *const *sinks, size_t count, int64_t until_ns)
{
    memset(before, 0, sizeof *before);
    before->sink = (struct sink){.begin = begin, .events = events, .end = end};
    memcpy(before->sinks, sinks, count * sizeof *sinks);
    before->count = count;
    before->until_ns = until_ns;
}

void before_hang_clear(struct before_hang *before)
{
    map_clear(&before->depths);
    map_clear(&before->later);
    free(before->ends);
}
