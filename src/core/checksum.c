/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/checksum.h"

#include <string.h>

uint64_t checksum_add(uint64_t checksum, const void *data, size_t size)
{
    const unsigned char *at = data;
    /* Four chains that do not wait for each other: a multiplication takes several cycles, but one can begin in each. */
    uint64_t lanes[4] = {checksum, checksum + 1, checksum + 2, checksum + 3};
    const uint64_t prime = UINT64_C(0x9E3779B97F4A7C15);
    for (; size >= 32; at += 32, size -= 32)
        for (size_t i = 0; i < 4; i++) {
            uint64_t word;
            memcpy(&word, at + 8 * i, sizeof word);
            lanes[i] = (lanes[i] ^ word) * prime;
            /* The high bits of a product depend on all bits below, the low ones do not: the shift mixes them. */
            lanes[i] ^= lanes[i] >> 29;
        }
    /* The rest and its length: data that differ by zeros at the end get different sums. */
    uint64_t all = size;
    for (size_t i = 0; i < size; i++)
        all = (all ^ at[i]) * prime;
    for (size_t i = 0; i < 4; i++) {
        all = (all ^ lanes[i]) * prime;
        all ^= all >> 32;
    }
    return all;
}
