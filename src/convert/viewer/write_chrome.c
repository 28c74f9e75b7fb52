/* SPDX-License-Identifier: BSD-3-Clause */
/* Chrome's trace events, JSON. Rules: chrome(5). */
#include "convert/viewer/viewer.h"

#include "core/json_text.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A text that has been made JSON: names of states come again and again, from the same place. */
struct quoted {
    const char *text;
    char *json;
};
enum { QUOTED_COUNT = 1024 };

struct chrome_writer {
    struct viewer_writer viewer; /* first */
    bool any;                    /* an object was written */
    struct quoted quoted[QUOTED_COUNT];
};

#define PUT(output, literal) output_write(output, literal, sizeof(literal) - 1)

static struct output *output_of(struct viewer_writer *viewer)
{
    return viewer->writer.output;
}

static void put_u64(struct output *output, uint64_t value)
{
    output->at = (unsigned char *)text_put_u64((char *)output_room(output, TEXT_NUMBER_SIZE), value);
}

static void put_i64(struct output *output, int64_t value)
{
    if (value < 0)
        PUT(output, "-");
    put_u64(output, magnitude_of(value));
}

/* Microseconds with three decimals: exact. Not through a double, which loses ns after 104 days. */
static void put_time(struct output *output, int64_t ns)
{
    uint64_t time_ns = magnitude_of(ns);
    unsigned rest = (unsigned)(time_ns % 1000);
    if (ns < 0)
        PUT(output, "-");
    put_u64(output, time_ns / 1000);
    const char decimals[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};
    output_write(output, decimals, sizeof decimals);
}

static void put_text(struct output *output, const char *text)
{
    char *json = json_text(text);
    output_text(output, json);
    free(json);
}

/* A text that outlives the writing. */
static void put_name(struct viewer_writer *viewer, const char *name)
{
    struct chrome_writer *chrome = (struct chrome_writer *)(void *)viewer;
    /* By address: escaping the same few names for each of a million events took most of the time. */
    struct quoted *quoted = &chrome->quoted[map_hash((uint64_t)(uintptr_t)name) % QUOTED_COUNT];
    if (quoted->text != name) {
        free(quoted->json);
        *quoted = (struct quoted){name, json_text(name)};
    }
    output_text(output_of(viewer), quoted->json);
}

static void begin_object(struct viewer_writer *viewer, const char *phase, struct viewer_track track)
{
    struct chrome_writer *chrome = (struct chrome_writer *)(void *)viewer;
    struct output *output = output_of(viewer);
    /* JSON allows no comma after the last object, which is not known to be one when it is written. */
    if (chrome->any)
        PUT(output, ",\n");
    chrome->any = true;
    PUT(output, "{\"ph\":\"");
    output_write(output, phase, 1);
    PUT(output, "\",\"pid\":");
    put_u64(output, viewer_process_number(viewer, track.process));
    PUT(output, ",\"tid\":");
    put_u64(output, viewer_track_number(viewer, track));
}

/* Keys are ours and need no escaping; texts are from the trace. */
static void put_args(struct output *output, const struct viewer_args *args)
{
    if (args->count > 0)
        PUT(output, ",\"args\":{");
    for (size_t i = 0; i < args->count; i++) {
        const struct viewer_arg *arg = &args->arg[i];
        if (i > 0)
            PUT(output, ",");
        PUT(output, "\"");
        output_text(output, arg->key);
        PUT(output, "\":");
        if (arg->text)
            put_text(output, arg->text);
        else
            put_i64(output, arg->number);
    }
    if (args->count > 0)
        PUT(output, "}");
}

/* Keys are the names; that of a fact about some processes ends with these. */
static void put_properties(struct viewer_writer *viewer)
{
    struct property_list list = property_list_of(viewer->writer.defs);
    for (size_t i = 0; i < list.count; i++) {
        char *ranks = property_ranks(&list.rows[i]), *key;
        if (asprintf(&key, "%s%s%s", list.rows[i].name, ranks ? " " : "", ranks ? ranks : "") >= 0) {
            PUT(output_of(viewer), ",");
            put_text(output_of(viewer), key);
            PUT(output_of(viewer), ":");
            put_text(output_of(viewer), list.rows[i].value);
            free(key);
        }
        free(ranks);
    }
    property_list_clear(&list);
}

/* Times count from 0 in the file: the begin on the trace's own clock is kept beside. */
static void chrome_head(struct viewer_writer *viewer)
{
    struct output *output = output_of(viewer);
    PUT(output, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"creator\":\"SIGHT\",\"begin_ns\":\"");
    put_i64(output, by_location_begin_ns(viewer->by));
    PUT(output, "\"");
    put_properties(viewer);
    PUT(output, "},\"traceEvents\":[\n");
}

static void chrome_tail(struct viewer_writer *viewer)
{
    PUT(output_of(viewer), "\n]}\n");
}

/* `text` NULL: the value is the number. Names and places on the screen are events of their own, which have no
   time. */
