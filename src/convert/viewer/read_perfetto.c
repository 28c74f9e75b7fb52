/* SPDX-License-Identifier: BSD-3-Clause */
/* Perfetto's packets: track events, of the SDK's many users and of sight itself. Facts: perfetto(5). */
#include "convert/viewer/perfetto_clocks.h"
#include "convert/viewer/perfetto_packets.h"
#include "convert/viewer/protobuf.h"
#include "convert/viewer/slices.h"

#include "core/numbers.h"
#include "core/text.h"
#include "core/text_index.h"

#include <stdio.h>
#include <stdlib.h>

enum { PACKET_MOST = 64 << 20, PARENTS_MOST = 16 };

struct perfetto_track {
    uint64_t parent;
    bool of_process, of_thread, counts, adds; /* `adds`: its values are changes */
    int64_t pid, tid;
    char *name;  /* NULL */
    double sum;  /* of the values of one that adds */
    bool hidden; /* sight's waits or findings */
    bool placed; /* it has had events: on the track of this number */
    uint32_t slices;
};

struct perfetto_sequence {
    struct map interned[INTERNED_KINDS]; /* number -> text */
    uint64_t track;                      /* of events that name none */
    uint32_t clock;
};

/* An event. */
struct track_event {
    unsigned type;
    uint64_t track;
    const char *name, *category; /* "" */
    bool real;
    int64_t integer;
    double value;
    int64_t to, from, tag, bytes; /* of sight's messages; -1: not there */
    uint32_t site;
};

struct perfetto_state {
    struct slices *slices;
    struct map tracks; /* uuid -> index */
    struct perfetto_track *track;
    size_t track_count, track_capacity;
    struct map sequences; /* number -> index */
    struct perfetto_sequence *sequence;
    size_t sequence_count, sequence_capacity;
    struct perfetto_clocks clocks;
    struct map first_threads; /* pid -> uuid of its first thread */
    struct text_index texts;
};

/* Two packets are looked at, or all that there are. */
static int perfetto_probe(const unsigned char *data, size_t size)
{
    struct protobuf_message file = {data, data + size, false};
    unsigned packets = 0;
    for (bool whole = true; whole && packets < 2 && file.at < file.end; packets++) {
        uint64_t length;
        if (*file.at++ != (TRACE_PACKET << 3 | PROTOBUF_BYTES) || !protobuf_take_number(&file, &length) || length == 0)
            return 0;
        whole = length <= (uint64_t)(file.end - file.at);
        if (!whole && packets == 0 && size < PROBE_SIZE)
            return 0; /* the whole file is less than a packet */
        if (!perfetto_is_packet((struct protobuf_message){file.at, whole ? file.at + length : file.end, false}, whole))
            return 0;
        file.at += whole ? length : 0;
    }
    return packets > 0 ? 60 : 0;
}

static char *copy_text(const struct protobuf_field *field)
{
    return text_from_bytes((const char *)field->bytes, field->length);
}

/* The text of a field, which stays. */
static const char *keep_text(struct perfetto_state *state, const struct protobuf_field *field)
{
    bool added;
    char *text = copy_text(field);
    size_t index = text_index_put(&state->texts, text, &added);
    free(text);
    return state->texts.text[index];
}

static struct perfetto_sequence *sequence_of(struct perfetto_state *state, uint64_t number)
{
    uint64_t index = *map_put(&state->sequences, number % UINT64_MAX, state->sequence_count);
    if (index == state->sequence_count)
        ARRAY_PUSH(state->sequence, state->sequence_count, state->sequence_capacity,
                   (struct perfetto_sequence){.clock = CLOCK_BOOTTIME});
    return &state->sequence[index];
}

static struct perfetto_track *track_of(struct perfetto_state *state, uint64_t uuid)
{
    const uint64_t *index = map_find(&state->tracks, uuid % UINT64_MAX);
    return index ? &state->track[*index] : NULL;
}

/* What a sequence says of itself */

