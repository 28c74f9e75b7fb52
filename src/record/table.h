/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_TABLE_H
#define SIGHT_RECORD_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* A hash table of numbers whose keys come and go, as handles of requests do. Inside somebody else's program running out
   of memory must not end anything: what cannot be kept is not kept. Zero-initialised is empty; 0 is no key. */
struct table_entry {
    uint64_t key, value;
};
struct table {
    struct table_entry *entries;
    size_t count, capacity; /* a power of two */
};

/* The value of a key, to be read or changed until the next call; NULL where there is none. */
uint64_t *table_find(const struct table *table, uint64_t key);

/* The value of a key, 0 where it is new; NULL where memory is out. */
uint64_t *table_put(struct table *table, uint64_t key);

void table_remove(struct table *table, uint64_t key);

#endif
