/* SPDX-License-Identifier: BSD-3-Clause */
/* CLOG: made here in memory in both byte orders and with several block sizes, whole, damaged at every record and cut at
   every byte. */
#include "convert/reader.h"
#include "convert/stream.h"
#include "convert/writer.h"
#include "core/bytes.h"
#include "core/memory.h"
#include "unit/tap.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    END_OF_LOG = -2,
    END_OF_BLOCK,
    RAW = 1,
    MESSAGE,
    COLLECTIVE,
    COMM,
    EVENTDEF,
    STATEDEF,
    SITE,
    SHIFT,
    ROOM = 160, /* at which MPE ends a block */
    RECORDS_MAX = 4096,
    CALLS = 60
};

/* A CLOG being made. */
struct maker {
    unsigned char *bytes;
    size_t size, capacity, block;
    bool big_endian;
    size_t records[RECORDS_MAX]; /* where they begin, without those that end blocks */
    size_t count;
    double time;
};

static unsigned char *make_header(struct maker *maker, int32_t type, size_t length, int32_t process)
{
    size_t at = maker->size;
    ARRAY_RESERVE(maker->bytes, maker->capacity, at + length);
    maker->size += length;
    unsigned char *record = maker->bytes + at;
    memset(record, 0, length);
    bytes_put_f64(record, maker->big_endian, maker->time);
    bytes_put_i32(record + 8, maker->big_endian, type);
    bytes_put_i32(record + 12, maker->big_endian, (int32_t)(length / 8));
    bytes_put_i32(record + 16, maker->big_endian, process);
    bytes_put_i32(record + 20, maker->big_endian, 0x5A5A5A5A); /* rubbish, as real files have */
    return record;
}

/* The bytes after a block's end record are old memory that may look like records. */
static void fill_block(struct maker *maker)
{
    size_t used = maker->size % maker->block;
    if (used == 0)
        return;
    size_t old = maker->size, more = maker->block - used;
    ARRAY_RESERVE(maker->bytes, maker->capacity, old + more);
    for (size_t i = 0; i < more; i++)
        maker->bytes[old + i] = maker->bytes[i];
    maker->size += more;
}

/* A record with up to six integers after its header. */
static unsigned char *make(struct maker *maker, int32_t type, int32_t process, const int32_t numbers[6])
{
    static const size_t lengths[] = {24, 24, 0, 56, 48, 48, 40, 48, 80, 72, 32};
    if (maker->size % maker->block + ROOM >= maker->block) {
        make_header(maker, END_OF_BLOCK, 24, 0);
        fill_block(maker);
    }
    if (maker->count < RECORDS_MAX)
        maker->records[maker->count++] = maker->size;
    unsigned char *record = make_header(maker, type, lengths[type + 2], process);
    for (size_t i = 0; i < 6 && 24 + 4 * i < lengths[type + 2]; i++)
        bytes_put_i32(record + 24 + 4 * i, maker->big_endian, numbers[i]);
    return record;
}

static void make_raw(struct maker *maker, int32_t process, int32_t id, int32_t data, const char *text)
{
    unsigned char *record = make(maker, RAW, process, (int32_t[6]){id, data, 902, -1});
    memset(record + 40, 0xE5, 16);
    memcpy(record + 40, text, strlen(text) < 16 ? strlen(text) + 1 : 16);
    maker->time += 1e-6;
}

static void make_state(struct maker *maker, const int32_t numbers[3], const char *colour, const char *name)
{
    unsigned char *record = make(maker, STATEDEF, 0, (int32_t[6]){numbers[0], numbers[1], numbers[2]});
    memset(record + 40, 0, 40);
    memcpy(record + 40, colour, strlen(colour));
    memcpy(record + 64, name, strlen(name));
}

static void make_mark(struct maker *maker, int32_t id, const char *name)
{
    unsigned char *record = make(maker, EVENTDEF, 0, (int32_t[6]){id});
    memcpy(record + 32, name, strlen(name));
}

static void make_end(struct maker *maker)
{
    maker->time = 1e6;
    make(maker, END_OF_LOG, 0, (int32_t[6]){0});
    fill_block(maker);
}