static void take_interned(struct perfetto_state *state, struct perfetto_sequence *sequence,
                          struct protobuf_message interned)
{
    struct protobuf_field kind, field;
    while (protobuf_next(&interned, &kind)) {
        if (kind.number == 0 || kind.number >= INTERNED_KINDS)
            continue;
        struct protobuf_message entry = protobuf_within(&kind);
        uint64_t number = 0;
        const char *text = "";
        while (protobuf_next(&entry, &field))
            if (field.number == ENTRY_ID)
                number = field.value;
            else if (field.number == ENTRY_TEXT)
                text = keep_text(state, &field);
        bool added;
        *map_put(&sequence->interned[kind.number], number % UINT64_MAX, 0) =
            text_index_put(&state->texts, text, &added);
    }
}

static const char *interned_text(const struct perfetto_state *state, const struct perfetto_sequence *sequence,
                                 enum interned kind, uint64_t number)
{
    const uint64_t *index = map_find(&sequence->interned[kind], number % UINT64_MAX);
    return index ? state->texts.text[*index] : "";
}

static void take_defaults(struct perfetto_sequence *sequence, struct protobuf_message defaults)
{
    struct protobuf_field field, of_event;
    while (protobuf_next(&defaults, &field)) {
        if (field.number == PACKET_CLOCK)
            sequence->clock = (uint32_t)field.value;
        if (field.number != DEFAULTS_EVENT)
            continue;
        struct protobuf_message event = protobuf_within(&field);
        while (protobuf_next(&event, &of_event))
            if (of_event.number == DEFAULTS_TRACK)
                sequence->track = of_event.value;
    }
}

/* Tracks */

static void take_owner(struct perfetto_state *state, struct perfetto_track *track, uint64_t uuid,
                       struct protobuf_message owner, bool is_thread)
{
    struct protobuf_field field;
    char *name = NULL;
    while (protobuf_next(&owner, &field))
        if (field.number == (is_thread ? (unsigned)THREAD_PID : (unsigned)PROCESS_PID))
            track->pid = (int64_t)field.value;
        else if (is_thread && field.number == THREAD_TID)
            track->tid = (int64_t)field.value;
        else if (field.number == (is_thread ? (unsigned)THREAD_NAME : (unsigned)PROCESS_NAME)) {
            free(name);
            name = copy_text(&field);
        }
    if (is_thread)
        map_put(&state->first_threads, (uint64_t)track->pid % UINT64_MAX, uuid);
    track->of_thread |= is_thread;
    track->of_process |= !is_thread;
    if (name) {
        free(track->name);
        track->name = name;
    }
}

static void take_track(struct perfetto_state *state, struct protobuf_message descriptor)
{
    struct perfetto_track track = {0};
    struct protobuf_message first = descriptor;
    struct protobuf_field field, of_counter;
    uint64_t uuid = 0;
    while (protobuf_next(&first, &field))
        if (field.number == TRACK_UUID)
            uuid = field.value;
    while (protobuf_next(&descriptor, &field)) {
        struct protobuf_message inner = protobuf_within(&field);
        if (field.number == TRACK_PARENT)
            track.parent = field.value;
        else if ((field.number == TRACK_NAME || field.number == TRACK_STATIC_NAME) && !track.name)
            track.name = copy_text(&field);
        else if (field.number == TRACK_PROCESS)
            take_owner(state, &track, uuid, inner, false);
        else if (field.number == TRACK_THREAD)
            take_owner(state, &track, uuid, inner, true);
        track.counts |= field.number == TRACK_COUNTER;
        while (field.number == TRACK_COUNTER && protobuf_next(&inner, &of_counter))
            track.adds |= of_counter.number == COUNTER_INCREMENTAL && of_counter.value;
    }
    uint64_t *index = map_put(&state->tracks, uuid % UINT64_MAX, state->track_count);
    if (*index == state->track_count) {
        ARRAY_PUSH(state->track, state->track_count, state->track_capacity, track);
        return;
    }
    /* Said again, as for each sequence: the last word counts. */
    track.sum = state->track[*index].sum;
    free(state->track[*index].name);
    state->track[*index] = track;
}

/* The process and the thread that a track is of, in texts. */
struct place {
    char process[32], thread[48];
    const struct perfetto_track *of_process, *of_thread;
};

