/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/events/event_file.h"
#include "convert/writer.h"
#include "core/memory.h"
#include "unit/tap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* An event file, and SIGHT XML, hold all kinds of events and definitions: what is written is what is read. */

static struct defs *all_definitions(void)
{
    struct defs *defs = defs_new();
    defs_add_state(defs, &(struct state_def){.name = "MPI_Put", .id = 1, .start = 2, .end = 3});
    defs_add_state(defs, &(struct state_def){.name = "solve",
                                             .file = "solve.c",
                                             .line = 10,
                                             .end_line = 20,
                                             .paradigm = PARADIGM_COMPILER,
                                             .role = ROLE_FUNCTION,
                                             .id = EVENT_UNKNOWN,
                                             .start = EVENT_UNKNOWN,
                                             .end = EVENT_UNKNOWN});
    struct counter_def counter = {
        .type = COUNTER_DOUBLE, .mode = COUNTER_MODE_ACCUMULATED, .scope = COUNTER_OF_HOST, .unit = "J"};
    counter.base = 10;
    counter.exponent = -3;
    defs_add_mark(defs, &(struct mark_def){.name = "energy", .id = 9, .defined = true, .counter = counter});
    counter = (struct counter_def){.type = COUNTER_UINT64, .unit = "1"};
    defs_add_mark(defs, &(struct mark_def){.name = "cycles", .id = 10, .defined = true, .counter = counter});
    defs_add_constant(defs, "MPI_ANY_TAG", -1);
    defs_add_site(defs, &(struct site_def){.file = "a.c", .function = "main", .id = 7, .line = 12});
    int32_t world = defs_comm(defs, 5);
    struct comm_def *comm = &defs->comms[world];
    comm->world = true;
    comm_set_name(comm, "MPI_COMM_WORLD");
    comm_set_name(comm, "another");
    defs_set_member(defs, 0, 1, 0);
    defs_set_member(defs, 0, 0, 1);
    defs_add_location(defs, &(struct location_def){.process = 1,
                                                   .thread = 2,
                                                   .kind = LOCATION_STREAM,
                                                   .id = UINT64_C(103079215104),
                                                   .name = "stream 1",
                                                   .process_name = "MPI Rank 1",
                                                   .host = "node7"});
    defs_add_handle(defs, &(struct handle_def){.name = "out.dat", .api = "POSIX", .comm = EVENT_UNKNOWN});
    defs_add_path(defs, &(struct path_def){.state = 1, .site = 1});
    defs_add_path(defs, &(struct path_def){.parent = 1, .state = 0});
    defs->processes = 2;
    defs->threads = 3;
    defs->version = memory_copy_string("OTF2 3.0");
    return defs;
}

static struct event event_at(int64_t time_ns, uint8_t kind, uint32_t state)
{
    struct event event = EVENT_NOTHING;
    event.time_ns = time_ns;
    event.kind = kind;
    event.state = state;
    event.process = 1;
    return event;
}

/* One of each of the kinds that CLOG-2 has not, among enter and leave. */
static void all_events(struct batch *batch)
{
    struct event *at = batch->events;
    *at++ = event_at(-5, EVENT_ENTER, 1);
    *at = event_at(1, EVENT_RMA, 0);
    at->value = RMA_GET;
    at->comm = 0;
    at->partner = 0;
    at->bytes_received = INT64_C(1) << 40;
    at->request = 77;
    at++->requests = 1;
    *at = event_at(2, EVENT_IO, 0);
    at->value = IO_WRITE;
    at->comm = 0;
    at++->bytes_sent = 100;
    *at = event_at(3, EVENT_SAMPLE, 1);
    at->comm = 0;
    at->value = 1000000;
    at++->thread = 2;
    *at = event_at(4, EVENT_COUNTER, 0);
    event_set_double(at++, 0.1);
    *at = event_at(5, EVENT_COUNTER, 1);
    at++->value = -1; /* the largest uint64 */
    *at++ = event_at(INT64_C(5000000000), EVENT_LEAVE, 1);
    batch->count = (size_t)(at - batch->events);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->events[i].kind <= EVENT_LEAVE)
            batch->events[i].comm = 0;
}

static void test_definitions(const struct defs *defs, const char *format)
{
    tap_ok(defs->state_count == 2 && defs->mark_count == 2 && defs->comm_count == 1 && defs->location_count == 1 &&
               defs->handle_count == 1 && defs->path_count == 2 && defs->site_count == 1,
           "%s: numbers of definitions", format);
    const struct state_def *state = &defs->states[1];
    tap_equal_string(state->file, "solve.c", "%s: file of a region", format);
    tap_ok(state->line == 10 && state->end_line == 20 && state->paradigm == PARADIGM_COMPILER &&
               state->role == ROLE_FUNCTION,
           "%s: region", format);
    tap_ok(defs->states[0].class == CLASS_RMA, "%s: class", format);
    const struct counter_def *counter = &defs->marks[0].counter;
    tap_ok(counter->type == COUNTER_DOUBLE && counter->mode == COUNTER_MODE_ACCUMULATED &&
               counter->scope == COUNTER_OF_HOST && counter->base == 10 && counter->exponent == -3,
           "%s: counter", format);
    tap_equal_string(counter->unit, "J", "%s: unit", format);
    tap_equal_string(defs->comms[0].name, "MPI_COMM_WORLD", "%s: the first name of a communicator stands", format);
    const struct location_def *location = defs_find_location(defs, 1, 2);
    tap_ok(location && location->kind == LOCATION_STREAM && location->id == UINT64_C(103079215104) &&
               strcmp(location->host, "node7") == 0 && strcmp(location->process_name, "MPI Rank 1") == 0,
           "%s: location", format);
    tap_ok(!defs_find_location(defs, 1, 0), "%s: nothing is known of another", format);
    tap_equal_string(defs->handles[0].name, "out.dat", "%s: handle", format);
    tap_ok(defs->paths[0].parent == 0 && defs->paths[0].site == 1 && defs->paths[1].parent == 1 &&
               defs->paths[0].state == 1,
           "%s: call paths", format);
    tap_ok(defs->processes == 2 && defs->threads == 3, "%s: processes and threads", format);
    tap_equal_string(defs->version, "OTF2 3.0", "%s: version", format);
}

