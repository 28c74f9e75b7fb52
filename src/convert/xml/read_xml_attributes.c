/* SPDX-License-Identifier: BSD-3-Clause */
/* The attributes of an element: numbers, texts, times and places. */
#include "convert/xml/read_xml.h"

#include <inttypes.h>
#include <stdio.h>

void xml_damage(struct xml_reader *xml, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    reader_damage(xml->reader, xml_sax_byte(&xml->sax), "%s", text);
}

const char *const xml_attribute_names[] = {
#define ATTRIBUTE_NAME(name) #name,
    XML_ATTRIBUTES(ATTRIBUTE_NAME)
#undef ATTRIBUTE_NAME
};

int64_t xml_number(struct xml_reader *xml, enum xml_attribute attribute, int64_t min, int64_t max, int64_t absent)
{
    int64_t number;
    if (!xml_has(xml, attribute))
        return absent;
    struct xml_value value = xml->sax.values[attribute];
    if (xml_get_i64(value, min, max, &number))
        return number;
    /* A message quotes so much of a value that may be megabytes long. */
    int length = value.length < 40 ? (int)value.length : 40;
    xml_damage(xml, "attribute %s is not a number from %" PRId64 " to %" PRId64 " (\"%.*s\")",
               xml_attribute_names[attribute], min, max, length, value.at);
    return absent;
}

int32_t xml_number_i32(struct xml_reader *xml, enum xml_attribute attribute)
{
    return (int32_t)xml_number(xml, attribute, INT32_MIN + 1, INT32_MAX, EVENT_UNKNOWN);
}

/* One buffer for all: the text is valid until the next is asked for. */
const char *xml_text(struct xml_reader *xml, enum xml_attribute attribute)
{
    if (!xml_has(xml, attribute))
        return NULL;
    xml->text.length = 0;
    char *text = xml_room(&xml->text, xml->sax.values[attribute].length + 1);
    xml_get_utf8(xml->sax.values[attribute], text);
    return text;
}

bool xml_is_yes(const struct xml_reader *xml, enum xml_attribute attribute)
{
    return xml_has(xml, attribute) && xml_value_is(xml->sax.values[attribute], "yes");
}

int64_t xml_time(struct xml_reader *xml, enum xml_attribute attribute, int64_t absent)
{
    int64_t ns;
    if (!xml_has(xml, attribute))
        return absent;
    struct xml_value value = xml->sax.values[attribute];
    if (xml_get_time(value, &ns))
        return ns;
    xml_damage(xml, "invalid time (\"%.*s\", limit 9e15)", value.length < 40 ? (int)value.length : 40, value.at);
    return absent;
}

/* Process and time are the two attributes that no line can do without. */
bool xml_read_place(struct xml_reader *xml, struct event *event)
{
    struct defs *defs = xml->reader->defs;
    uint64_t process, thread = 0;
    if (!xml_has(xml, XML_process) || !xml_has(xml, XML_timestamp)) {
        xml_damage(xml, "event without %s", xml_has(xml, XML_process) ? "timestamp" : "process");
        return false;
    }
    /* Two ways to the same number: the fast one has no message. */
    if (!xml_get_u64(xml->sax.values[XML_process], PROCESS_LIMIT - 1, &process)) {
        xml_number(xml, XML_process, 0, PROCESS_LIMIT - 1, 0);
        return false;
    }
    event->time_ns = xml_time(xml, XML_timestamp, INT64_MIN);
    if (event->time_ns == INT64_MIN)
        return false;
    if (xml_has(xml, XML_thread))
        thread = (uint64_t)xml_number(xml, XML_thread, 0, PROCESS_LIMIT - 1, 0);
    event->process = (uint32_t)process;
    event->thread = (uint32_t)thread;
    /* The root's attribute is optional, and may be wrong. */
    if (process >= defs->processes)
        defs->processes = (uint32_t)process + 1;
    if (thread >= defs->threads)
        defs->threads = (uint32_t)thread + 1;
    return true;
}

int32_t xml_read_comm(struct xml_reader *xml, enum xml_attribute attribute, int32_t absent)
{
    if (!xml_has(xml, attribute))
        return absent;
    if (xml_value_is(xml->sax.values[attribute], "unknown"))
        return EVENT_UNKNOWN;
    int32_t id = xml_number_i32(xml, attribute);
    if (id == EVENT_UNKNOWN)
        return EVENT_UNKNOWN;
    /* Line after line names the same communicator. */
    if (!xml->have_comm || xml->comm_id != id) {
        xml->comm = defs_comm(xml->reader->defs, id);
        xml->comm_id = id;
        xml->have_comm = true;
    }
    return xml->comm;
}

enum message_direction xml_given_direction(struct xml_reader *xml)
{
    if (!xml_has(xml, XML_direction))
        return DIRECTION_NONE;
    struct xml_value word = xml->sax.values[XML_direction];
    if (xml_value_is(word, "send"))
        return DIRECTION_SEND;
    if (xml_value_is(word, "receive"))
        return DIRECTION_RECEIVE;
    xml_damage(xml, "direction is neither send nor receive");
    return DIRECTION_NONE;
}
