/* SPDX-License-Identifier: BSD-3-Clause */
/* Perfetto's trace packets, protocol buffers. Rules: perfetto(5); numbers of fields: Perfetto's public schema. */
#include "convert/viewer/perfetto_packets.h"
#include "convert/viewer/protobuf.h"
#include "convert/viewer/viewer.h"
#include "core/property.h"

#include <string.h>

struct perfetto_writer {
    struct viewer_writer viewer;         /* first */
    struct map interned[INTERNED_KINDS]; /* address of a text -> number */
    struct map counters;                 /* uuids of counters that have their track */
    struct protobuf packet, event, part, new_texts;
};

static struct perfetto_writer *perfetto_of(struct viewer_writer *viewer)
{
    return (struct perfetto_writer *)(void *)viewer;
}

/* Numbers of tracks: processes, tracks of processes, counters of threads. */
static uint64_t process_uuid(const struct viewer_writer *viewer, uint32_t process)
{
    return viewer_process_number(viewer, process);
}

/* Three ranges that cannot meet: processes below 2^32, tracks from there, counters from 2^33. */
static uint64_t track_uuid(const struct viewer_writer *viewer, struct viewer_track track)
{
    return UINT64_C(1) << 32 | viewer_track_number(viewer, track);
}

static uint64_t counter_uuid(const struct viewer_writer *viewer, struct viewer_track track, uint32_t mark)
{
    return ((uint64_t)mark + 2) << 32 | viewer_track_number(viewer, track);
}

/* Interned names need a sequence, and its first packet has to say that nothing was interned before. */
static void put_packet(struct perfetto_writer *perfetto, uint64_t flags)
{
    unsigned char head[1 + VARINT_MAX] = {TRACE_PACKET << 3 | PROTOBUF_BYTES};
    struct output *output = perfetto->viewer.writer.output;
    protobuf_number(&perfetto->packet, PACKET_SEQUENCE, SEQUENCE);
    protobuf_number(&perfetto->packet, PACKET_FLAGS, flags);
    output_write(output, head, (size_t)(varint_put(head + 1, perfetto->packet.length) - head));
    output_write(output, perfetto->packet.bytes, perfetto->packet.length);
    perfetto->packet.length = 0;
}

static void perfetto_head(struct viewer_writer *viewer)
{
    writer_lose_properties(&viewer->writer, (const char *const[]){PROPERTY_HOST, NULL});
    put_packet(perfetto_of(viewer), FLAGS_CLEARED);
}

/* Perfetto sorts by the number that Chrome's format had for it; 0 is before all ranks: the findings. */
static void perfetto_process(struct viewer_writer *viewer, uint32_t process, const char *name, const char *host)
{
    struct perfetto_writer *perfetto = perfetto_of(viewer);
    uint64_t number = viewer_process_number(viewer, process);
    protobuf_number(&perfetto->event, TRACK_UUID, process_uuid(viewer, process));
    protobuf_number(&perfetto->part, PROCESS_PID, number);
    protobuf_text(&perfetto->part, PROCESS_NAME, name);
    protobuf_number(&perfetto->part, PROCESS_SORT, process == WRITER_NOBODY ? 0 : number);
    if (host)
        protobuf_text(&perfetto->part, PROCESS_LABELS, host);
    protobuf_message(&perfetto->event, TRACK_PROCESS, &perfetto->part);
    protobuf_number(&perfetto->event, TRACK_CHILD_ORDER, CHILD_ORDER_EXPLICIT);
    protobuf_message(&perfetto->packet, PACKET_TRACK, &perfetto->event);
    put_packet(perfetto, FLAGS_NEEDED);
}

