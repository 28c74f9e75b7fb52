/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the trace XML. */
#include "convert/xml/read_xml.h"

#include "convert/foreign.h"
#include "core/memory.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

/* The parser takes whole chunks and cannot be stopped at an event: a chunk begins only where most of its events find
   room in the batch; the rest is queued. */
enum { PARSE_BELOW = BATCH_EVENTS / 2 };

/* The parser finds words in these tables and hands over their numbers: no text is compared for an event. */
static const char *const element_names[] = {
#define ELEMENT_NAME(name) #name,
    XML_ELEMENTS(ELEMENT_NAME)
#undef ELEMENT_NAME
};
static const struct xml_words words = {element_names, XML_ELEMENT_COUNT, xml_attribute_names, XML_ATTRIBUTE_COUNT};

/* Any root is accepted whose elements are ours: hand-made documents are read as far as they can be. */
static void read_root(void *owner, const char *name)
{
    struct xml_reader *xml = owner;
    struct defs *defs = xml->reader->defs;
    const char *text;
    xml->is_trace = strcmp(name, "trace") == 0;
    snprintf(xml->root, sizeof xml->root, "%.*s", text_beginning(name, sizeof xml->root - 1), name);
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
    /* The document says that the trace it was made from was damaged: its copy is not whole either. */
    xml->incomplete = xml_has(xml, XML_complete) && xml_value_is(xml->sax.values[XML_complete], "no");
}

static void read_element(void *owner, unsigned element)
{
    static void (*const read[])(struct xml_reader *) = {
#define ELEMENT_FUNCTION(word) xml_read_##word,
        XML_ELEMENTS(ELEMENT_FUNCTION)
#undef ELEMENT_FUNCTION
    };
    struct xml_reader *xml = owner;
    xml->counts[element]++;
    /* Definitions must come before the events. Those that come later complete what was guessed from names. */
    xml->events_met |= element <= XML_ELEMENT_counter;
    /* Messages are held for the leave that follows them, whose own message may come before them. */
    if (element != XML_ELEMENT_message && element != XML_ELEMENT_event)
        xml_flush_held(xml);
    read[element](xml);
}

/* What the parser reports is damage: what came before is used. */
static void read_fault(void *owner, uint64_t byte, const char *text)
{
    struct xml_reader *xml = owner;
    reader_damage(xml->reader, byte, "%s", text);
}

/* The document has ended, or the rest of it is unusable. */
static void finish(struct xml_reader *xml)
{
    struct reader *reader = xml->reader;
    reader->used = xml_sax_consumed(&xml->sax);
    bool whole = xml_sax_finish(&xml->sax);
    xml_flush_held(xml);
    /* Records of processes without events, or later than their last event. */
    xml_emit_all_pending(xml);
    uint64_t ours = 0;
    for (size_t i = 0; i < XML_ELEMENT_COUNT; i++) {
        ours += xml->counts[i];
        if (xml->counts[i])
            reader_count(reader, element_names[i], xml->counts[i]);
    }
    xml->is_foreign = !xml->is_trace && ours == 0 && reader->damage.count == 0;
    reader->total = input_size(reader->input);
    reader->complete = whole && !xml->incomplete;
    xml->ended = true;
}

/* libxml2 is fed pieces of the input: a document of any length is read in the memory of one. */
static enum status parse_chunk(struct xml_reader *xml, struct error *err)
{
    enum status status = xml_sax_next(&xml->sax, err);
    if (status != STATUS_END)
        return status;
    finish(xml);
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
    xml->sax.input = reader->input;
    xml->sax.words = &words;
    xml->sax.owner = xml;
    xml->sax.root = read_root;
    xml->sax.element = read_element;
    xml->sax.fault = read_fault;
    enum status status = xml_sax_open(&xml->sax, err);
    /* All definitions are to be known when this returns: on to the first event. */
    while (status == STATUS_OK && !xml->events_met && !xml->ended)
        status = parse_chunk(xml, err);
    if (status == STATUS_OK && xml->is_foreign)
        return error_set(err, ERROR_INPUT, "%s: not a trace: an XML document (<%s>) without events of a trace",
                         reader->input->name, xml->root);
    return status;
}

/* Delivers events from the parser that did not fit into the batch. */
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
    if (xml->ended && batch->count == 0)
        return STATUS_END;
    return STATUS_OK;
}

static void xml_close(struct reader *reader)
{
    struct xml_reader *xml = reader->state;
    xml_sax_close(&xml->sax);
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
    free(xml->records);
}

static bool contains(const unsigned char *data, size_t size, const char *word)
{
    return memmem(data, size, word, strlen(word)) != NULL;
}

static int xml_probe(const unsigned char *data, size_t size)
{
    size_t at = 0;
    /* UTF-16, by its byte order mark: libxml2 turns it into UTF-8. */
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
    if (contains(data, size, "<trace") || contains(data, size, "sight.dtd"))
        return 95;
    /* Any other document is claimed, unless it is known to be something else: the message then says what is wrong with
       it as XML. */
    return foreign_find(data, size, "") ? 0 : 60;
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