static void write_file(const char *path, const struct defs *defs, const struct batch *batch, size_t times)
{
    struct error err = {0};
    struct output *output = output_open(path, (struct output_options){.replace = true, .patchable = true}, &err);
    struct event_file_writer writer;
    event_file_writer_begin(&writer, output);
    if (writer.sink.begin(&writer.sink, defs, &err) != STATUS_OK)
        tap_ok(false, "%s", err.text);
    for (size_t i = 0; i < times; i++)
        if (writer.sink.events(&writer.sink, batch, &err) != STATUS_OK)
            tap_ok(false, "%s", err.text);
    bool fine = writer.sink.end(&writer.sink, NULL, &err) == STATUS_OK && output_close(output, true, &err) == STATUS_OK;
    tap_ok(fine, "written");
    event_file_writer_clear(&writer);
}

static bool same(const struct batch *a, const struct batch *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++)
        equal = memcmp(&a->events[i], &b->events[i], sizeof a->events[i]) == 0;
    return equal;
}

/* Every byte that is changed, and every cut, is found: no wrong event is given. */
static void test_damage(const char *path, const struct batch *batch)
{
    static unsigned char bytes[1 << 16];
    FILE *file = fopen(path, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    size_t wrong = 0;
    struct batch *got = memory_new(sizeof *got);
    for (size_t at = 0; at < size; at++) {
        struct error err = {0};
        file = fopen(path, "wb");
        bytes[at] ^= 0x40;
        fwrite(bytes, 1, at % 2 ? size : at, file);
        bytes[at] ^= 0x40;
        fclose(file);
        struct reader *reader = event_file_open(path, &err);
        while (reader && reader_next(reader, got, &err) == STATUS_OK)
            wrong += !same(got, batch);
        wrong += !err.text[0];
        reader_close(reader);
    }
    batch_free(got);
    free(got);
    tap_ok(wrong == 0, "damage is found (%zu not)", wrong);
}

static void test_xml(const char *path, const struct defs *defs, const struct batch *batch)
{
    struct error err = {0};
    struct batch *got = memory_new(sizeof *got);
    const struct writer_format *format = writer_format_find("xml");
    struct writer *writer = format->create();
    struct trace_end end = {.complete = true};
    writer->output = output_open(path, (struct output_options){.replace = true}, &err);
    bool fine = writer->sink.begin(&writer->sink, defs, &err) == STATUS_OK &&
                writer->sink.events(&writer->sink, batch, &err) == STATUS_OK &&
                writer->sink.end(&writer->sink, &end, &err) == STATUS_OK &&
                output_close(writer->output, true, &err) == STATUS_OK;
    tap_ok(fine && writer->loss_count == 0, "XML: written, nothing is lost %s", err.text);
    format->dispose(writer);
    char *paths[] = {(char *)(uintptr_t)path};
    struct reader *reader = reader_open(paths, 1, &err);
    enum status status = reader ? reader_next(reader, got, &err) : STATUS_FAILED;
    tap_ok(status == STATUS_OK && reader->damage.count == 0, "XML: read %s", reader ? reader->damage.first : err.text);
    test_definitions(reader->defs, "XML");
    tap_ok(same(got, batch), "XML: events");
    reader_close(reader);
    batch_free(got);
    free(got);
}

int main(void)
{
    char path[] = "/tmp/event_file.XXXXXX";
    close(mkstemp(path));
    struct error err = {0};
    struct defs *defs = all_definitions();
    struct batch *batch = memory_new(sizeof *batch), *got = memory_new(sizeof *got);
    memset(batch->events, 0, sizeof batch->events);
    all_events(batch);
    batch_set_payload(batch, &batch->events[0], "payload", 7);
    write_file(path, defs, batch, 3);

    struct reader *reader = event_file_open(path, &err);
    tap_ok(reader != NULL, "opened %s", err.text);
    test_definitions(reader->defs, "event file");
    uint64_t second = 0;
    for (int i = 0; i < 3; i++) {
        tap_ok(reader_next(reader, got, &err) == STATUS_OK && same(got, batch), "frame %d", i);
        tap_ok(memcmp(got->arena + got->events[0].payload, "payload", 7) == 0, "its payload");
        second = i == 0 ? reader->input->offset : second;
    }
    tap_ok(reader_next(reader, got, &err) == STATUS_END && reader->end.complete, "its end");
    uint64_t last = reader_last_place(reader);
    tap_ok(reader_can_seek(reader) && reader_seek(reader, second, last, &err) == STATUS_OK &&
               reader_next(reader, got, &err) == STATUS_OK && same(got, batch) &&
               reader_next(reader, got, &err) == STATUS_END,
           "from the second frame to the last");
    tap_ok(reader_seek(reader, last, UINT64_MAX, &err) == STATUS_OK && reader_next(reader, got, &err) == STATUS_OK &&
               same(got, batch) && reader_next(reader, got, &err) == STATUS_END,
           "the last frame");
    reader_close(reader);
    batch_clear(batch);
    all_events(batch);
    test_xml(path, defs, batch);
    write_file(path, defs, batch, 1);
    test_damage(path, batch);
    unlink(path);
    defs_free(defs);
    batch_free(batch);
    batch_free(got);
    free(batch);
    free(got);
    return tap_done();
}