/* Lane 0 is the thread itself. */
static void perfetto_track(struct viewer_writer *viewer, struct viewer_track track, const char *name)
{
    struct perfetto_writer *perfetto = perfetto_of(viewer);
    protobuf_number(&perfetto->event, TRACK_UUID, track_uuid(viewer, track));
    protobuf_number(&perfetto->event, TRACK_PARENT, process_uuid(viewer, track.process));
    if (track.lane == 0) {
        protobuf_number(&perfetto->part, THREAD_PID, viewer_process_number(viewer, track.process));
        protobuf_number(&perfetto->part, THREAD_TID, viewer_track_number(viewer, track));
        protobuf_text(&perfetto->part, THREAD_NAME, name);
        protobuf_message(&perfetto->event, TRACK_THREAD, &perfetto->part);
    } else {
        protobuf_text(&perfetto->event, TRACK_NAME, name);
    }
    /* The order below its process, which asks for it (CHILD_ORDER_EXPLICIT). */
    protobuf_number(&perfetto->event, TRACK_RANK, (uint64_t)viewer_track_place(viewer, track));
    protobuf_message(&perfetto->packet, PACKET_TRACK, &perfetto->event);
    put_packet(perfetto, FLAGS_NEEDED);
}

/* The number of a text, which the packet at hand defines where it is new. */
static uint64_t intern(struct perfetto_writer *perfetto, enum interned kind, const char *text)
{
    struct map *map = &perfetto->interned[kind];
    size_t had = map->count;
    /* By address: names are those of definitions, or literals. The same text at two addresses gets two numbers,
       which is legal. */
    uint64_t number = *map_put(map, (uint64_t)(uintptr_t)text, had + 1);
    if (map->count > had) {
        protobuf_number(&perfetto->part, ENTRY_ID, number);
        protobuf_text(&perfetto->part, ENTRY_TEXT, text);
        protobuf_message(&perfetto->new_texts, kind, &perfetto->part);
    }
    return number;
}

/* Arguments are shown beside a slice when it is selected. */
static void put_annotation(struct perfetto_writer *perfetto, const struct viewer_arg *arg)
{
    uint64_t name = intern(perfetto, INTERNED_ANNOTATION, arg->key);
    protobuf_number(&perfetto->part, ANNOTATION_NAME, name);
    if (arg->text)
        protobuf_text(&perfetto->part, ANNOTATION_TEXT, arg->text);
    else
        protobuf_number(&perfetto->part, ANNOTATION_NUMBER, (uint64_t)arg->number);
    protobuf_message(&perfetto->event, EVENT_ANNOTATION, &perfetto->part);
}

static void begin_event(struct perfetto_writer *perfetto, const struct viewer_item *item, unsigned type, uint64_t track)
{
    protobuf_number(&perfetto->packet, PACKET_TIMESTAMP, (uint64_t)item->time_ns);
    protobuf_number(&perfetto->event, EVENT_TYPE, type);
    protobuf_number(&perfetto->event, EVENT_TRACK, track);
}

static void put_event(struct perfetto_writer *perfetto)
{
    protobuf_message(&perfetto->packet, PACKET_EVENT, &perfetto->event);
    protobuf_message(&perfetto->packet, PACKET_INTERNED, &perfetto->new_texts);
    put_packet(perfetto, FLAGS_NEEDED);
}

static void put_item(struct viewer_writer *viewer, const struct viewer_item *item, unsigned type)
{
    struct perfetto_writer *perfetto = perfetto_of(viewer);
    begin_event(perfetto, item, type, track_uuid(viewer, item->track));
    /* The end of a slice ends the innermost of its track, whatever its name. */
    if (type != TYPE_END) {
        protobuf_number(&perfetto->event, EVENT_NAME, intern(perfetto, INTERNED_NAME, item->name));
        protobuf_number(&perfetto->event, EVENT_CATEGORY, intern(perfetto, INTERNED_CATEGORY, item->category));
    }
    for (size_t i = 0; i < item->args->count; i++)
        put_annotation(perfetto, &item->args->arg[i]);
    /* An arrow is one number at both ends: where it begins, and where it ends. */
    if (item->message != 0)
        protobuf_fixed64(&perfetto->event, item->sends ? EVENT_FLOW : EVENT_FLOW_ENDS, item->message);
    put_event(perfetto);
}

static void perfetto_begin(struct viewer_writer *viewer, const struct viewer_item *item)
{
    put_item(viewer, item, TYPE_BEGIN);
}

static void perfetto_end(struct viewer_writer *viewer, const struct viewer_item *item)
{
    put_item(viewer, item, TYPE_END);
}

