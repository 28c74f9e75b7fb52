/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the trace XML with libxml2's push parser: no tree, no entities, nothing but the file itself. */
#include "convert/read_xml.h"

#include "core/memory.h"

#include <inttypes.h>
#include <stdio.h>

enum { CHUNK = 16 << 10, PARSE_BELOW = BATCH_EVENTS / 2, NESTING_LIMIT = 256 };

/* Byte of the element at hand: the parser stands behind its attributes, which hold no '<'. */
static uint64_t element_byte(const struct xml_reader *xml)
{
    long consumed = xmlByteConsumed(xml->parser);
    if (consumed < 0)
        return xml->reader->input->offset;
    const xmlParserInput *input = xml->parser->input;
    const xmlChar *at = input->cur;
    while (at > input->base && *at != '<')
        at--;
    return (uint64_t)consumed - (uint64_t)(*at == '<' ? input->cur - at : 0);
}

void xml_damage(struct xml_reader *xml, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    reader_damage(xml->reader, element_byte(xml), "%s", text);
}

int64_t xml_number(struct xml_reader *xml, enum xml_attribute attribute, int64_t min, int64_t max, int64_t absent)
{
    static const char *const names[] = {
#define ATTRIBUTE_NAME(name) #name,
        XML_ATTRIBUTES(ATTRIBUTE_NAME)
#undef ATTRIBUTE_NAME
    };
    int64_t number;
    if (!xml_has(xml, attribute))
        return absent;
    struct xml_value value = xml->values[attribute];
    if (xml_get_i64(value, min, max, &number))
        return number;
    int length = value.length < 40 ? (int)value.length : 40;
    xml_damage(xml, "attribute %s is no number from %" PRId64 " to %" PRId64 " (\"%.*s\")", names[attribute], min, max,
               length, value.at);
    return absent;
}

int32_t xml_number_i32(struct xml_reader *xml, enum xml_attribute attribute)
{
    return (int32_t)xml_number(xml, attribute, INT32_MIN + 1, INT32_MAX, EVENT_UNKNOWN);
}

const char *xml_text(struct xml_reader *xml, enum xml_attribute attribute)
{
    if (!xml_has(xml, attribute))
        return NULL;
    xml->text.length = 0;
    char *text = xml_room(&xml->text, xml->values[attribute].length + 1);
    xml_get_utf8(xml->values[attribute], text);
    return text;
}

bool xml_is_yes(const struct xml_reader *xml, enum xml_attribute attribute)
{
    return xml_has(xml, attribute) && xml_value_is(xml->values[attribute], "yes");
}

static size_t name_place(const xmlChar *name)
{
    uint64_t hash = map_hash((uintptr_t)name >> 1);
    return (size_t)(hash >> 24) % XML_NAME_TABLE_SIZE;
}

/* The row of a name of the dictionary; its name is NULL where it is not known. */
static struct xml_name *name_find(struct xml_reader *xml, const xmlChar *name)
{
    size_t at = name_place(name);
    while (xml->names[at].name && xml->names[at].name != name)
        at = (at + 1) % XML_NAME_TABLE_SIZE;
    return &xml->names[at];
}

static struct xml_name *name_intern(struct xml_reader *xml, const char *word)
{
    const xmlChar *name = xmlDictLookup(xml->parser->dict, (const xmlChar *)word, -1);
    struct xml_name *place = name_find(xml, name);
    place->name = name;
    return place;
}

static void intern_names(struct xml_reader *xml)
{
#define INTERN_ATTRIBUTE(word) name_intern(xml, #word)->attribute = 1 + XML_##word;
    XML_ATTRIBUTES(INTERN_ATTRIBUTE)
#undef INTERN_ATTRIBUTE
#define INTERN_ELEMENT(word) name_intern(xml, #word)->element = 1 + XML_ELEMENT_##word;
    XML_ELEMENTS(INTERN_ELEMENT)
#undef INTERN_ELEMENT
}

static void stop(struct xml_reader *xml)
{
    xml->stopped = true;
    xmlStopParser(xml->parser);
}

static void read_root(struct xml_reader *xml, const xmlChar *name)
{
    struct defs *defs = xml->reader->defs;
    const char *text;
    xml->root_met = true;
    xml->is_trace = strcmp((const char *)name, "trace") == 0;
    if (!xml->is_trace)
        return;
    uint32_t processes = (uint32_t)xml_number(xml, XML_processes, 0, PROCESS_LIMIT, 0);
    if (processes > defs->processes)
        defs->processes = processes;
    defs->threads = (uint32_t)xml_number(xml, XML_threads, 1, PROCESS_LIMIT, 1);
    if ((text = xml_text(xml, XML_source)))
        defs->version = memory_copy_string(text);
    if ((text = xml_text(xml, XML_creator)))
        defs->creator = memory_copy_string(text);
    xml->incomplete = xml_has(xml, XML_complete) && xml_value_is(xml->values[XML_complete], "no");
}

