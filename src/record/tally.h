/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_TALLY_H
#define SIGHT_RECORD_TALLY_H

#include "core/record_format.h"

#include <stdbool.h>
#include <stdint.h>

struct location;

/* How many messages, calls and requests a thread has recorded: written down where a block begins (struct record_tally),
   so that a reader of the last blocks need not count those before. Calls are counted with their sites (sites.h), and
   here where these do not say which communicator they are on. */
struct tally_row {
    uint64_t where; /* enum record_kind and communicator; 0: free */
    uint64_t whom;  /* partner and tag */
    uint64_t count;
    uint32_t function, site; /* of the last */
};

struct tally {
    struct tally_row *rows; /* a hash table, at most half full */
    uint32_t mask, count;
    bool due;                /* a block has begun */
    bool too_much;           /* nothing is written any more */
    uint32_t function, site; /* of the last entry */
    uint64_t requests;
    uint64_t written_at; /* the block that has the last tally */
};

/* The table of a new location. */
void tally_start(struct tally *tally);

/* The row with this key, a new one if there is none: not in its slot. Where there is no room, a row that is not used.
 */
struct tally_row *tally_find(struct tally *tally, uint64_t where, uint64_t whom);

/* Writes down what has been counted so far, if the block that has just begun has room. */
void tally_write(struct location *location);

static inline uint64_t tally_where(enum record_kind kind, uint32_t comm)
{
    return (uint64_t)kind << 32 | comm;
}

static inline size_t tally_slot(uint64_t where, uint64_t whom)
{
    return (size_t)((whom ^ (where << 20 | where >> 32)) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

/* Counts what has been recorded. */
static inline void tally_count(struct tally *tally, enum record_kind kind, uint32_t comm, int32_t partner, int32_t tag)
{
    uint64_t where = tally_where(kind, comm), whom = (uint64_t)(uint32_t)partner << 32 | (uint32_t)tag;
    struct tally_row *row = &tally->rows[tally_slot(where, whom) & tally->mask];
    if (__builtin_expect(row->where != where || row->whom != whom, 0))
        row = tally_find(tally, where, whom);
    row->count++;
    row->function = tally->function;
    row->site = tally->site;
}

#endif
