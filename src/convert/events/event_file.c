/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/events/event_file.h"

#include "convert/events/defs_pack.h"
#include "core/checksum.h"
#include "core/event_pack.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/varint.h"

#include <string.h>

/* The last digit counts up with each change of what event_pack or defs_pack write: an older file is then no file of
   ours, and is made again. */
static const char magic[8] = "SIGHTev4";

struct file_head {
    char magic[8];
    uint64_t last_frame, definitions; /* where they begin; the frames end at the definitions */
    uint64_t size, checksum;          /* of the definitions */
    uint64_t check;                   /* of all before it */
};

struct frame_head {
    uint32_t size, count; /* bytes after the head, events */
    uint64_t checksum;    /* of these bytes */
};

enum { FRAME_MAX = 64 << 20 };

/* Writing */

static enum status writer_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    ((struct event_file_writer *)sink)->defs = defs;
    return STATUS_OK;
}

/* A batch is a frame, in the order it came: the cache gives back what the reader gave. */
static enum status writer_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    struct event_file_writer *writer = (struct event_file_writer *)sink;
    if (batch->count == 0)
        return STATUS_OK;
    size_t room = batch->count * (EVENT_PACK_MAX + 2 * VARINT_MAX);
    for (size_t i = 0; i < batch->count; i++)
        room += batch->events[i].payload_length;
    ARRAY_RESERVE(writer->frame, writer->capacity, room);
    unsigned char *at = writer->frame;
    uint64_t process = 0, time = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const struct event *event = &batch->events[i];
        /* Differences to the event before: most need one byte. */
        at = varint_put_signed(at, (int64_t)(event->process - process));
        at = varint_put_signed(at, (int64_t)((uint64_t)event->time_ns - time));
        at += event_pack(at, event, batch->arena);
        process = event->process;
        time = (uint64_t)event->time_ns;
    }
    struct frame_head head = {.size = (uint32_t)(at - writer->frame), .count = (uint32_t)batch->count};
    head.checksum = checksum_add(CHECKSUM_START, writer->frame, head.size);
    writer->last_frame = output_position(writer->output);
    output_write(writer->output, &head, sizeof head);
    output_write(writer->output, writer->frame, head.size);
    return STATUS_OK;
}

static enum status writer_end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    (void)end;
    (void)err;
    struct event_file_writer *writer = (struct event_file_writer *)sink;
    struct output *memory = output_open_memory();
    struct file_head head = {.last_frame = writer->last_frame, .definitions = output_position(writer->output)};
    size_t size;
    defs_pack(memory, writer->defs);
    char *packed = output_take(memory, &size);
    memcpy(head.magic, magic, sizeof head.magic);
    head.size = size;
    head.checksum = checksum_add(CHECKSUM_START, packed, size);
    head.check = checksum_add(CHECKSUM_START, &head, offsetof(struct file_head, check));
    output_write(writer->output, packed, size);
    /* Last: a file whose writer was killed has a head of zeros. */
    output_patch(writer->output, 0, &head, sizeof head);
    free(packed);
    return STATUS_OK;
}

void event_file_writer_begin(struct event_file_writer *writer, struct output *output)
{
    static const struct file_head none;
    *writer = (struct event_file_writer){
        .sink = {writer_begin, writer_events, writer_end}, .output = output, .last_frame = sizeof none};
    output_write(output, &none, sizeof none);
}

void event_file_writer_clear(struct event_file_writer *writer)
{
    free(writer->frame);
}

/* Reading */

struct event_file {
    struct file_head head;
    uint64_t limit; /* where reading ends */
};

static int event_file_probe(const unsigned char *data, size_t size)
{
    if (size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0)
        return 100;
    return 0;
}

/* The file is our own: a fault in it is not a trace's damage but a reason to make it again. */
static enum status damaged(const struct reader *reader, struct error *err)
{
    return error_set(err, ERROR_INPUT, "%s: byte %llu: is damaged", reader->input->name,
                     (unsigned long long)reader->input->offset);
}

