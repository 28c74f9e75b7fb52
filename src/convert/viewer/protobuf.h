/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_VIEWER_PROTOBUF_H
#define SIGHT_CONVERT_VIEWER_PROTOBUF_H

#include "core/memory.h"
#include "core/varint.h"

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

#endif
