/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_RANGES_H
#define SIGHT_CORE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of bytes of a file, as ranges [from, to) that ascend and do not touch each other. {0}: none. */
struct range {
    uint64_t from, to;
};

struct ranges {
    struct range *range;
    size_t count, capacity;
};

/* Adds [from, to); quick at the end, where readers go forward. */
void ranges_add(struct ranges *ranges, uint64_t from, uint64_t to);

/* Whether all of [from, to) is in the set; true of an empty range. */
bool ranges_have(const struct ranges *ranges, uint64_t from, uint64_t to);

void ranges_clear(struct ranges *ranges);

#endif