static void put_metadata(struct viewer_writer *viewer, struct viewer_track track, const char *what, const char *text,
                         int64_t number)
{
    struct output *output = output_of(viewer);
    begin_object(viewer, "M", track);
    PUT(output, ",\"name\":\"");
    output_text(output, what);
    /* Each kind of metadata has a name of its own for its one value. */
    if (strstr(what, "_sort_index"))
        PUT(output, "\",\"args\":{\"sort_index\":");
    else if (strcmp(what, "process_labels") == 0)
        PUT(output, "\",\"args\":{\"labels\":");
    else
        PUT(output, "\",\"args\":{\"name\":");
    if (text)
        put_text(output, text);
    else
        put_i64(output, number);
    PUT(output, "}}");
}

static void chrome_process(struct viewer_writer *viewer, uint32_t process, const char *name, const char *host)
{
    struct viewer_track track = {.process = process};
    put_metadata(viewer, track, "process_name", name, 0);
    put_metadata(viewer, track, "process_sort_index", NULL, process == WRITER_NOBODY ? -1 : (int64_t)process);
    if (host)
        put_metadata(viewer, track, "process_labels", host, 0);
}

static void chrome_track(struct viewer_writer *viewer, struct viewer_track track, const char *name)
{
    put_metadata(viewer, track, "thread_name", name, 0);
    put_metadata(viewer, track, "thread_sort_index", NULL, viewer_track_place(viewer, track));
}

static void begin_item(struct viewer_writer *viewer, const char *phase, const struct viewer_item *item)
{
    begin_object(viewer, phase, item->track);
    PUT(output_of(viewer), ",\"ts\":");
    put_time(output_of(viewer), item->time_ns);
}

static void put_what(struct viewer_writer *viewer, const struct viewer_item *item)
{
    PUT(output_of(viewer), ",\"name\":");
    put_name(viewer, item->name);
    PUT(output_of(viewer), ",\"cat\":\"");
    output_text(output_of(viewer), item->category);
    PUT(output_of(viewer), "\"");
}

static void chrome_begin(struct viewer_writer *viewer, const struct viewer_item *item)
{
    begin_item(viewer, "B", item);
    put_what(viewer, item);
    put_args(output_of(viewer), item->args);
    PUT(output_of(viewer), "}");
}

static void chrome_end(struct viewer_writer *viewer, const struct viewer_item *item)
{
    begin_item(viewer, "E", item);
    /* The format does not need it, but Speedscope ends only what has the same name. */
    PUT(output_of(viewer), ",\"name\":");
    put_name(viewer, item->name);
    put_args(output_of(viewer), item->args);
    PUT(output_of(viewer), "}");
}

static void chrome_moment(struct viewer_writer *viewer, const struct viewer_item *item)
{
    struct output *output = output_of(viewer);
    begin_item(viewer, "i", item);
    put_what(viewer, item);
    /* A moment of the thread, not of the process or of all. */
    PUT(output, ",\"s\":\"t\"");
    put_args(output, item->args);
    PUT(output, "}");
    if (item->message == 0)
        return;
    /* An arrow is two objects of the same category, name and id, inside the slices of the two calls. */
    begin_item(viewer, item->sends ? "s" : "f", item);
    PUT(output, ",\"name\":\"message\",\"cat\":\"message\",\"id\":");
    put_u64(output, item->message);
    if (!item->sends)
        /* Binds the arrow's end to the slice around it; without, it goes to the next one that begins. */
        PUT(output, ",\"bp\":\"e\"");
    PUT(output, "}");
}

static void put_value(struct output *output, enum counter_type type, const struct event *event)
{
    if (type == COUNTER_UINT64)
        put_u64(output, (uint64_t)event->value);
    else if (type != COUNTER_DOUBLE)
        put_i64(output, event->value);
    else if (isfinite(event_double(event)))
        output_print(output, "%.17g", event_double(event));
    else
        /* JSON has no infinity. */
        PUT(output, "null");
}

/* The viewers have a counter for each process, name and id. */
static void chrome_counter(struct viewer_writer *viewer, const struct viewer_item *item, const struct event *event)
{
    struct output *output = output_of(viewer);
    begin_item(viewer, "C", item);
    put_what(viewer, item);
    /* Counters of different threads would be one line of a graph. */
    if (event->thread > 0) {
        PUT(output, ",\"id\":");
        put_u64(output, event->thread);
    }
    PUT(output, ",\"args\":{\"value\":");
    put_value(output, viewer->writer.defs->marks[event->state].counter.type, event);
    PUT(output, "}}");
}

static const struct viewer_format chrome = {.head = chrome_head,
                                            .process = chrome_process,
                                            .track = chrome_track,
                                            .begin = chrome_begin,
                                            .end = chrome_end,
                                            .moment = chrome_moment,
                                            .counter = chrome_counter,
                                            .tail = chrome_tail};

static struct writer *chrome_create(void)
{
    struct chrome_writer *writer = memory_new(sizeof *writer);
    viewer_start(&writer->viewer, &chrome);
    return &writer->viewer.writer;
}

static void chrome_free(struct writer *writer)
{
    struct chrome_writer *chrome_writer = (struct chrome_writer *)(void *)writer;
    viewer_stop(&chrome_writer->viewer);
    for (size_t i = 0; i < QUOTED_COUNT; i++)
        free(chrome_writer->quoted[i].json);
    free(chrome_writer);
}

const struct writer_format writer_format_chrome = {.name = "chrome",
                                                   .title = "Chrome JSON",
                                                   .suffix = ".json",
                                                   .create = chrome_create,
                                                   .dispose = chrome_free,
                                                   .span = viewer_span};
