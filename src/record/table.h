/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_TABLE_H
#define SIGHT_RECORD_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* A hash table of numbers whose keys come and go, as handles of requests do. Inside the user's program running out of
   memory must not end anything: then keys are not stored. Zero-initialised is empty; 0 is no key. */
struct table_entry {
    uint64_t key, value;
};
struct table {
    struct table_entry *entries;
    size_t count, capacity; /* a power of two */
};

/* The value of a key, valid until the next call; NULL if there is none. */
uint64_t *table_find(const struct table *table, uint64_t key);

/* The value of a key, 0 if it is new; NULL without memory. */
uint64_t *table_put(struct table *table, uint64_t key);

void table_remove(struct table *table, uint64_t key);

#endif