/* To the begin of a frame only, which an index has noted. */
static enum status event_file_seek(struct reader *reader, uint64_t from, uint64_t to, struct error *err)
{
    struct event_file *file = reader->state;
    file->limit = smaller(to, file->head.definitions);
    reader->ended = false;
    return input_seek(reader->input, from, err);
}

/* The definitions stand at the end of the file and are read first: the head says where. */
static enum status event_file_start(struct reader *reader, struct error *err)
{
    struct event_file *file = reader->state;
    struct input *input = reader->input;
    enum status status = input_need(input, sizeof file->head, err);
    if (status != STATUS_OK)
        return status == STATUS_FAILED ? status : damaged(reader, err);
    memcpy(&file->head, input->at, sizeof file->head);
    const struct file_head *head = &file->head;
    if (checksum_add(CHECKSUM_START, head, offsetof(struct file_head, check)) != head->check ||
        memcmp(head->magic, magic, sizeof magic) != 0)
        return damaged(reader, err);
    if (input_seek(input, head->definitions, err) != STATUS_OK)
        return STATUS_FAILED;
    status = input_need(input, head->size, err);
    if (status != STATUS_OK || checksum_add(CHECKSUM_START, input->at, head->size) != head->checksum)
        return status == STATUS_FAILED ? status : damaged(reader, err);
    defs_unpack(input->at, reader->defs);
    reader->used = reader->total = head->definitions + head->size;
    return event_file_seek(reader, sizeof *head, UINT64_MAX, err);
}

static enum status event_file_next(struct reader *reader, struct batch *batch, struct error *err)
{
    struct event_file *file = reader->state;
    struct input *input = reader->input;
    struct frame_head head;
    if (input->offset >= file->limit) {
        reader->complete = true;
        return STATUS_END;
    }
    enum status status = input_need(input, sizeof head, err);
    if (status != STATUS_OK)
        return status == STATUS_FAILED ? status : damaged(reader, err);
    memcpy(&head, input->at, sizeof head);
    /* Before the checksum can be computed, its range must be sensible. */
    if (head.size > FRAME_MAX || head.count > BATCH_EVENTS)
        return damaged(reader, err);
    status = input_need(input, sizeof head + head.size, err);
    if (status != STATUS_OK || checksum_add(CHECKSUM_START, input->at + sizeof head, head.size) != head.checksum)
        return status == STATUS_FAILED ? status : damaged(reader, err);
    const unsigned char *at = input->at + sizeof head;
    uint64_t process = 0, time = 0;
    for (uint32_t i = 0; i < head.count; i++) {
        struct event *event = &batch->events[batch->count++];
        process += (uint64_t)varint_get_signed(&at);
        time += (uint64_t)varint_get_signed(&at);
        size_t used = event_unpack(event, at);
        event->process = (uint32_t)process;
        event->time_ns = (int64_t)time;
        if (event->payload_length)
            batch_set_payload(batch, event, at + event->payload, event->payload_length);
        at += used;
    }
    input_consume(input, sizeof head + head.size);
    return STATUS_OK;
}

static bool event_file_can_seek(const struct reader *reader)
{
    return input_can_seek(reader->input);
}

static uint64_t event_file_last(const struct reader *reader)
{
    return ((const struct event_file *)reader->state)->head.last_frame;
}

static const struct format_places places = {event_file_can_seek, event_file_seek, event_file_last};

const struct format format_event_file = {.name = "events",
                                         .title = "SIGHT's cache",
                                         .suffix = ".events",
                                         .probe = event_file_probe,
                                         .state_size = sizeof(struct event_file),
                                         .open = event_file_start,
                                         .next = event_file_next,
                                         .places = &places};

struct reader *event_file_open(const char *path, struct error *err)
{
    struct input *input = input_open_private(path, err);
    if (input)
        return reader_open_format(input, &format_event_file, err);
    return NULL;
}