static void take_attributes(struct xml_reader *xml, const xmlChar **attributes, int count)
{
    xml->present = 0;
    for (int i = 0; i < count; i++, attributes += 5) {
        const struct xml_name *known = name_find(xml, attributes[0]);
        if (!known->name || !known->attribute || attributes[1])
            continue;
        unsigned number = known->attribute - 1u;
        xml->present |= UINT64_C(1) << number;
        xml->values[number] = (struct xml_value){(const char *)attributes[3], (size_t)(attributes[4] - attributes[3])};
    }
}

static void start_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces,
                          const xmlChar **namespace_list, int attribute_count, int defaulted,
                          const xmlChar **attributes)
{
    static void (*const read[])(struct xml_reader *) = {
#define ELEMENT_FUNCTION(word) xml_read_##word,
        XML_ELEMENTS(ELEMENT_FUNCTION)
#undef ELEMENT_FUNCTION
    };
    (void)prefix, (void)uri, (void)namespaces, (void)namespace_list, (void)defaulted;
    struct xml_reader *xml = context;
    if (xml->stopped)
        return;
    if (xml->parser->nameNr > NESTING_LIMIT) {
        xml_damage(xml, "elements are nested too deep (limit %d)", NESTING_LIMIT);
        stop(xml);
        return;
    }
    const struct xml_name *known = name_find(xml, name);
    bool ours = known->name && known->element;
    if (!ours && xml->root_met)
        return;
    take_attributes(xml, attributes, attribute_count);
    if (!xml->root_met)
        read_root(xml, name);
    if (!ours)
        return;
    unsigned element = known->element - 1u;
    xml->counts[element]++;
    xml->events_met |= element <= XML_ELEMENT_counter;
    if (element != XML_ELEMENT_message && element != XML_ELEMENT_event)
        xml_flush_held(xml);
    read[element](xml);
}

/* Entities can make small files huge and read other files; a trace needs none. */
static void refuse_entity(void *context, const xmlChar *name, int type, const xmlChar *public_id,
                          const xmlChar *system_id, xmlChar *content)
{
    (void)name, (void)type, (void)public_id, (void)system_id, (void)content;
    struct xml_reader *xml = context;
    if (xml->stopped)
        return;
    xml_damage(xml, "entity declarations are not accepted");
    stop(xml);
}

static void refuse_unparsed_entity(void *context, const xmlChar *name, const xmlChar *public_id,
                                   const xmlChar *system_id, const xmlChar *notation)
{
    (void)notation;
    refuse_entity(context, name, 0, public_id, system_id, NULL);
}

static void note_error(void *context, xmlErrorPtr error)
{
    struct xml_reader *xml = context;
    bool fatal = error->level == XML_ERR_FATAL;
    if (xml->stopped || !(fatal || error->code == XML_WAR_UNDECLARED_ENTITY))
        return;
    const char *text = error->message ? error->message : "not well-formed";
    /* libxml2 has one message for too much and for too little. */
    if (xml->at_end && error->code == XML_ERR_DOCUMENT_END)
        text = "the document ends before its last end tag";
    long consumed = xmlByteConsumed(xml->parser);
    reader_damage(xml->reader, consumed >= 0 ? (uint64_t)consumed : xml->reader->input->offset, "%.*s",
                  (int)strcspn(text, "\n"), text);
    xml->stopped |= fatal;
}

/* What libxml2 would print by itself: faults of the encoding have no parser to go to, but show in the result. */
static void ignore_message(void *context, const char *format, ...)
{
    (void)context;
    (void)format;
}

static enum status open_parser(struct xml_reader *xml, struct error *err)
{
    xmlSetGenericErrorFunc(NULL, ignore_message);
    struct input *input = xml->reader->input;
    if (input_need(input, 4, err) == STATUS_FAILED)
        return STATUS_FAILED;
    xmlSAXHandler handler = {
        .initialized = XML_SAX2_MAGIC,
        .startElementNs = start_element,
        .entityDecl = refuse_entity,
        .unparsedEntityDecl = refuse_unparsed_entity,
        .serror = note_error,
    };
    /* The parser tells the encoding by the first four bytes. */
    int first = input_available(input) < 4 ? 0 : 4;
    xml->parser = xmlCreatePushParserCtxt(&handler, xml, (const char *)input->at, first, NULL);
    if (!xml->parser)
        return error_set(err, ERROR_INPUT, "%s: the XML parser cannot be started", input->name);
    input_consume(input, (size_t)first);
    /* Without NOENT the parser hands &amp; over as &#38;. There are no other entities: see refuse_entity. */
    xmlCtxtUseOptions(xml->parser, XML_PARSE_NONET | XML_PARSE_NOENT);
    intern_names(xml);
    return STATUS_OK;
}

