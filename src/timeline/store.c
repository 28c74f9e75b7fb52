/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/store.h"

#include "convert/events/event_file.h"
#include "convert/writer.h"
#include "core/event_pack.h"
#include "core/memory.h"
#include "core/sorter.h"
#include "timeline/walk.h"

/* Sorts events by time, then gives them to the writer. */
struct store {
    struct sink sink;
    struct event_file_writer writer;
    struct sorter *sorter;
    struct rows rows; /* end_ns: the latest time so far */
    unsigned char *packed;
    size_t packed_capacity;
};

static enum status store_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    struct store *store = (struct store *)sink;
    return store->writer.sink.begin(&store->writer.sink, defs, err);
}

/* The time of the event, at least that of the event before it in its row: sorting must not change the order within a
   row, where a leave follows its enter. */
static int64_t time_in_row(struct store *store, const struct event *event)
{
    uint32_t number = rows_of(&store->rows, event->process, event->thread);
    struct timeline_row *row = &store->rows.row[number];
    if (row->events++ == 0 || event->time_ns > row->end_ns)
        row->end_ns = event->time_ns;
    return row->end_ns;
}

static enum status store_batch(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct store *store = (struct store *)sink;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < batch->count && status == STATUS_OK; i++) {
        const struct event *event = &batch->events[i];
        /* Definitions in the stream do not count: they have no row, and any time. */
        int64_t time_ns = event->time_ns;
        if (event_counts(event))
            time_ns = time_in_row(store, event);
        ARRAY_RESERVE(store->packed, store->packed_capacity, EVENT_PACK_MAX + event->payload_length);
        /* The sorter is stable: events of a process at the same time keep their order. */
        struct sort_key key = {.major = sort_key_signed(time_ns), .minor = event->process};
        status = sorter_add(store->sorter, key, store->packed, event_pack(store->packed, event, batch->arena), err);
    }
    return status;
}

static enum status write_sorted(struct store *store, struct batch *batch, struct error *err)
{
    struct sort_key key;
    const void *packed;
    size_t length;
    struct sink *writer = &store->writer.sink;
    enum status status = sorter_rewind(store->sorter, err);
    while (status == STATUS_OK && (status = sorter_next(store->sorter, &key, &packed, &length, err)) == STATUS_OK) {
        struct event *event = &batch->events[batch->count++];
        event_unpack(event, packed);
        event->time_ns = (int64_t)(key.major ^ UINT64_C(1) << 63); /* sort_key_signed, undone */
        event->process = (uint32_t)key.minor;
        if (event->payload_length)
            batch_set_payload(batch, event, (const unsigned char *)packed + event->payload, event->payload_length);
        if (batch->count == BATCH_EVENTS) {
            status = writer->events(writer, batch, err);
            batch_clear(batch);
        }
    }
    if (status != STATUS_END)
        return status;
    return writer->events(writer, batch, err);
}

static enum status store_end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    struct store *store = (struct store *)sink;
    struct batch *batch = memory_new(sizeof *batch);
    enum status status = write_sorted(store, batch, err);
    batch_free(batch);
    free(batch);
    if (status != STATUS_OK)
        return status;
    return store->writer.sink.end(&store->writer.sink, end, err);
}

enum status store_events(struct reader *reader, const char *path, stream_watch *watch, void *watch_context,
                         struct error *err)
{
    struct output *output =
        output_open(path, (struct output_options){.replace = true, .private = true, .patchable = true}, err);
    if (!output)
        return STATUS_FAILED;
    struct store store = {.sink = {store_begin, store_batch, store_end}, .sorter = sorter_new(WRITER_SORT_MEMORY)};
    struct sink *sinks[] = {&store.sink};
    event_file_writer_begin(&store.writer, output);
    enum status status = stream_run(reader, sinks, 1, watch, watch_context, err);
    /* A fault of reading is the cause of one of closing: it is reported. An incomplete file is removed. */
    struct error closing = {0};
    if (output_close(output, status == STATUS_OK, &closing) != STATUS_OK && status == STATUS_OK) {
        *err = closing;
        status = STATUS_FAILED;
    }
    event_file_writer_clear(&store.writer);
    sorter_free(store.sorter);
    rows_clear(&store.rows);
    free(store.packed);
    return status;
}
