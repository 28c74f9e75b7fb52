/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "timeline/walk.h"

#include <string.h>

static uint32_t row_add(struct rows *rows, uint32_t process, uint32_t thread)
{
    ARRAY_PUSH(rows->row, rows->count, rows->capacity, (struct timeline_row){.process = process, .thread = thread});
    return (uint32_t)rows->count - 1;
}

uint32_t rows_of(struct rows *rows, uint32_t process, uint32_t thread)
{
    uint32_t row = rows_find(rows, process, thread);
    if (row != TIMELINE_NONE)
        return row;
    row = row_add(rows, process, thread);
    if (thread != 0) {
        map_put(&rows->others, map_pair(process, thread), row);
        return row;
    }
    if (process >= rows->main_count) {
        size_t before = rows->main_count;
        ARRAY_RESERVE(rows->main, rows->main_count, (size_t)process + 1);
        memset(&rows->main[before], 0, (rows->main_count - before) * sizeof *rows->main);
    }
    rows->main[process] = row + 1;
    return row;
}

/* Called for each event: main threads, nearly all of them, are found without hashing. */
uint32_t rows_find(const struct rows *rows, uint32_t process, uint32_t thread)
{
    if (thread == 0) {
        if (process >= rows->main_count || rows->main[process] == 0)
            return TIMELINE_NONE;
        return rows->main[process] - 1;
    }
    const uint64_t *row = map_find(&rows->others, map_pair(process, thread));
    if (!row)
        return TIMELINE_NONE;
    return (uint32_t)*row;
}

void rows_clear(struct rows *rows)
{
    free(rows->row);
    free(rows->main);
    map_clear(&rows->others);
    *rows = (struct rows){0};
}