static struct place place_of(struct perfetto_state *state, uint64_t uuid, const struct perfetto_packet *packet)
{
    struct place place = {0};
    const struct perfetto_track *track = track_of(state, uuid), *at = track;
    int64_t pid = packet->pid;
    snprintf(place.thread, sizeof place.thread, "track %llu", (unsigned long long)uuid);
    for (unsigned i = 0; i < PARENTS_MOST && at; i++) {
        if (at->of_thread && !place.of_thread && (at == track || track->counts)) {
            place.of_thread = at;
            snprintf(place.thread, sizeof place.thread, "%lld", (long long)at->tid);
        }
        if (at->of_thread || at->of_process)
            pid = at->pid;
        if (at->of_process)
            place.of_process = at;
        at = at->parent && at->parent != uuid ? track_of(state, at->parent) : NULL;
    }
    snprintf(place.process, sizeof place.process, "%lld", (long long)pid);
    /* Counters of a process stand on its first thread. */
    const uint64_t *first = map_find(&state->first_threads, (uint64_t)pid % UINT64_MAX);
    if (track && track->counts && !place.of_thread && first)
        snprintf(place.thread, sizeof place.thread, "%lld", (long long)track_of(state, *first)->tid);
    return place;
}

/* Whether a track is one of those that sight adds to a trace for viewers. */
static bool is_added(const struct place *place, const struct perfetto_track *track, const char *category)
{
    bool findings = place->of_process && place->of_process->name && strcmp(place->of_process->name, "findings") == 0;
    return findings || (track && track->name && strncmp(track->name, "waits", 5) == 0 && strcmp(category, "wait") == 0);
}

static uint32_t slices_track_of(struct perfetto_state *state, const struct place *place,
                                const struct perfetto_track *track)
{
    uint32_t index = slices_track(state->slices, place->process, place->thread);
    if (place->of_process && place->of_process->name)
        slices_name_process(state->slices, place->process, place->of_process->name);
    if (track && track->name && !track->counts && !track->of_process)
        slices_name_thread(state->slices, index, track->name);
    return index;
}

/* Events */

static void take_annotation(struct perfetto_state *state, const struct perfetto_sequence *sequence,
                            struct protobuf_message annotation, struct track_event *event)
{
    struct protobuf_field field;
    const char *name = "";
    int64_t value = -1;
    while (protobuf_next(&annotation, &field))
        if (field.number == ANNOTATION_NAME)
            name = interned_text(state, sequence, INTERNED_ANNOTATION, field.value);
        else if (field.number == ANNOTATION_NAME_TEXT)
            name = keep_text(state, &field);
        else if (field.number == ANNOTATION_NUMBER || field.number == ANNOTATION_UNSIGNED)
            value = (int64_t)field.value;
    struct {
        const char *name;
        int64_t *value;
    } known[] = {{"to", &event->to}, {"from", &event->from}, {"tag", &event->tag}, {"bytes", &event->bytes}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0)
            *known[i].value = value;
}

/* A place in the source: the SDK's TRACE_EVENT with source locations. */
static uint32_t take_source(struct perfetto_state *state, struct protobuf_message source)
{
    struct protobuf_field field;
    const char *file = "", *function = "";
    int32_t line = 0;
    while (protobuf_next(&source, &field))
        if (field.number == SOURCE_FILE)
            file = keep_text(state, &field);
        else if (field.number == SOURCE_FUNCTION)
            function = keep_text(state, &field);
        else if (field.number == SOURCE_LINE && field.value <= INT32_MAX)
            line = (int32_t)field.value;
    return slices_site(state->slices, file, line, function);
}

static struct track_event track_event_of(struct perfetto_state *state, const struct perfetto_sequence *sequence,
                                         struct protobuf_message message)
{
    struct track_event event = {
        .track = sequence->track, .name = "", .category = "", .to = -1, .from = -1, .tag = -1, .bytes = -1};
    struct protobuf_field field;
    while (protobuf_next(&message, &field)) {
        switch (field.number) {
        case EVENT_TYPE:
            event.type = (unsigned)smaller(field.value, (uint64_t)UINT32_MAX);
            break;
        case EVENT_TRACK:
            event.track = field.value;
            break;
        case EVENT_NAME:
            event.name = interned_text(state, sequence, INTERNED_NAME, field.value);
            break;
        case EVENT_NAME_TEXT:
            event.name = keep_text(state, &field);
            break;
        case EVENT_CATEGORY:
            event.category = interned_text(state, sequence, INTERNED_CATEGORY, field.value);
            break;
        case EVENT_CATEGORY_TEXT:
            event.category = keep_text(state, &field);
            break;
        case EVENT_ANNOTATION:
            take_annotation(state, sequence, protobuf_within(&field), &event);
            break;
        case EVENT_INTEGER:
            event.integer = (int64_t)field.value;
            break;
        case EVENT_REAL:
            event.real = true;
            memcpy(&event.value, &field.value, sizeof event.value);
            break;
        case EVENT_SOURCE:
            event.site = take_source(state, protobuf_within(&field));
            break;
        default:
            break;
        }
    }
    return event;
}

