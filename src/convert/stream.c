/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/stream.h"

#include "core/memory.h"

static enum status stream_begin(struct reader *reader, struct sink *const *sinks, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (sinks[i]->begin && sinks[i]->begin(sinks[i], reader->defs, err) != STATUS_OK)
            return STATUS_FAILED;
    return STATUS_OK;
}

/* One batch for the whole run: its memory, and that of its payloads, is used again. */
static enum status stream_batches(struct reader *reader, struct batch *batch, struct sink *const *sinks, size_t count,
                                  stream_watch *watch, void *context, struct error *err)
{
    enum status status;
    while ((status = reader_next(reader, batch, err)) == STATUS_OK) {
        for (size_t i = 0; i < count; i++)
            if (sinks[i]->events(sinks[i], batch, err) != STATUS_OK)
                return STATUS_FAILED;
        if (watch && !watch(context, reader))
            return STATUS_FAILED;
    }
    return status;
}

/* Each batch goes to all sinks before the next is read: a trace is read once, whatever is made of it. */
enum status stream_run(struct reader *reader, struct sink *const *sinks, size_t count, stream_watch *watch,
                       void *context, struct error *err)
{
    if (stream_begin(reader, sinks, count, err) != STATUS_OK)
        return STATUS_FAILED;
    struct batch *batch = memory_new(sizeof *batch);
    enum status status = stream_batches(reader, batch, sinks, count, watch, context, err);
    batch_free(batch);
    free(batch);
    if (status != STATUS_END)
        return STATUS_FAILED;
    for (size_t i = 0; i < count; i++)
        if (sinks[i]->end && sinks[i]->end(sinks[i], &reader->end, err) != STATUS_OK)
            return STATUS_FAILED;
    return STATUS_OK;
}

bool stream_exactly(struct reader *reader, struct sink *const *sinks, size_t count, stream_watch *watch, void *context)
{
    const struct defs *defs = reader->defs;
    size_t states = defs->state_count, marks = defs->mark_count, comms = defs->comm_count;
    struct error err = {0};
    return stream_run(reader, sinks, count, watch, context, &err) == STATUS_OK && reader->damage.count == 0 &&
           defs->state_count == states && defs->mark_count == marks && defs->comm_count == comms;
}
