/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_BYTES_H
#define SIGHT_CORE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Numbers in files, of either byte order, at any alignment. */

static inline uint32_t bytes_u32(const unsigned char *at, bool big_endian)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? value : __builtin_bswap32(value);
}

static inline uint64_t bytes_u64(const unsigned char *at, bool big_endian)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? value : __builtin_bswap64(value);
}

static inline int32_t bytes_i32(const unsigned char *at, bool big_endian)
{
    return (int32_t)bytes_u32(at, big_endian);
}

static inline double bytes_f64(const unsigned char *at, bool big_endian)
{
    uint64_t bits = bytes_u64(at, big_endian);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void bytes_put_u32(unsigned char *at, bool big_endian, uint32_t value)
{
    if (big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
        value = __builtin_bswap32(value);
    memcpy(at, &value, sizeof value);
}

static inline void bytes_put_u64(unsigned char *at, bool big_endian, uint64_t value)
{
    if (big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
        value = __builtin_bswap64(value);
    memcpy(at, &value, sizeof value);
}

static inline void bytes_put_i32(unsigned char *at, bool big_endian, int32_t value)
{
    bytes_put_u32(at, big_endian, (uint32_t)value);
}

static inline void bytes_put_f64(unsigned char *at, bool big_endian, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bytes_put_u64(at, big_endian, bits);
}

#endif
