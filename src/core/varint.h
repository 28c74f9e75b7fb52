/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_VARINT_H
#define SIGHT_CORE_VARINT_H

#include <stdint.h>

/* Numbers as few bytes: seven bits each, the lowest first, the top bit set in all but the last. At most VARINT_MAX
   bytes. Reading checks nothing: the bytes must have been written by varint_put. */
enum { VARINT_MAX = 10 };

static inline unsigned char *varint_put(unsigned char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (unsigned char)value;
    return at;
}

static inline unsigned char *varint_put_signed(unsigned char *at, int64_t value)
{
    return varint_put(at, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static inline uint64_t varint_get(const unsigned char **from)
{
    const unsigned char *at = *from;
    uint64_t value = *at & 0x7F;
    for (unsigned shift = 7; *at++ & 0x80; shift += 7)
        value |= (uint64_t)(*at & 0x7F) << shift;
    *from = at;
    return value;
}

static inline int64_t varint_get_signed(const unsigned char **from)
{
    uint64_t value = varint_get(from);
    return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

#endif
