/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_PYRAMID_CHANGES_H
#define SIGHT_TIMELINE_PYRAMID_CHANGES_H

#include "core/event.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Internal: what happens to rows, in order of time, from the one who follows them to those who add up the pyramid. It
   is small, because it travels from one processor to another. */

/* Shards: processes that follow each other. Their number depends on the trace alone. */
enum { PYRAMID_SHARDS = 16 };
struct pyramid_shards {
    unsigned shift; /* 2^shift processes each, and the last one all others, too */
    uint32_t count;
};
static inline uint32_t pyramid_shard_of(const struct pyramid_shards *shards, uint32_t process)
{
    return smaller(process >> shards->shift, shards->count - 1);
}

/* A row is named by its shard, and its number there in so many bits. */
enum { PYRAMID_ROW_BITS = 28 };

struct pyramid_change {
    uint32_t later_ns; /* after the one before it */
    uint32_t row;
    uint32_t to; /* a state (TIMELINE_NONE: outside all), or one of these: */
};
enum {
    PYRAMID_MESSAGE = UINT32_MAX - 1, /* it sends or receives a message */
    PYRAMID_NEW = UINT32_MAX - 2,  /* the next row of the shard of process `later_ns`, whose number in all is `row` */
    PYRAMID_LATER = UINT32_MAX - 3 /* no row: `row` is the upper half of later_ns */
};

/* The state of a row before its first one. */
enum { PYRAMID_NO_STATE = UINT32_MAX - 4 };

/* Changes that follow those of the list before. */
struct pyramid_changes {
    struct pyramid_change *change;
    size_t count, capacity;
};

/* For who notes changes: what they follow. */
struct pyramid_notes {
    struct pyramid_shards shards;
    uint32_t rows[PYRAMID_SHARDS]; /* noted so far, by shard */
    struct pyramid_changes *to;    /* where the next one goes */
    int64_t last_ns;
    bool begun;
};

/* Notes that a row is new, and returns its name. */
static inline uint32_t pyramid_note_row(struct pyramid_notes *notes, uint32_t row, uint32_t process)
{
    uint32_t shard = pyramid_shard_of(&notes->shards, process);
    ARRAY_PUSH(notes->to->change, notes->to->count, notes->to->capacity,
               (struct pyramid_change){process, row, PYRAMID_NEW});
    return shard << PYRAMID_ROW_BITS | notes->rows[shard]++;
}

/* Notes what happens to the row with this name. The run begins with the first change. */
static inline void pyramid_note(struct pyramid_notes *notes, uint32_t name, int64_t time_ns, uint32_t to)
{
    uint64_t later_ns = 0;
    if (notes->begun)
        later_ns = (uint64_t)time_since(notes->last_ns, time_ns);
    notes->begun = true;
    notes->last_ns = time_ns;
    if (later_ns > UINT32_MAX)
        ARRAY_PUSH(notes->to->change, notes->to->count, notes->to->capacity,
                   (struct pyramid_change){0, (uint32_t)(later_ns >> 32), PYRAMID_LATER});
    ARRAY_PUSH(notes->to->change, notes->to->count, notes->to->capacity,
               (struct pyramid_change){(uint32_t)later_ns, name, to});
}

#endif