static void perfetto_moment(struct viewer_writer *viewer, const struct viewer_item *item)
{
    put_item(viewer, item, TYPE_INSTANT);
}

/* A counter of a thread is a track of its own below the process. */
static void name_counter(struct viewer_writer *viewer, const struct viewer_item *item, uint32_t mark, uint64_t uuid)
{
    struct perfetto_writer *perfetto = perfetto_of(viewer);
    const struct counter_def *counter = &viewer->writer.defs->marks[mark].counter;
    protobuf_number(&perfetto->event, TRACK_UUID, uuid);
    protobuf_number(&perfetto->event, TRACK_PARENT, process_uuid(viewer, item->track.process));
    protobuf_text(&perfetto->event, TRACK_NAME, item->name);
    if (counter->unit)
        protobuf_text(&perfetto->part, COUNTER_UNIT_NAME, counter->unit);
    /* Written even if it is empty: that it is there makes the track a counter's. */
    protobuf_bytes(&perfetto->event, TRACK_COUNTER, perfetto->part.bytes ? (const void *)perfetto->part.bytes : "",
                   perfetto->part.length);
    perfetto->part.length = 0;
    protobuf_number(&perfetto->event, TRACK_RANK, (uint64_t)viewer_track_place(viewer, item->track));
    protobuf_message(&perfetto->packet, PACKET_TRACK, &perfetto->event);
    put_packet(perfetto, FLAGS_NEEDED);
}

/* Packets have signed integers only. */
static void put_value(struct protobuf *message, enum counter_type type, const struct event *event)
{
    struct event real = *event;
    if (type == COUNTER_UINT64 && event->value < 0)
        event_set_double(&real, (double)(uint64_t)event->value);
    else if (type != COUNTER_DOUBLE) {
        protobuf_number(message, EVENT_INTEGER, (uint64_t)event->value);
        return;
    }
    protobuf_fixed64(message, EVENT_REAL, (uint64_t)real.value);
}

static void perfetto_counter(struct viewer_writer *viewer, const struct viewer_item *item, const struct event *event)
{
    struct perfetto_writer *perfetto = perfetto_of(viewer);
    struct viewer_track thread = {item->track.process, item->track.thread, 0};
    uint64_t uuid = counter_uuid(viewer, thread, event->state);
    uint64_t *named = map_put(&perfetto->counters, uuid, 0);
    if ((*named)++ == 0)
        name_counter(viewer, item, event->state, uuid);
    begin_event(perfetto, item, TYPE_COUNTER, uuid);
    put_value(&perfetto->event, viewer->writer.defs->marks[event->state].counter.type, event);
    put_event(perfetto);
}

static void perfetto_tail(struct viewer_writer *viewer)
{
    (void)viewer; /* a trace ends with its last packet */
}

static const struct viewer_format perfetto = {.head = perfetto_head,
                                              .process = perfetto_process,
                                              .track = perfetto_track,
                                              .begin = perfetto_begin,
                                              .end = perfetto_end,
                                              .moment = perfetto_moment,
                                              .counter = perfetto_counter,
                                              .tail = perfetto_tail};

static struct writer *perfetto_create(void)
{
    struct perfetto_writer *writer = memory_new(sizeof *writer);
    viewer_start(&writer->viewer, &perfetto);
    return &writer->viewer.writer;
}

static void perfetto_free(struct writer *writer)
{
    struct perfetto_writer *perfetto_writer = (struct perfetto_writer *)(void *)writer;
    viewer_stop(&perfetto_writer->viewer);
    for (size_t i = 0; i < INTERNED_KINDS; i++)
        map_clear(&perfetto_writer->interned[i]);
    map_clear(&perfetto_writer->counters);
    free(perfetto_writer->packet.bytes);
    free(perfetto_writer->event.bytes);
    free(perfetto_writer->part.bytes);
    free(perfetto_writer->new_texts.bytes);
    free(perfetto_writer);
}

const struct writer_format writer_format_perfetto = {.name = "perfetto",
                                                     .title = "Perfetto",
                                                     .suffix = ".pftrace",
                                                     .create = perfetto_create,
                                                     .dispose = perfetto_free,
                                                     .span = viewer_span};