static enum status add_message(struct perfetto_state *state, uint32_t track, int64_t time_ns,
                               const struct track_event *event, struct error *err)
{
    bool sends = event->to >= 0;
    int64_t partner = sends ? event->to : event->from;
    struct event end = EVENT_NOTHING;
    end.kind = sends ? EVENT_SEND : EVENT_RECEIVE;
    end.partner = partner < PROCESS_LIMIT ? (int32_t)partner : EVENT_UNKNOWN;
    end.tag = event->tag >= 0 && event->tag <= INT32_MAX ? (int32_t)event->tag : EVENT_UNKNOWN;
    if (sends)
        end.bytes_sent = event->bytes >= 0 ? event->bytes : BYTES_UNKNOWN;
    else
        end.bytes_received = event->bytes >= 0 ? event->bytes : BYTES_UNKNOWN;
    return slices_message(state->slices, track, time_ns, end, err);
}

static enum status add_counter(struct perfetto_state *state, uint32_t track, int64_t time_ns,
                               struct perfetto_track *counter, const struct track_event *event, struct error *err)
{
    double value = event->real ? event->value : (double)event->integer;
    if (counter && counter->adds)
        value = counter->sum += value;
    return slices_counter(state->slices, track, time_ns, counter && counter->name ? counter->name : event->name, value,
                          err);
}

/* The track of slices that an event is on. False: sight added it for viewers. */
static bool find_slices(struct perfetto_state *state, const struct perfetto_packet *packet,
                        const struct track_event *event, uint32_t *slices)
{
    struct perfetto_track *track = track_of(state, event->track);
    if (track && (track->placed || track->hidden)) {
        *slices = track->slices;
        return !track->hidden;
    }
    struct place place = place_of(state, event->track, packet);
    bool added = is_added(&place, track, event->category);
    if (!added)
        *slices = slices_track_of(state, &place, track);
    if (track) {
        track->hidden = added;
        track->placed = !added;
        track->slices = added ? 0 : *slices;
    }
    return !added;
}

static enum status add_event(struct reader *reader, const struct perfetto_packet *packet, struct error *err)
{
    struct perfetto_state *state = reader->state;
    struct track_event event = track_event_of(state, sequence_of(state, packet->sequence), packet->event);
    uint32_t at;
    if (!packet->timed || event.type < TYPE_BEGIN || event.type > TYPE_COUNTER) {
        reader_count(reader, "event of another kind, not read", 1);
        return STATUS_OK;
    }
    if (!find_slices(state, packet, &event, &at))
        return STATUS_OK;
    switch (event.type) {
    case TYPE_BEGIN:
        return slices_begin(state->slices, at, packet->time_ns, event.name, event.site, err);
    case TYPE_END:
        return slices_end(state->slices, at, packet->time_ns, err);
    case TYPE_COUNTER:
        return add_counter(state, at, packet->time_ns, track_of(state, event.track), &event, err);
    default:
        if (strcmp(event.category, "message") == 0 && (event.to >= 0 || event.from >= 0))
            return add_message(state, at, packet->time_ns, &event, err);
        return slices_moment(state->slices, at, packet->time_ns, event.name, err);
    }
}

/* Packets */

