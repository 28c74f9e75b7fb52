/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing the trace XML: everything is sorted first, definitions and records about the trace before the events. */
#include "convert/xml/write_xml.h"

#include "core/event_pack.h"
#include "core/payload.h"

/* Sort keys: records about the trace come first, in the order of their arrival. */
enum { MAJOR_RECORDS = 0, MAJOR_EVENTS = 1 };

/* Precedes a packed record about the trace: its key does not have its time and place. */
struct record_head {
    int64_t time_ns, after;
    uint32_t process;
};

static struct xml_writer *xml_of(struct sink *sink)
{
    return (struct xml_writer *)(void *)sink;
}

static enum status xml_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    xml_of(sink)->defs = xml_of(sink)->writer.defs = defs;
    return STATUS_OK;
}

/* The tie of a process, created if needed. Processes come in any order: those between get an empty one. */
static struct xml_tie *tie_of(struct xml_writer *xml, uint32_t process)
{
    ARRAY_RESERVE(xml->ties, xml->tie_capacity, (size_t)process + 1);
    while (xml->tie_count <= process)
        xml->ties[xml->tie_count++] = (struct xml_tie){0};
    return &xml->ties[process];
}

static enum status add(struct xml_writer *xml, struct sort_key key, const struct record_head *head,
                       const struct event *event, const unsigned char *arena, struct error *err)
{
    size_t used = 0;
    ARRAY_RESERVE(xml->record, xml->record_capacity, sizeof *head + EVENT_PACK_MAX + event->payload_length);
    if (head) {
        memcpy(xml->record, head, sizeof *head);
        used = sizeof *head;
    }
    used += event_pack(xml->record + used, event, arena);
    return sorter_add(xml->sorter, key, xml->record, used, err);
}

static enum status add_event(struct xml_writer *xml, const struct event *event, const unsigned char *arena,
                             struct error *err)
{
    struct xml_tie *tie = event->process < xml->tie_count ? &xml->ties[event->process] : tie_of(xml, event->process);
    if (tie->count == 0 || event->time_ns > tie->time_ns)
        *tie = (struct xml_tie){event->time_ns, 1};
    else
        tie->count += event->time_ns == tie->time_ns;
    struct sort_key key = {MAJOR_EVENTS + (uint64_t)event->process, sort_key_signed(event->time_ns)};
    /* A record of the sorter has 64 KiB at most. */
    if (event->payload_length <= XML_PAYLOAD_MAX)
        return add(xml, key, NULL, event, arena, err);
    struct event without = *event;
    without.payload_length = 0;
    writer_lose(&xml->writer, "payloads of more than 60,000 bytes", 1);
    return add(xml, key, NULL, &without, arena, err);
}

/* How many events of the same process and time came before the record. If later events came first, count after sorting:
   a marker goes among the events. */
static enum status count_after(struct xml_writer *xml, const struct event *event, int64_t *after, struct error *err)
{
    const struct xml_tie *tie = tie_of(xml, event->process);
    *after = 0;
    if (tie->count == 0 || event->time_ns > tie->time_ns)
        return STATUS_OK;
    if (event->time_ns == tie->time_ns) {
        *after = (int64_t)tie->count;
        return STATUS_OK;
    }
    struct event marker = EVENT_NOTHING;
    /* No event of the program has this kind, so that the passes over the sorted events recognise markers. */
    marker.kind = EVENT_DEFINITION;
    marker.value = (int64_t)xml->late_count;
    /* Below 0: an index into `late`, where count_late leaves the number. */
    *after = -1 - (int64_t)xml->late_count;
    ARRAY_PUSH(xml->late, xml->late_count, xml->late_capacity, 0);
    struct sort_key key = {MAJOR_EVENTS + (uint64_t)event->process, sort_key_signed(event->time_ns)};
    return add(xml, key, NULL, &marker, NULL, err);
}

