/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_MAP_H
#define SIGHT_CORE_MAP_H

#include <stddef.h>
#include <stdint.h>

/* A hash map of 64-bit numbers with open addressing. A zero-initialised map is empty. Memory grows with the number of
   keys. */
struct map_entry {
    uint64_t key; /* key + 1; 0 is a free place, so UINT64_MAX cannot be a key */
    uint64_t value;
};
struct map {
    struct map_entry *entries;
    size_t count, capacity; /* capacity is a power of two */
};

/* A key of two 32-bit numbers. The pair (UINT32_MAX, UINT32_MAX) is not allowed. */
static inline uint64_t map_pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* The same key for (one, other) and (other, one). */
static inline uint64_t map_pair_unordered(uint32_t one, uint32_t other)
{
    return one < other ? map_pair(other, one) : map_pair(one, other);
}

static inline uint64_t map_hash(uint64_t key)
{
    key *= UINT64_C(0x9E3779B97F4A7C15);
    return key ^ key >> 32;
}

/* Borrowed value of `key`, or NULL. Valid until the next map_put. */
static inline uint64_t *map_find(const struct map *map, uint64_t key)
{
    if (!map->capacity)
        return NULL;
    for (size_t at = map_hash(key);; at++) {
        struct map_entry *entry = &map->entries[at & (map->capacity - 1)];
        if (entry->key == key + 1)
            return &entry->value;
        if (entry->key == 0)
            return NULL;
    }
}

/* Value of `key`, inserted with `initial` if it is missing. Valid until the next map_put. */
uint64_t *map_put(struct map *map, uint64_t key, uint64_t initial);

/* Removes the key, if present. */
void map_remove(struct map *map, uint64_t key);

void map_clear(struct map *map); /* frees what it holds; the map is empty again */

#endif