/* Two processes that call MPI_Send and MPI_Recv; MPI's states are defined at the end, as MPE does it. */
static struct maker make_calls(size_t calls, size_t block, bool big_endian)
{
    struct maker maker = {.block = block, .big_endian = big_endian, .time = -0.001};
    make(&maker, SITE, 0, (int32_t[6]){900, 12, 'x'});
    make(&maker, COMM, 0, (int32_t[6]){101, -1, 91, 900});
    make(&maker, COMM, 1, (int32_t[6]){101, -1, 91, 900});
    make_state(&maker, (int32_t[3]){200, 500, 501}, "red", "user");
    make_mark(&maker, 600, "solo");
    for (size_t i = 0; i < calls; i++) {
        make_raw(&maker, 0, 161, (int32_t)(2 * i + 1), "");
        make_raw(&maker, 0, -101, 1, "7 1000");
        make_raw(&maker, 0, 162, (int32_t)(2 * i + 2), "");
        make_raw(&maker, 1, 155, (int32_t)(2 * i + 1), "");
        make_raw(&maker, 1, -102, 0, "7 1000");
        make_raw(&maker, 1, 156, (int32_t)(2 * i + 2), "");
    }
    make_state(&maker, (int32_t[3]){201, 155, 156}, "green:light_gray", "RECV");
    make_state(&maker, (int32_t[3]){202, 161, 162}, "blue:gray3", "SEND");
    make_end(&maker);
    return maker;
}

/* The result of reading. */
struct reading {
    struct sink sink;
    struct reader *reader;
    struct event *events;
    char (*texts)[16];
    size_t count, capacity, text_count, text_capacity;
};

static enum status take_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    struct reading *reading = (struct reading *)sink;
    for (size_t i = 0; i < batch->count; i++) {
        const struct event *event = &batch->events[i];
        ARRAY_RESERVE(reading->texts, reading->text_capacity, reading->text_count + 1);
        char *text = reading->texts[reading->text_count++];
        memset(text, 0, 16);
        if (event->payload_length && event->payload_length < 16)
            memcpy(text, batch->arena + event->payload, event->payload_length);
        ARRAY_PUSH(reading->events, reading->count, reading->capacity, *event);
    }
    return STATUS_OK;
}

static struct reading read_bytes(const unsigned char *bytes, size_t size)
{
    struct reading reading = {.sink = {.events = take_events}};
    struct error err = {0};
    reading.reader = reader_open_input(input_open_memory(bytes, size, "test"), &err);
    if (!reading.reader)
        return reading;
    struct sink *sinks[] = {&reading.sink};
    if (stream_run(reading.reader, sinks, 1, NULL, NULL, &err) != STATUS_OK)
        printf("# cannot be read to its end: %s\n", err.text);
    return reading;
}

static void reading_free(struct reading *reading)
{
    free(reading->events);
    free(reading->texts);
    reader_close(reading->reader);
}

static long long record_count(const struct reading *reading, const char *name)
{
    for (size_t i = 0; i < reading->reader->record_kinds; i++)
        if (strcmp(reading->reader->records[i].name, name) == 0)
            return (long long)reading->reader->records[i].count;
    return 0;
}

static void check_damage(const struct reading *reading, uint64_t damage, const char *first, const char *name)
{
    const struct trace_end *end = &reading->reader->end;
    bool right = end->damage.count == damage && end->complete == (damage == 0) && strstr(end->damage.first, first);
    if (!tap_ok(right, "%s: damage", name))
        printf("# damage %llu, want %llu \"%s\": %s\n", (unsigned long long)end->damage.count,
               (unsigned long long)damage, first, end->damage.first);
}

static void test_whole(size_t calls, size_t block, bool big_endian)
{
    char name[64];
    snprintf(name, sizeof name, "%zu calls, block %zu, %s-endian", calls, block, big_endian ? "big" : "little");
    struct maker maker = make_calls(calls, block, big_endian);
    struct reading reading = read_bytes(maker.bytes, maker.size);
    check_damage(&reading, 0, "", name);
    tap_equal_string(reading.reader->format->name, "clog", "%s: known by its content", name);
    tap_equal_int((long long)reading.count, (long long)(6 * calls), "%s: events", name);
    const struct defs *defs = reading.reader->defs;
    tap_ok(defs->state_count == 3 && defs->mark_count == 1 && defs->processes == 2, "%s: definitions", name);
    tap_ok(strcmp(defs->states[2].name, "MPI_Send") == 0 && strcmp(defs->states[2].original, "SEND") == 0,
           "%s: names of functions", name);
    size_t right = 0;
    for (size_t i = 0; i + 5 < reading.count; i += 6) {
        const struct event *at = &reading.events[i];
        right += at[0].kind == EVENT_ENTER && at[0].state == 2 && at[0].value == (int64_t)(i / 3 + 1) &&
                 at[2].kind == EVENT_LEAVE && at[2].state == 2 && at[3].state == 1 && at[3].process == 1 &&
                 at[1].kind == EVENT_SEND && at[1].partner == 1 && at[1].tag == 7 && at[1].bytes_sent == 1000 &&
                 at[4].kind == EVENT_RECEIVE && at[4].bytes_received == 1000 &&
                 at[0].time_ns == -1000000 + (int64_t)(1000 * i);
    }
    tap_equal_int((long long)right, (long long)calls, "%s: each call is right", name);
    tap_equal_int(record_count(&reading, "raw event"), (long long)(6 * calls), "%s: raw events", name);
    tap_equal_int(record_count(&reading, "state definition"), 3, "%s: state definitions", name);
    tap_ok(reading.reader->used == maker.size && reading.reader->total == maker.size, "%s: all is used", name);
    reading_free(&reading);
    free(maker.bytes);
}

