/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/before_hang.h"

#include "core/payload.h"

#include <string.h>

static enum status begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    struct before_hang *before = (struct before_hang *)sink;
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

/* The batch without pending calls: the same batch if it has none. */
static const struct batch *without_pending(struct before_hang *before, const struct batch *batch)
{
    if (!before->mark)
        return batch;
    size_t first = 0;
    while (first < batch->count && !is_pending(before, &batch->events[first]))
        first++;
    /* Nearly all batches: passed on without a copy. */
    if (first == batch->count)
        return batch;
    struct batch *kept = &before->kept;
    kept->arena = batch->arena;
    /* Payloads stay where they are: the copied events refer to the same arena. */
    kept->arena_length = batch->arena_length;
    kept->count = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (!is_pending(before, &batch->events[i]))
            kept->events[kept->count++] = batch->events[i];
    return kept;
}

static enum status events(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct before_hang *before = (struct before_hang *)sink;
    const struct batch *kept = without_pending(before, batch);
    for (size_t i = 0; i < before->count; i++)
        if (before->sinks[i]->events(before->sinks[i], kept, err) != STATUS_OK)
            return STATUS_FAILED;
    return STATUS_OK;
}

static enum status end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    struct before_hang *before = (struct before_hang *)sink;
    for (size_t i = 0; i < before->count; i++)
        if (before->sinks[i]->end && before->sinks[i]->end(before->sinks[i], end, err) != STATUS_OK)
            return STATUS_FAILED;
    return STATUS_OK;
}

void before_hang_start(struct before_hang *before, struct sink *const *sinks, size_t count)
{
    memset(before, 0, sizeof *before);
    before->sink = (struct sink){.begin = begin, .events = events, .end = end};
    memcpy(before->sinks, sinks, count * sizeof *sinks);
    before->count = count;
}
