/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_TIME_ROWS_H
#define SIGHT_REPLAY_TIME_ROWS_H

#include "core/memory.h"

#include <stdint.h>

/* Times that replays need only for a while, as those of messages on their way: rows with a time for each replay, used
   again. They take the memory of the most that are needed at once. */

enum { TIME_ROW_NONE = 0 };

struct time_rows {
    size_t lanes;
    int64_t *ns;
    size_t capacity;
    uint32_t *unused;
    size_t count, unused_count, unused_capacity;
};

/* A row, numbered from 1 on. Rows move in memory: take no pointer across this. */
static inline uint32_t time_rows_take(struct time_rows *rows)
{
    if (rows->unused_count > 0)
        return rows->unused[--rows->unused_count];
    ARRAY_RESERVE(rows->ns, rows->capacity, (rows->count + 1) * rows->lanes);
    return (uint32_t)++rows->count;
}

static inline void time_rows_give(struct time_rows *rows, uint32_t row)
{
    ARRAY_PUSH(rows->unused, rows->unused_count, rows->unused_capacity, row);
}

static inline int64_t *time_row(const struct time_rows *rows, uint32_t row)
{
    return rows->ns + (row - 1) * rows->lanes;
}

static inline void time_rows_clear(struct time_rows *rows)
{
    free(rows->ns);
    free(rows->unused);
}

#endif