/* Every kind of record. */
static struct maker make_kinds(bool big_endian)
{
    struct maker maker = {.block = 65536, .big_endian = big_endian, .time = 1};
    make_state(&maker, (int32_t[3]){200, 500, 501}, "red  ", "user  ");
    make_state(&maker, (int32_t[3]){201, 500, 501}, "red  ", "user  ");
    make_state(&maker, (int32_t[3]){200, 500, 501}, "pink", "a description l");
    make_mark(&maker, 700, "described");
    make_mark(&maker, 701, "");
    make_raw(&maker, 0, 500, 5, "0123456789abcde");
    make(&maker, MESSAGE, 0, (int32_t[6]){-101, 7, 2, 91, 1000, 903});
    make(&maker, MESSAGE, 1, (int32_t[6]){-102, 7, -1, 91, -1, 903});
    make(&maker, MESSAGE, 1, (int32_t[6]){500, 7, 2, 91, 1000, 903});
    make(&maker, COLLECTIVE, 1, (int32_t[6]){501, 3, 91, 64, 904});
    make(&maker, COLLECTIVE, 1, (int32_t[6]){701, 3, 91, 64, 904});
    make(&maker, COLLECTIVE, 1, (int32_t[6]){800, 3, 91, 64, 904});
    make_raw(&maker, 1, 800, 0, "text  ");
    make(&maker, COLLECTIVE, 1, (int32_t[6]){800, 3, 91, -64, 904});
    make_raw(&maker, 2, -201, 42, "constant");
    make_raw(&maker, 2, -110, 42, "reserved");
    make_raw(&maker, 2, -101, 0, "123456 12345678");
    make(&maker, SHIFT, 3, (int32_t[6]){0});
    make_end(&maker);
    return maker;
}

/* What becomes of them. */
static void test_kinds(bool big_endian)
{
    struct maker maker = make_kinds(big_endian);
    struct reading reading = read_bytes(maker.bytes, maker.size);
    const struct defs *defs = reading.reader->defs;
    const struct event *events = reading.events;
    check_damage(&reading, 0, "", "kinds");
    tap_ok(defs->state_count == 2 && defs->states[1].shadowed, "a definition with other text is kept");
    tap_ok(strcmp(defs->states[0].name, "user") == 0 && strcmp(defs->states[0].colour, "red") == 0, "Fortran's blanks");
    tap_equal_int(record_count(&reading, "definition repeated"), 1, "a repeated definition is counted");
    tap_ok(defs->processes == 4, "processes by any record");
    if (!tap_equal_int((long long)reading.count, 10, "kinds: events")) {
        reading_free(&reading);
        free(maker.bytes);
        return;
    }
    tap_ok(events[0].kind == EVENT_ENTER && strcmp(reading.texts[0], "0123456789abcde") == 0 && events[0].value == 5,
           "a text of 15 characters");
    tap_ok(events[1].kind == EVENT_SEND && events[1].tag == 7 && events[1].partner == 2 && events[1].bytes_sent == 1000,
           "message record");
    tap_ok(events[2].kind == EVENT_RECEIVE && events[2].partner == PARTNER_NONE &&
               events[2].bytes_received == BYTES_UNKNOWN,
           "message record without size");
    tap_ok(events[3].kind == EVENT_ENTER && events[4].kind == EVENT_LEAVE, "other kinds of them by their ids");
    tap_ok(events[5].kind == EVENT_MARK && events[5].state == 1, "a described id is a mark");
    tap_ok(events[6].kind == EVENT_COLLECTIVE && events[6].tag == 3 && events[6].bytes_sent == 64, "collective record");
    tap_ok(events[7].kind == EVENT_MARK && strcmp(defs->marks[events[7].state].name, "800") == 0 &&
               strcmp(reading.texts[7], "text") == 0,
           "an id of nothing is a mark");
    tap_ok(events[8].kind == EVENT_COLLECTIVE && events[8].bytes_sent == BYTES_UNKNOWN,
           "which makes no difference to collective records");
    tap_ok(events[9].kind == EVENT_SEND && events[9].tag == 123456 && events[9].bytes_sent == 12345678, "a cut text");
    tap_equal_int(record_count(&reading, "message text cut at 15 characters"), 1, "is counted");
    tap_equal_int(record_count(&reading, "reserved event"), 1, "a reserved id is counted");
    tap_ok(defs->constant_count == 1 && defs->constants[0].value == 42 &&
               strcmp(defs->constants[0].name, "constant") == 0,
           "a constant");
    reading_free(&reading);
    free(maker.bytes);
}

