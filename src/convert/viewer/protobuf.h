/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_VIEWER_PROTOBUF_H
#define SIGHT_CONVERT_VIEWER_PROTOBUF_H

#include "core/memory.h"
#include "core/varint.h"

#include <stdbool.h>
#include <string.h>

/* Messages of protocol buffers, encoded field by field. A message in a message is encoded in a buffer of its own first,
   since its length comes before it. Format: https://protobuf.dev/programming-guides/encoding/ */
struct protobuf {
    unsigned char *bytes;
    size_t length, capacity;
};
enum { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2 };

/* Room for a field of a number: its tag and value. */
static inline unsigned char *protobuf_room(struct protobuf *message, size_t length)
{
    ARRAY_RESERVE(message->bytes, message->capacity, message->length + length + 2 * (size_t)VARINT_MAX);
    return message->bytes + message->length;
}

/* Integers, enumerations and truth values; negative ones as their 64 bits. */
static inline void protobuf_number(struct protobuf *message, unsigned field, uint64_t value)
{
    unsigned char *at = varint_put(protobuf_room(message, 0), (uint64_t)field << 3 | PROTOBUF_VARINT);
    message->length = (size_t)(varint_put(at, value) - message->bytes);
}

/* fixed64, and the bits of a double. */
static inline void protobuf_fixed64(struct protobuf *message, unsigned field, uint64_t value)
{
    unsigned char *at = varint_put(protobuf_room(message, sizeof value), (uint64_t)field << 3 | PROTOBUF_FIXED64);
    for (unsigned i = 0; i < sizeof value; i++)
        *at++ = (unsigned char)(value >> 8 * i);
    message->length = (size_t)(at - message->bytes);
}

static inline void protobuf_bytes(struct protobuf *message, unsigned field, const void *bytes, size_t length)
{
    unsigned char *at = varint_put(protobuf_room(message, length), (uint64_t)field << 3 | PROTOBUF_BYTES);
    at = varint_put(at, length);
    memcpy(at, bytes, length);
    message->length = (size_t)(at - message->bytes) + length;
}

static inline void protobuf_text(struct protobuf *message, unsigned field, const char *utf8)
{
    protobuf_bytes(message, field, utf8, strlen(utf8));
}

/* Puts a message into another one, and empties it. */
static inline void protobuf_message(struct protobuf *message, unsigned field, struct protobuf *inner)
{
    if (inner->length > 0)
        protobuf_bytes(message, field, inner->bytes, inner->length);
    inner->length = 0;
}

/* Reading */

/* A field of a message. Of text and messages in it `bytes` and `length`, else the value; a fixed32 or fixed64 as it
   stands. */
struct protobuf_field {
    uint32_t number;
    uint64_t value;
    const unsigned char *bytes;
    size_t length;
};

/* A message, or what is left of it. */
struct protobuf_message {
    const unsigned char *at, *end;
    bool damaged; /* by protobuf_next: what follows is none */
};

static inline bool protobuf_take_number(struct protobuf_message *message, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; message->at < message->end && shift < 64; shift += 7) {
        unsigned char byte = *message->at++;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* The next field. False: there is none, or the message is damaged. */
static inline bool protobuf_next(struct protobuf_message *message, struct protobuf_field *field)
{
    enum { FIXED32 = 5, FIXED32_SIZE = 4, FIXED64_SIZE = 8 };
    uint64_t tag, length = 0;
    if (message->at == message->end)
        return false;
    message->damaged = true;
    *field = (struct protobuf_field){0};
    if (!protobuf_take_number(message, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
        return false;
    field->number = (uint32_t)(tag >> 3);
    unsigned type = (unsigned)(tag & 7);
    if (type == PROTOBUF_VARINT && !protobuf_take_number(message, &field->value))
        return false;
    if (type == PROTOBUF_BYTES && !protobuf_take_number(message, &length))
        return false;
    if (type == PROTOBUF_FIXED64 || type == FIXED32)
        length = type == FIXED32 ? FIXED32_SIZE : FIXED64_SIZE;
    else if (type != PROTOBUF_VARINT && type != PROTOBUF_BYTES)
        return false;
    if (length > (uint64_t)(message->end - message->at))
        return false;
    field->bytes = message->at;
    field->length = (size_t)length;
    for (size_t i = 0; type != PROTOBUF_BYTES && i < length; i++)
        field->value |= (uint64_t)message->at[i] << 8 * i;
    message->at += length;
    message->damaged = false;
    return true;
}

/* A message in a field. */
static inline struct protobuf_message protobuf_within(const struct protobuf_field *field)
{
    return (struct protobuf_message){field->bytes, field->bytes + field->length, false};
}

#endif
