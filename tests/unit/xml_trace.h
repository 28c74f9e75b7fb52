/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TESTS_UNIT_XML_TRACE_H
#define SIGHT_TESTS_UNIT_XML_TRACE_H

#include "convert/reader.h"
#include "convert/writer.h"
#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A trace in memory, read from XML text and written to it. A program is one file. */

extern const struct format format_xml;
extern const struct writer_format writer_format_xml;

/* A trace in memory: what a source would have given. */
struct trace {
    struct defs *defs;
    struct event *events;
    size_t count, capacity;
    unsigned char *arena;
    size_t arena_length, arena_capacity;
    struct trace_end end;
};

static void trace_add(struct trace *trace, struct event event, const void *payload)
{
    if (event.payload_length) {
        ARRAY_RESERVE(trace->arena, trace->arena_capacity, trace->arena_length + event.payload_length);
        memcpy(trace->arena + trace->arena_length, payload, event.payload_length);
        event.payload = (uint32_t)trace->arena_length;
        trace->arena_length += event.payload_length;
    }
    ARRAY_PUSH(trace->events, trace->count, trace->capacity, event);
}

static void trace_free(struct trace *trace)
{
    defs_free(trace->defs);
    free(trace->events);
    free(trace->arena);
    *trace = (struct trace){0};
}

/* Reads XML text to its end. */
static struct trace trace_read(const char *text, size_t length)
{
    static struct batch batch;
    struct error err = {0};
    struct trace trace = {0};
    struct reader reader = {.format = &format_xml, .defs = defs_new()};
    reader.input = input_open_memory(text, length, "test");
    reader.state = memory_new(format_xml.state_size);
    enum status status = format_xml.open(&reader, &err);
    while (status == STATUS_OK) {
        batch_clear(&batch);
        status = format_xml.next(&reader, &batch, &err);
        for (size_t i = 0; i < batch.count; i++)
            trace_add(&trace, batch.events[i], batch.arena ? batch.arena + batch.events[i].payload : NULL);
    }
    if (status == STATUS_FAILED)
        printf("# failed: %s\n", err.text);
    format_xml.close(&reader);
    free(reader.state);
    input_close(reader.input);
    batch_free(&batch);
    memset(&batch, 0, sizeof batch);
    trace.defs = reader.defs;
    trace.end = (struct trace_end){
        .complete = reader.complete && !reader.damage.count, .damage = reader.damage, .used = reader.used};
    return trace;
}

static char test_path[64]; /* set by the program */

/* Writes the trace; returns the text, which is freed with free(). */
static char *trace_write(const struct trace *trace)
{
    static struct batch batch;
    struct error err = {0};
    struct writer *writer = writer_format_xml.create();
    writer->output = output_open(test_path, (struct output_options){.replace = true}, &err);
    enum status status = writer->sink.begin(&writer->sink, trace->defs, &err);
    for (size_t i = 0; i < trace->count && status == STATUS_OK; i++) {
        batch_clear(&batch);
        batch.events[batch.count++] = trace->events[i];
        batch_set_payload(&batch, &batch.events[0], trace->arena ? trace->arena + trace->events[i].payload : NULL,
                          trace->events[i].payload_length);
        status = writer->sink.events(&writer->sink, &batch, &err);
    }
    if (status == STATUS_OK)
        status = writer->sink.end(&writer->sink, &trace->end, &err);
    if (output_close(writer->output, true, &err) != STATUS_OK || status != STATUS_OK || writer->loss_count)
        printf("# writing: %s, %zu losses\n", err.text, writer->loss_count);
    writer_format_xml.dispose(writer);
    batch_free(&batch);
    memset(&batch, 0, sizeof batch);
    FILE *file = fopen(test_path, "rb");
    char *text = memory_new(64 << 20);
    size_t length = fread(text, 1, (64 << 20) - 1, file);
    fclose(file);
    return memory_resize(text, length + 1);
}

#endif
