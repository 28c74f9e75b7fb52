/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/event_pack.h"

#include "core/varint.h"

#include <string.h>

/* Layout: two bytes of flags (little-endian), the state, then the fields whose flags are set, in the order of the
   flags. Other fields have their default, as in most events of real traces. */
enum {
    PACK_KIND = 15, /* the kind; KIND_ESCAPED: it did not fit and follows as a byte */
    PACK_COMM = 1 << 4,
    PACK_PARTNER_COMM = 1 << 5, /* differs from partner_comm_default() */
    PACK_PARTNER = 1 << 6,
    PACK_TAG = 1 << 7,
    PACK_SENT = 1 << 8,
    PACK_RECEIVED = 1 << 9,
    PACK_VALUE = 1 << 10,
    PACK_REQUEST = 1 << 11,
    PACK_THREAD = 1 << 12,
    PACK_SITE = 1 << 13,
    PACK_FLAGS = 1 << 14,
    PACK_PAYLOAD = 1 << 15,
    KIND_ESCAPED = 15
};

static inline int32_t partner_comm_default(uint8_t kind, int32_t comm)
{
    /* Only messages name the communicator of the partner; it nearly always is the event's own. */
    if (kind == EVENT_SEND || kind == EVENT_RECEIVE)
        return comm;
    return EVENT_UNKNOWN;
}

static inline uint32_t get_u32(const unsigned char **from)
{
    return (uint32_t)varint_get(from);
}

static inline int32_t get_i32(const unsigned char **from)
{
    return (int32_t)varint_get_signed(from);
}

static inline unsigned flag_if(bool is_there, unsigned flag)
{
    if (is_there)
        return flag;
    return 0;
}

static inline unsigned pack_flags(const struct event *event)
{
    unsigned flags = KIND_ESCAPED;
    if (event->kind < KIND_ESCAPED)
        flags = event->kind;
    flags |= flag_if(event->comm != EVENT_UNKNOWN, PACK_COMM);
    flags |= flag_if(event->partner_comm != partner_comm_default(event->kind, event->comm), PACK_PARTNER_COMM);
    flags |= flag_if(event->partner != EVENT_UNKNOWN, PACK_PARTNER);
    flags |= flag_if(event->tag != EVENT_UNKNOWN, PACK_TAG);
    flags |= flag_if(event->bytes_sent != BYTES_UNKNOWN, PACK_SENT);
    flags |= flag_if(event->bytes_received != BYTES_UNKNOWN, PACK_RECEIVED);
    flags |= flag_if(event->value != 0, PACK_VALUE);
    flags |= flag_if(event->request != 0, PACK_REQUEST);
    flags |= flag_if(event->thread != 0, PACK_THREAD);
    flags |= flag_if(event->site != 0, PACK_SITE);
    flags |= flag_if(event->flags != 0, PACK_FLAGS);
    flags |= flag_if(event->payload_length != 0, PACK_PAYLOAD);
    return flags;
}

size_t event_pack(unsigned char *at, const struct event *event, const unsigned char *arena)
{
    unsigned char *start = at;
    unsigned flags = pack_flags(event);
    /* Both bytes first: event_unpack knows from them what follows. */
    *at++ = (unsigned char)flags;
    *at++ = (unsigned char)(flags >> 8);
    if ((flags & PACK_KIND) == KIND_ESCAPED)
        *at++ = event->kind;
    at = varint_put(at, event->state);
    if (flags & PACK_COMM)
        at = varint_put_signed(at, event->comm);
    /* The short cut: nearly all enters and leaves have no other fields. */
    if (!(flags >> 5))
        return (size_t)(at - start);
    if (flags & PACK_PARTNER_COMM)
        at = varint_put_signed(at, event->partner_comm);
    if (flags & PACK_PARTNER)
        at = varint_put_signed(at, event->partner);
    if (flags & PACK_TAG)
        at = varint_put_signed(at, event->tag);
    if (flags & PACK_SENT)
        at = varint_put_signed(at, event->bytes_sent);
    if (flags & PACK_RECEIVED)
        at = varint_put_signed(at, event->bytes_received);
    if (flags & PACK_VALUE)
        at = varint_put_signed(at, event->value);
    if (flags & PACK_REQUEST) {
        at = varint_put(at, event->request);
        at = varint_put(at, event->requests);
    }
    if (flags & PACK_THREAD)
        at = varint_put(at, event->thread);
    if (flags & PACK_SITE)
        at = varint_put(at, event->site);
    if (flags & PACK_FLAGS)
        *at++ = event->flags;
    if (flags & PACK_PAYLOAD) {
        at = varint_put(at, event->payload_length);
        memcpy(at, arena + event->payload, event->payload_length);
        at += event->payload_length;
    }
    return (size_t)(at - start);
}

size_t event_unpack(struct event *event, const unsigned char *packed)
{
    const unsigned char *at = packed + 2;
    unsigned flags = packed[0] | (unsigned)packed[1] << 8;
    uint8_t kind = flags & PACK_KIND;
    if (kind == KIND_ESCAPED)
        kind = *at++;
    event->kind = kind;
    event->state = get_u32(&at);
    event->comm = flags & PACK_COMM ? get_i32(&at) : EVENT_UNKNOWN;
    event->partner_comm = flags & PACK_PARTNER_COMM ? get_i32(&at) : partner_comm_default(kind, event->comm);
    event->partner = flags & PACK_PARTNER ? get_i32(&at) : EVENT_UNKNOWN;
    event->tag = flags & PACK_TAG ? get_i32(&at) : EVENT_UNKNOWN;
    event->bytes_sent = flags & PACK_SENT ? varint_get_signed(&at) : BYTES_UNKNOWN;
    event->bytes_received = flags & PACK_RECEIVED ? varint_get_signed(&at) : BYTES_UNKNOWN;
    event->value = flags & PACK_VALUE ? varint_get_signed(&at) : 0;
    event->request = flags & PACK_REQUEST ? varint_get(&at) : 0;
    event->requests = flags & PACK_REQUEST ? get_u32(&at) : 0;
    event->thread = flags & PACK_THREAD ? get_u32(&at) : 0;
    event->site = flags & PACK_SITE ? get_u32(&at) : 0;
    event->flags = flags & PACK_FLAGS ? *at++ : 0;
    event->payload_length = flags & PACK_PAYLOAD ? get_u32(&at) : 0;
    /* Relative to the packed bytes, which the caller uses as the arena. */
    event->payload = event->payload_length ? (uint32_t)(at - packed) : 0;
    return (size_t)(at - packed) + event->payload_length;
}
