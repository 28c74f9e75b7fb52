/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/pyramid.h"

/* Seven bits a byte, the lowest first, the highest bit set in all but the last (LEB128): 64 bits need ten bytes. Most
   numbers of cells are small, and take one. */
enum { VARINT_MAX = 10 };

/* Bits of a cell's head, below the number of bins passed. */
enum { HEAD_SPANS = 1, HEAD_MESSAGES = 2, HEAD_BITS = 2 };

unsigned char *varint_put(unsigned char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (unsigned char)(value | 0x80);
    *at++ = (unsigned char)value;
    return at;
}

const unsigned char *varint_get(const unsigned char *at, const unsigned char *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        unsigned char byte = *at++;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return at;
    }
    return NULL;
}

size_t pyramid_cell_size(const struct pyramid_cell *cell)
{
    return 4 * VARINT_MAX + cell->count * (VARINT_MAX + 1);
}

size_t pyramid_cell_put(unsigned char *at, const struct pyramid_cell *cell, uint64_t last_end)
{
    unsigned char *begin = at;
    uint64_t head = (cell->bin - last_end) << HEAD_BITS;
    if (cell->messages)
        head |= HEAD_MESSAGES;
    if (cell->span > 1)
        head |= HEAD_SPANS;
    at = varint_put(at, head);
    if (cell->span > 1)
        at = varint_put(at, cell->span - 2);
    if (cell->messages)
        at = varint_put(at, cell->messages);
    at = varint_put(at, cell->count);
    for (size_t i = 0; i < cell->count; i++) {
        at = varint_put(at, (uint32_t)(cell->parts[i].state + 1));
        *at++ = (unsigned char)cell->parts[i].units;
    }
    return (size_t)(at - begin);
}

const unsigned char *pyramid_cell_get(const unsigned char *at, const unsigned char *end, uint64_t last_end,
                                      struct pyramid_cell *cell)
{
    uint64_t head, count, state;
    cell->span = 1;
    cell->messages = 0;
    at = varint_get(at, end, &head);
    if (!at)
        return NULL;
    cell->bin = last_end + (head >> HEAD_BITS);
    if (head & HEAD_SPANS) {
        at = varint_get(at, end, &cell->span);
        /* Beyond any run's bins: the sum with the bin must not wrap. */
        if (!at || cell->span > UINT64_MAX / 4)
            return NULL;
        cell->span += 2;
    }
    if (head & HEAD_MESSAGES)
        at = varint_get(at, end, &cell->messages);
    if (!at || !(at = varint_get(at, end, &count)) || count > PYRAMID_PARTS)
        return NULL;
    cell->count = (size_t)count;
    for (size_t i = 0; i < cell->count; i++) {
        at = varint_get(at, end, &state);
        if (!at || at == end || state > UINT32_MAX)
            return NULL;
        cell->parts[i] = (struct pyramid_part){(uint32_t)state - 1, *at++};
    }
    return at;
}
