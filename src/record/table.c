/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/table.h"

#include <stdlib.h>

enum { TABLE_FIRST_CAPACITY = 64 };

static size_t slot_of(const struct table *table, uint64_t key)
{
    key *= UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(key ^ key >> 32) & (table->capacity - 1);
}

/* The slot of the key, or the free one where it belongs. */
static size_t table_seek(const struct table *table, uint64_t key)
{
    size_t slot = slot_of(table, key);
    while (table->entries[slot].key != 0 && table->entries[slot].key != key)
        slot = (slot + 1) & (table->capacity - 1);
    return slot;
}

uint64_t *table_find(const struct table *table, uint64_t key)
{
    if (!table->capacity)
        return NULL;
    struct table_entry *entry = &table->entries[table_seek(table, key)];
    return entry->key ? &entry->value : NULL;
}

static int table_grow(struct table *table)
{
    struct table larger = {.count = table->count,
                           .capacity = table->capacity ? table->capacity * 2 : TABLE_FIRST_CAPACITY};
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return 0;
    for (size_t i = 0; i < table->capacity; i++)
        if (table->entries[i].key)
            larger.entries[table_seek(&larger, table->entries[i].key)] = table->entries[i];
    free(table->entries);
    *table = larger;
    return 1;
}

uint64_t *table_put(struct table *table, uint64_t key)
{
    if (table->count * 2 >= table->capacity && !table_grow(table))
        return table_find(table, key);
    struct table_entry *entry = &table->entries[table_seek(table, key)];
    if (!entry->key) {
        *entry = (struct table_entry){.key = key};
        table->count++;
    }
    return &entry->value;
}

void table_remove(struct table *table, uint64_t key)
{
    if (!table->capacity)
        return;
    size_t mask = table->capacity - 1, hole = table_seek(table, key);
    if (!table->entries[hole].key)
        return;
    table->count--;
    /* Entries after the hole move up, unless the hole is before the place where they belong. */
    for (size_t at = (hole + 1) & mask; table->entries[at].key; at = (at + 1) & mask) {
        size_t home = slot_of(table, table->entries[at].key);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            table->entries[hole] = table->entries[at];
            hole = at;
        }
    }
    table->entries[hole].key = 0;
}