static enum status take_packet(struct reader *reader, struct protobuf_message message, struct error *err)
{
    struct perfetto_state *state = reader->state;
    struct perfetto_packet packet;
    if (!perfetto_packet_parse(&packet, message)) {
        reader_damage(reader, reader->input->offset, "a packet that cannot be read");
        return STATUS_OK;
    }
    struct perfetto_sequence *sequence = sequence_of(state, packet.sequence);
    for (size_t i = 0; i < INTERNED_KINDS && (packet.flags & FLAGS_CLEARED); i++)
        map_clear(&sequence->interned[i]);
    take_interned(state, sequence, packet.interned);
    take_defaults(sequence, packet.defaults);
    if (packet.clocks.at)
        perfetto_clocks_take(&state->clocks, packet.sequence, packet.clocks);
    if (packet.track.at)
        take_track(state, packet.track);
    if (packet.clock == 0)
        packet.clock = sequence->clock;
    if (!packet.event.at) {
        if (!packet.track.at && !packet.clocks.at && !packet.interned.at && !packet.defaults.at)
            reader_count(reader, "packet of another kind, not read", 1);
        return STATUS_OK;
    }
    packet.time_ns = perfetto_clocks_time(&state->clocks, packet.sequence, packet.clock, packet.timestamp);
    return add_event(reader, &packet, err);
}

/* The next packet's length, which is consumed. STATUS_END: there is none; then *wrong says why unless the file ends. */
static enum status take_length(struct reader *reader, uint64_t *length, const char **wrong, struct error *err)
{
    enum status status = input_need(reader->input, 1 + VARINT_MAX, err);
    *wrong = NULL;
    if (status == STATUS_FAILED || input_available(reader->input) == 0)
        return status;
    struct protobuf_message head = {reader->input->at, reader->input->end, false};
    if (*head.at++ != (TRACE_PACKET << 3 | PROTOBUF_BYTES) || !protobuf_take_number(&head, length))
        *wrong = "no packet from here on";
    else if (*length > PACKET_MOST)
        *wrong = "a packet of more than 64 MiB";
    if (*wrong)
        return STATUS_END;
    input_consume(reader->input, (size_t)(head.at - reader->input->at));
    return STATUS_OK;
}

static enum status perfetto_open(struct reader *reader, struct error *err)
{
    struct perfetto_state *state = reader->state;
    const char *wrong = NULL;
    uint64_t length = 0, packets = 0;
    enum status status;
    state->slices = slices_new(reader->defs);
    while ((status = take_length(reader, &length, &wrong, err)) == STATUS_OK) {
        status = input_need(reader->input, (size_t)length, err);
        if (status == STATUS_END)
            wrong = "the file ends inside a packet";
        if (status != STATUS_OK)
            break;
        packets++;
        status =
            take_packet(reader, (struct protobuf_message){reader->input->at, reader->input->at + length, false}, err);
        if (status != STATUS_OK)
            break;
        input_consume(reader->input, (size_t)length);
    }
    if (status == STATUS_FAILED)
        return status;
    if (wrong)
        reader_damage(reader, reader->input->offset, "%s", wrong);
    reader_count(reader, "packet", packets);
    reader->complete = reader->damage.count == 0;
    reader->used = reader->total = reader->input->offset;
    return slices_sort(state->slices, err);
}

static enum status perfetto_next(struct reader *reader, struct batch *batch, struct error *err)
{
    struct perfetto_state *state = reader->state;
    return slices_next(state->slices, reader, batch, err);
}

static void perfetto_close(struct reader *reader)
{
    struct perfetto_state *state = reader->state;
    slices_free(state->slices);
    for (size_t i = 0; i < state->track_count; i++)
        free(state->track[i].name);
    for (size_t i = 0; i < state->sequence_count; i++)
        for (size_t k = 0; k < INTERNED_KINDS; k++)
            map_clear(&state->sequence[i].interned[k]);
    free(state->track);
    free(state->sequence);
    map_clear(&state->tracks);
    map_clear(&state->sequences);
    perfetto_clocks_clear(&state->clocks);
    map_clear(&state->first_threads);
    text_index_clear(&state->texts);
}

const struct format format_perfetto = {.name = "perfetto",
                                       .title = "Perfetto",
                                       .suffix = ".pftrace",
                                       .probe = perfetto_probe,
                                       .state_size = sizeof(struct perfetto_state),
                                       .open = perfetto_open,
                                       .next = perfetto_next,
                                       .close = perfetto_close};