static void keep_place(struct xml_writer *xml, const struct event *event, int64_t after)
{
    struct xml_places *places = &xml->places[event->value];
    ARRAY_RESERVE(places->places, places->capacity, (size_t)event->state + 1);
    while (places->count <= event->state)
        places->places[places->count++] = (struct xml_place){0};
    struct xml_place *place = &places->places[event->state];
    if (place->known)
        /* The document has one line for a definition, and so one place for it. */
        writer_lose(&xml->writer, "repeated definition records", 1);
    else
        *place = (struct xml_place){event->time_ns, after, event->process, event->thread, event->comm, true};
}

/* True if the record's definition exists. A reader of damaged input may give a record for what it then did not
   define. */
static bool names_definition(const struct defs *defs, const struct event *event)
{
    const size_t counts[DEFINITION_KINDS] = {defs->state_count, defs->mark_count, defs->constant_count,
                                             defs->site_count};
    if (event->kind == EVENT_NEIGHBOURS)
        return event->state < defs->mark_count;
    return event->value >= 0 && event->value < DEFINITION_KINDS && event->state < counts[event->value];
}

static enum status add_record(struct xml_writer *xml, const struct event *event, const unsigned char *arena,
                              struct error *err)
{
    struct record_head head = {.time_ns = event->time_ns, .process = event->process};
    if (event->kind >= EVENT_DEFINITION && !names_definition(xml->defs, event))
        return STATUS_OK;
    if (count_after(xml, event, &head.after, err) != STATUS_OK)
        return STATUS_FAILED;
    if (event->kind == EVENT_DEFINITION)
        keep_place(xml, event, head.after);
    struct event record = *event;
    if (event->kind != EVENT_NEIGHBOURS || event->payload_length > NEIGHBOURS_MARK_SIZE)
        record.payload_length = 0;
    return add(xml, (struct sort_key){MAJOR_RECORDS, xml->sequence++}, &head, &record, arena, err);
}

