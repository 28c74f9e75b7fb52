/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/store.h"

#include "convert/writer.h"
#include "core/memory.h"
#include "timeline/walk.h"

/* Stands before the writer. */
struct forward {
    struct sink sink;
    struct sink *to;
    struct rows rows; /* end_ns: the latest time so far */
    struct batch *batch;
};

static enum status forward_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    struct forward *forward = (struct forward *)sink;
    return forward->to->begin ? forward->to->begin(forward->to, defs, err) : STATUS_OK;
}

static enum status forward_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct forward *forward = (struct forward *)sink;
    struct batch *into = forward->batch;
    *into = *batch;
    for (size_t i = 0; i < into->count; i++) {
        struct event *event = &into->events[i];
        if (!event_counts(event))
            continue;
        uint32_t number = rows_of(&forward->rows, event->process, event->thread);
        struct timeline_row *row = &forward->rows.row[number];
        if (row->events++ > 0 && event->time_ns < row->end_ns)
            event->time_ns = row->end_ns;
        row->end_ns = event->time_ns;
    }
    return forward->to->events(forward->to, into, err);
}

static enum status forward_end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    struct forward *forward = (struct forward *)sink;
    return forward->to->end(forward->to, end, err);
}

enum status store_clog2(struct reader *reader, const char *path, stream_watch *watch, void *watch_context,
                        struct error *err)
{
    const struct writer_format *format = writer_format_find("clog2");
    struct writer *writer = format->create();
    struct forward forward = {.sink = {forward_begin, forward_events, forward_end},
                              .to = &writer->sink,
                              .batch = memory_new(sizeof *forward.batch)};
    struct sink *sinks[] = {&forward.sink};
    enum status status = STATUS_FAILED;
    writer->format = format;
    writer->output = output_open(path, (struct output_options){.replace = true, .patchable = true}, err);
    if (writer->output) {
        status = stream_run(reader, sinks, 1, watch, watch_context, err);
        struct error closing = {0};
        if (output_close(writer->output, status == STATUS_OK, &closing) != STATUS_OK && status == STATUS_OK) {
            *err = closing;
            status = STATUS_FAILED;
        }
    }
    format->free(writer);
    rows_clear(&forward.rows);
    free(forward.batch);
    return status;
}