/* Times and processes that cannot be: the record is lost, no other. */
static void test_values(size_t block)
{
    static const double times[] = {NAN, INFINITY, -INFINITY, 9.1e9, -1e300};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct maker maker = make_calls(CALLS, block, true);
        bytes_put_f64(maker.bytes + maker.records[8], true, times[i]);
        struct reading reading = read_bytes(maker.bytes, maker.size);
        check_damage(&reading, 1, "byte ", "time that cannot be");
        tap_equal_int((long long)reading.count, 6 * CALLS - 1, "one event is lost: %g", times[i]);
        reading_free(&reading);
        free(maker.bytes);
    }
    static const int32_t processes[] = {-1, PROCESS_LIMIT, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof processes / sizeof *processes; i++) {
        struct maker maker = make_calls(CALLS, block, true);
        bytes_put_i32(maker.bytes + maker.records[8] + 16, true, processes[i]);
        struct reading reading = read_bytes(maker.bytes, maker.size);
        check_damage(&reading, 1, "byte ", "process that cannot be");
        tap_equal_int((long long)reading.count, 6 * CALLS - 1, "one event is lost: process %d", processes[i]);
        tap_equal_int(reading.reader->defs->processes, 2, "and is not believed");
        reading_free(&reading);
        free(maker.bytes);
    }
}

/* A record that is none costs what follows in its block, nothing else. */
static void test_damage(size_t block, bool big_endian, int32_t type, int32_t length)
{
    struct maker maker = make_calls(CALLS, block, big_endian);
    struct reading whole = read_bytes(maker.bytes, maker.size);
    size_t wrong = 0;
    for (size_t i = 1; i + 1 < maker.count; i++) {
        unsigned char kept[24], *at = maker.bytes + maker.records[i];
        memcpy(kept, at, sizeof kept);
        bytes_put_i32(at + 8, big_endian, type ? type : bytes_i32(kept + 8, big_endian));
        bytes_put_i32(at + 12, big_endian, length);
        struct reading reading = read_bytes(maker.bytes, maker.size);
        size_t lost = 0, end = (maker.records[i] / block + 1) * block;
        for (size_t j = i; j < maker.count && maker.records[j] < end; j++)
            lost += bytes_i32(maker.bytes + maker.records[j] + 8, big_endian) == RAW || j == i;
        bool last_block = end == maker.size;
        char where[64];
        snprintf(where, sizeof where, "byte %zu:", maker.records[i]);
        const struct trace_end *damage = &reading.reader->end;
        bool right = reading.count + lost >= whole.count && reading.count < whole.count + 1 &&
                     damage->damage.count == (last_block ? 2 : 1) && damage->damage.first_byte == maker.records[i] &&
                     !damage->complete;
        if (!right && wrong++ == 0)
            printf("# record %zu at %zu: %zu events of %zu, %zu may be lost, damage %llu: %s\n", i, maker.records[i],
                   reading.count, whole.count, lost, (unsigned long long)damage->damage.count, damage->damage.first);
        reading_free(&reading);
        memcpy(at, kept, sizeof kept);
    }
    tap_equal_int((long long)wrong, 0, "damage at each of %zu records, block %zu, type %d, length %d", maker.count,
                  block, type, length);
    reading_free(&whole);
    free(maker.bytes);
}