static enum status xml_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct xml_writer *xml = xml_of(sink);
    for (size_t i = 0; i < batch->count; i++) {
        const struct event *event = &batch->events[i];
        enum status status =
            event_counts(event) ? add_event(xml, event, batch->arena, err) : add_record(xml, event, batch->arena, err);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* The pass that counts the events at the same time before a record that came late. Only where a record came after
   later events of its process: never for what readers deliver in order. */
static enum status count_late(struct xml_writer *xml, struct error *err)
{
    struct sort_key key, last = {MAJOR_RECORDS, 0};
    uint64_t count = 0;
    const void *data;
    size_t length;
    enum status status = sorter_rewind(xml->sorter, err);
    while (status == STATUS_OK && (status = sorter_next(xml->sorter, &key, &data, &length, err)) == STATUS_OK) {
        if (key.major == MAJOR_RECORDS)
            continue;
        struct event event;
        event_unpack(&event, data);
        if (key.major != last.major || key.minor != last.minor)
            count = 0;
        last = key;
        if (event.kind == EVENT_DEFINITION)
            xml->late[event.value] = count;
        else
            count++;
    }
    if (status == STATUS_END)
        return STATUS_OK;
    return status;
}

/* What a reader has to know before the first event; damage is that of the source. */
static void write_head(struct xml_writer *xml, const struct trace_end *end)
{
    const struct defs *defs = xml->defs;
    struct xml_line *line = &xml->line;
    XML_PUT(line, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE trace SYSTEM \"sight.dtd\">\n<trace");
    if (defs->processes)
        xml_put_attribute_i64(line, "processes", defs->processes);
    if (defs->threads > 1)
        xml_put_attribute_i64(line, "threads", defs->threads);
    xml_put_attribute_text(line, "source", defs->version);
    xml_put_attribute_text(line, "creator", defs->creator);
    /* A reader of the copy must not take it for whole. */
    if (!end->complete)
        XML_PUT(line, " complete=\"no\"");
    if (end->damage.count)
        xml_put_attribute_text(line, "damage", end->damage.first);
    XML_PUT(line, ">\n");
    output_write(xml->writer.output, line->text, line->length);
    line->length = 0;
}

/* A definition brings those with smaller numbers along: the document has them in order. */
static void write_record(struct xml_writer *xml, const unsigned char *data)
{
    struct record_head head;
    struct event event;
    memcpy(&head, data, sizeof head);
    event_unpack(&event, data + sizeof head);
    event.time_ns = head.time_ns;
    event.process = head.process;
    if (event.kind == EVENT_DEFINITION) {
        xml_write_definitions(xml, (enum definition_kind)event.value, event.state);
        return;
    }
    /* Its reader finds the mark by its name. */
    if (event.kind == EVENT_NEIGHBOURS)
        xml_write_definitions(xml, DEFINITION_MARK, event.state);
    xml_write_record(xml, &event, data + sizeof head, head.after);
}

static void write_other_definitions(struct xml_writer *xml)
{
    const struct defs *defs = xml->defs;
    const size_t counts[DEFINITION_KINDS] = {defs->state_count, defs->mark_count, defs->constant_count,
                                             defs->site_count};
    for (int kind = 0; kind < DEFINITION_KINDS; kind++)
        if (counts[kind])
            xml_write_definitions(xml, (enum definition_kind)kind, counts[kind] - 1);
    xml_write_places(xml);
}

static enum status write_sorted(struct xml_writer *xml, struct error *err)
{
    struct sort_key key;
    const void *data;
    size_t length;
    bool in_records = true;
    enum status status = sorter_rewind(xml->sorter, err);
    while (status == STATUS_OK && (status = sorter_next(xml->sorter, &key, &data, &length, err)) == STATUS_OK) {
        if (key.major == MAJOR_RECORDS) {
            write_record(xml, data);
            continue;
        }
        /* The last of what comes before the events: definitions that no record has brought. */
        if (in_records)
            write_other_definitions(xml);
        in_records = false;
        struct event event;
        event_unpack(&event, data);
        if (event.kind == EVENT_DEFINITION)
            continue;
        event.time_ns = (int64_t)sort_key_signed((int64_t)key.minor);
        event.process = (uint32_t)(key.major - MAJOR_EVENTS);
        xml_write_event(xml, &event, data);
    }
    if (in_records)
        write_other_definitions(xml);
    if (status == STATUS_END)
        return STATUS_OK;
    return status;
}

static enum status xml_end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    struct xml_writer *xml = xml_of(sink);
    if (xml->late_count && count_late(xml, err) != STATUS_OK)
        return STATUS_FAILED;
    xml->world = EVENT_UNKNOWN;
    for (size_t i = 0; i < xml->defs->comm_count && xml->world == EVENT_UNKNOWN; i++)
        if (xml->defs->comms[i].world)
            xml->world = (int32_t)i;
    write_head(xml, end);
    xml_write_properties(xml);
    /* Communicators before all lines that may name them. */
    xml_write_communicators(xml);
    xml_events_prepare(xml);
    if (write_sorted(xml, err) != STATUS_OK)
        return STATUS_FAILED;
    xml_events_end(xml);
    output_text(xml->writer.output, "</trace>\n");
    return STATUS_OK;
}

static struct writer *xml_create(void)
{
    struct xml_writer *xml = memory_new(sizeof *xml);
    xml->writer.sink = (struct sink){.begin = xml_begin, .events = xml_events, .end = xml_end};
    xml->writer.format = &writer_format_xml;
    xml->sorter = sorter_new(WRITER_SORT_MEMORY);
    return &xml->writer;
}

static void xml_free(struct writer *writer)
{
    struct xml_writer *xml = (struct xml_writer *)(void *)writer;
    sorter_free(xml->sorter);
    xml_stacks_free(&xml->stacks);
    for (size_t i = 0; i < DEFINITION_KINDS; i++)
        free(xml->places[i].places);
    free(xml->record);
    free(xml->ties);
    free(xml->late);
    free(xml->line.text);
    free(xml->held.text);
    free(xml->names.text);
    free(xml->prefix.text);
    free(xml->states);
    free(xml->marks);
    free(xml->calls);
    free(xml);
}

const struct writer_format writer_format_xml = {
    .name = "xml",
    .title = "SIGHT XML",
    .suffix = ".xml",
    .create = xml_create,
    .dispose = xml_free,
};