/* The document is over, or no more of it can be used. */
static void finish(struct xml_reader *xml)
{
    struct reader *reader = xml->reader;
    long consumed = xmlByteConsumed(xml->parser);
    xml->at_end = true;
    if (!xml->stopped)
        xmlParseChunk(xml->parser, "", 0, 1);
    xml_flush_held(xml);
    xml_emit_all_pending(xml);
    uint64_t ours = 0;
    static const char *const names[] = {
#define ELEMENT_NAME(name) #name,
        XML_ELEMENTS(ELEMENT_NAME)
#undef ELEMENT_NAME
    };
    for (size_t i = 0; i < XML_ELEMENT_COUNT; i++) {
        ours += xml->counts[i];
        if (xml->counts[i])
            reader_count(reader, names[i], xml->counts[i]);
    }
    if (!xml->is_trace && ours == 0 && reader->damage.count == 0)
        reader_damage(reader, 0, "no trace events in this document");
    reader->used =
        consumed >= 0 && (uint64_t)consumed < reader->input->offset ? (uint64_t)consumed : reader->input->offset;
    reader->total = input_size(reader->input);
    reader->complete = !xml->stopped && xml->parser->wellFormed && !xml->incomplete;
    xml->stopped = xml->ended = true;
}

static enum status parse_chunk(struct xml_reader *xml, struct error *err)
{
    struct input *input = xml->reader->input;
    enum status status = xml->stopped ? STATUS_END : input_need(input, 1, err);
    if (status == STATUS_FAILED)
        return status;
    if (status == STATUS_END) {
        finish(xml);
        return STATUS_OK;
    }
    size_t length = input_available(input) < CHUNK ? input_available(input) : CHUNK;
    xmlParseChunk(xml->parser, (const char *)input->at, (int)length, 0);
    input_consume(input, length);
    return STATUS_OK;
}

static enum status xml_open(struct reader *reader, struct error *err)
{
    struct xml_reader *xml = reader->state;
    xml->reader = reader;
    xml->world = EVENT_UNKNOWN;
    /* Never NULL, so that events without payload may point at them. */
    ARRAY_RESERVE(xml->queue.arena, xml->queue.arena_capacity, 1);
    ARRAY_RESERVE(xml->held.arena, xml->held.arena_capacity, 1);
    enum status status = open_parser(xml, err);
    while (status == STATUS_OK && !xml->events_met && !xml->ended)
        status = parse_chunk(xml, err);
    return status;
}

/* Hands out what the parser gave more than the batch could take. */
static void take_queue(struct xml_reader *xml, struct batch *batch)
{
    struct xml_queue *queue = &xml->queue;
    while (queue->head < queue->count && batch->count < BATCH_EVENTS) {
        struct event *event = &batch->events[batch->count++];
        *event = queue->events[queue->head++];
        batch_set_payload(batch, event, queue->arena + event->payload, event->payload_length);
    }
    if (queue->head == queue->count)
        queue->head = queue->count = queue->arena_length = 0;
}

static enum status xml_next(struct reader *reader, struct batch *batch, struct error *err)
{
    struct xml_reader *xml = reader->state;
    enum status status = STATUS_OK;
    take_queue(xml, batch);
    xml->batch = batch;
    while (status == STATUS_OK && !xml->ended && batch->count < PARSE_BELOW)
        status = parse_chunk(xml, err);
    xml->batch = NULL;
    if (status != STATUS_OK)
        return status;
    return xml->ended && batch->count == 0 ? STATUS_END : STATUS_OK;
}

static void xml_close(struct reader *reader)
{
    struct xml_reader *xml = reader->state;
    if (xml->parser) {
        xmlFreeDoc(xml->parser->myDoc);
        xmlFreeParserCtxt(xml->parser);
    }
    xml_stacks_free(&xml->stacks);
    map_clear(&xml->marks);
    map_clear(&xml->processes);
    free(xml->queue.events);
    free(xml->queue.arena);
    free(xml->held.events);
    free(xml->held.arena);
    free(xml->text.text);
    free(xml->process);
    free(xml->pending);
}

static bool contains(const unsigned char *data, size_t size, const char *word)
{
    return memmem(data, size, word, strlen(word)) != NULL;
}

static int xml_probe(const unsigned char *data, size_t size)
{
    size_t at = 0;
    bool wide = size >= 2 && ((data[0] == 0xFF && data[1] == 0xFE) || (data[0] == 0xFE && data[1] == 0xFF));
    if (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0)
        at = 3;
    else if (wide)
        at = 2;
    while (at < size &&
           (data[at] == ' ' || data[at] == '\t' || data[at] == '\r' || data[at] == '\n' || (wide && data[at] == 0)))
        at++;
    if (at == size || data[at] != '<')
        return 0;
    return contains(data, size, "<trace") || contains(data, size, "sight.dtd") ? 95 : 60;
}

const struct format format_xml = {
    .name = "xml",
    .title = "SIGHT XML",
    .suffix = ".xml",
    .probe = xml_probe,
    .two_passes = false,
    .state_size = sizeof(struct xml_reader),
    .open = xml_open,
    .next = xml_next,
    .close = xml_close,
};