/* Every cut gives no more than the whole and is never complete, from a block of just that size. */
static void test_cuts(size_t block, bool big_endian)
{
    struct maker maker = make_calls(8, block, big_endian);
    size_t end = maker.records[maker.count - 1] + 24, wrong = 0;
    for (size_t size = 0; size < maker.size && size < end + 100; size++) {
        unsigned char *copy = memory_resize(NULL, size ? size : 1);
        memcpy(copy, maker.bytes, size);
        struct reading reading = read_bytes(copy, size);
        bool right = size < 24 ? !reading.reader
                               : reading.reader && reading.count <= 48 && reading.reader->end.complete == (size >= end);
        if (!right && wrong++ == 0)
            printf("# cut at %zu of %zu: %zu events, %s\n", size, end, reading.count,
                   reading.reader ? reading.reader->end.damage.first : "not opened");
        reading_free(&reading);
        free(copy);
    }
    tap_equal_int((long long)wrong, 0, "cut at each byte, block %zu", block);
    struct reading reading = read_bytes(maker.bytes, maker.records[maker.count - 1]);
    check_damage(&reading, 1, "file ends without an end-of-log record", "no end of log");
    tap_equal_int((long long)reading.count, 48, "no end of log: all events");
    reading_free(&reading);
    free(maker.bytes);
}

static void test_probe(void)
{
    unsigned char zeros[4096] = {0};
    struct reading reading = read_bytes(zeros, sizeof zeros);
    tap_ok(!reading.reader, "zeros are no CLOG");
    struct maker maker = make_calls(1, 1024, true);
    bytes_put_i32(maker.bytes + 12, true, 8);
    reading = read_bytes(maker.bytes, maker.size);
    tap_ok(!reading.reader, "nor is a record with another's length");
    bytes_put_i32(maker.bytes + 12, true, 9);
    bytes_put_f64(maker.bytes, true, NAN);
    reading = read_bytes(maker.bytes, maker.size);
    tap_ok(!reading.reader, "nor a first time that cannot be");
    free(maker.bytes);
}

/* Texts of CLOG may hold what would end an ALOG's line. */
static void test_to_alog(void)
{
    char path[] = "/tmp/sight-test-clog-XXXXXX", text[1024] = "";
    int file = mkstemp(path);
    struct maker maker = {.block = 1024, .big_endian = true, .time = 0.25};
    make_raw(&maker, 0, 5, 1, "a\n-3 0 0 9\r0 0");
    make_raw(&maker, 1, -3, 2, "");
    make_end(&maker);
    struct error err = {0};
    struct reader *reader = reader_open_input(input_open_memory(maker.bytes, maker.size, "test"), &err);
    const struct writer_format *format = writer_format_find("alog");
    struct writer *writer = format->create();
    writer->format = format;
    writer->output = output_open(path, (struct output_options){.replace = true}, &err);
    struct sink *sinks[] = {&writer->sink};
    enum status status = stream_run(reader, sinks, 1, NULL, NULL, &err);
    tap_ok(status == STATUS_OK && output_close(writer->output, true, &err) == STATUS_OK, "is written as ALOG");
    FILE *written = fopen(path, "rb");
    size_t length = written ? fread(text, 1, sizeof text - 1, written) : 0;
    const char *events = strstr(text, "-11 0 0 0 0 0\n");
    tap_ok(length > 0 && events, "its header");
    tap_equal_string(events ? events + strlen("-11 0 0 0 0 0\n") : "",
                     "-9 0 0 500 0 0 -3\n5 0 0 1 0 0 a -3 0 0 9 0 0\n500 1 0 2 0 1 \n",
                     "a line stays one, an id below 0 gets another");
    if (written)
        fclose(written);
    close(file);
    unlink(path);
    format->dispose(writer);
    reader_close(reader);
    free(maker.bytes);
}

int main(void)
{
    static const size_t blocks[] = {512, 1024, 4096, 65536, 262144};
    for (size_t i = 0; i < 2 * (sizeof blocks / sizeof *blocks); i++) {
        test_whole(4, blocks[i / 2], i % 2 == 0);
        test_whole(CALLS, blocks[i / 2], i % 2 == 0);
        test_whole(RECORDS_MAX, blocks[i / 2], i % 2 == 0);
    }
    test_kinds(true);
    test_kinds(false);
    test_values(1024);
    test_values(65536);
    for (int order = 0; order < 2; order++) {
        test_damage(1024, order == 0, 0, 0);
        test_damage(1024, order == 0, 9, 7);
        test_damage(1024, order == 0, -3, 3);
        test_damage(1024, order == 0, INT32_MIN, INT32_MAX);
        test_damage(65536, order == 0, 0, 20);
        test_cuts(1024, order == 0);
        test_cuts(65536, order == 0);
    }
    test_probe();
    test_to_alog();
    return tap_done();
}
