/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_SORTER_H
#define SIGHT_CORE_SORTER_H

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

/* Sorts any number of small records in bounded memory: runs are written to an unlinked file in TMPDIR and merged.
   Stable: records with equal keys keep their order. Input that is already in order is not sorted by comparison. */
struct sort_key {
    uint64_t major, minor; /* compared in this order */
};

/* Signed numbers as keys in the same order. */
static inline uint64_t sort_key_signed(int64_t value)
{
    return (uint64_t)value ^ UINT64_C(1) << 63;
}

struct sorter;

/* `memory` is the bound of the buffer in bytes (at least 1 MiB). */
struct sorter *sorter_new(size_t memory);
void sorter_free(struct sorter *sorter);

/* Adds a record of up to 64 KiB. */
enum status sorter_add(struct sorter *sorter, struct sort_key key, const void *data, size_t length,
                       struct error *err) MUST_CHECK;

/* Ends adding and starts reading at the first record; if called again, reading restarts. */
enum status sorter_rewind(struct sorter *sorter, struct error *err) MUST_CHECK;

/* The next record; data are borrowed until the next call. STATUS_END after the last. */
enum status sorter_next(struct sorter *sorter, struct sort_key *key, const void **data, size_t *length,
                        struct error *err) MUST_CHECK;

/* Number of records added. */
uint64_t sorter_count(const struct sorter *sorter);

#endif
