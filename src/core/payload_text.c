/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/event.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"
#include "core/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t big_endian(const unsigned char *payload, size_t length, size_t at, size_t size)
{
    uint64_t value = 0;
    /* A payload that is cut goes on with zeros. */
    for (size_t i = 0; i < size; i++)
        value = value << 8 | (at + i < length ? payload[at + i] : 0);
    return value;
}

/* Bytes of the value at `at`, for a text including its length. */
static size_t value_size(char letter, const unsigned char *payload, size_t length, size_t at)
{
    if (letter == 's')
        return 2 + (size_t)big_endian(payload, length, at, 2);
    return payload_size(letter);
}

/* Appends Latin-1 up to its first NUL as UTF-8. */
static void put_latin1(char *buffer, size_t size, const unsigned char *bytes, size_t length)
{
    size_t used = strlen(buffer);
    char *text = text_from_latin1((const char *)bytes, length > 0 ? strnlen((const char *)bytes, length) : 0);
    snprintf(buffer + used, size - used, "%s", text);
    text_end_whole(buffer);
    free(text);
}

/* The value of a format's letter for whole numbers, whose sign is in their own highest bit. */
static int64_t whole_number(char letter, uint64_t raw)
{
    if (letter == 'h')
        return (int16_t)raw;
    if (letter == 'd')
        return (int64_t)(int32_t)raw;
    return (int64_t)raw;
}

static void put_value(char *buffer, size_t size, char letter, uint64_t raw)
{
    size_t used = strlen(buffer);
    uint32_t low = (uint32_t)raw;
    float single;
    double value;
    memcpy(&single, &low, sizeof single);
    memcpy(&value, &raw, sizeof value);
    if (letter == 'e' || letter == 'E')
        snprintf(buffer + used, size - used, "%g", letter == 'e' ? (double)single : value);
    else if (letter == 'x' || letter == 'X')
        snprintf(buffer + used, size - used, "%" PRIx64, raw);
    else
        snprintf(buffer + used, size - used, "%" PRId64, whole_number(letter, raw));
}

char *payload_text(char *buffer, size_t size, const char *format, const unsigned char *payload, size_t length)
{
    size_t at = 0;
    buffer[0] = '\0';
    if (!format) {
        put_latin1(buffer, size, payload, length);
        return buffer;
    }
    for (const char *label = format;;) {
        const char *percent = strchr(label, '%');
        size_t used = strlen(buffer), taken = percent ? value_size(percent[1], payload, length, at) : 0;
        int room = text_beginning(label, (int)(percent ? (size_t)(percent - label) : strlen(label)));
        snprintf(buffer + used, size - used, "%.*s", room, label);
        text_end_whole(buffer);
        /* No further value: the text after the last one has been written. */
        if (taken == 0)
            return buffer;
        /* A text's length stands in its first two bytes; the payload may end before what it says. */
        size_t behind = at + 2 < length ? at + 2 : length;
        if (percent[1] == 's')
            put_latin1(buffer, size, payload + behind, taken - 2 < length - behind ? taken - 2 : length - behind);
        else
            put_value(buffer, size, percent[1], big_endian(payload, length, at, taken));
        at += taken;
        label = percent + 2;
    }
}

char *payload_event_text(char *buffer, size_t size, const char *format, const struct event *event,
                         const unsigned char *arena)
{
    const unsigned char *payload = arena + event->payload;
    size_t length = event->payload_length;
    if (!(event->flags & EVENT_PAYLOAD_TEXT))
        return payload_text(buffer, size, format, payload, length);
    if (!(event->flags & EVENT_PAYLOAD_UTF8))
        return payload_text(buffer, size, NULL, payload, length);
    buffer[0] = '\0';
    text_append(buffer, size, "%.*s", (int)smaller(length, INT_MAX), (const char *)payload);
    return buffer;
}
