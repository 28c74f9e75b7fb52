/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/map.h"

#include "core/memory.h"

static struct map_entry *map_place(struct map *map, uint64_t key)
{
    size_t at = map_hash(key);
    /* Ends, as at least half of the places are free: see map_put. */
    for (;; at++) {
        struct map_entry *entry = &map->entries[at & (map->capacity - 1)];
        if (entry->key == key + 1 || entry->key == 0)
            return entry;
    }
}

static void map_double(struct map *map)
{
    struct map old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 16;
    map->entries = memory_new(map->capacity * sizeof *map->entries);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.entries[i].key)
            *map_place(map, old.entries[i].key - 1) = old.entries[i];
    free(old.entries);
}

uint64_t *map_put(struct map *map, uint64_t key, uint64_t initial)
{
    uint64_t *found = map_find(map, key);
    if (found)
        return found;
    /* At most half full: with linear probing, the way to a key grows quickly beyond that. */
    if ((map->count + 1) * 2 > map->capacity)
        map_double(map);
    struct map_entry *entry = map_place(map, key);
    entry->key = key + 1;
    entry->value = initial;
    map->count++;
    return &entry->value;
}

/* Linear probing stops at a free place: entries after it that would no longer be found move into it. */
void map_remove(struct map *map, uint64_t key)
{
    uint64_t *found = map_find(map, key);
    if (!found)
        return;
    size_t mask = map->capacity - 1, hole = (size_t)(map_place(map, key) - map->entries);
    for (size_t at = hole + 1; map->entries[at & mask].key; at++) {
        size_t wanted = map_hash(map->entries[at & mask].key - 1);
        /* It may move if the hole lies on the way from its wanted place to where it is. */
        if (((at - wanted) & mask) >= ((at - hole) & mask)) {
            map->entries[hole & mask] = map->entries[at & mask];
            hole = at;
        }
    }
    map->entries[hole & mask] = (struct map_entry){0};
    map->count--;
}

void map_clear(struct map *map)
{
    free(map->entries);
    *map = (struct map){0};
}
