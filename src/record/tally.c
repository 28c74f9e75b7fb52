/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/tally.h"

#include "record/location.h"
#include "record/sites.h"

#include <stdlib.h>

enum { ROWS_FIRST = 64, ROWS_MAX = 1 << 17 }; /* slots */
enum { SHARE = 16 };                          /* of the recording that tallies take at most: one in so many bytes */

/* Every table begins as this empty one. */
static struct tally_row no_rows[1];

void tally_start(struct tally *tally)
{
    *tally = (struct tally){.rows = no_rows};
}

static struct tally_row *slot_of(struct tally_row *rows, uint32_t mask, uint64_t where, uint64_t whom)
{
    size_t at = tally_slot(where, whom) & mask;
    while (rows[at].where && (rows[at].where != where || rows[at].whom != whom))
        at = (at + 1) & mask;
    return &rows[at];
}

static bool make_room(struct tally *tally)
{
    uint32_t slots = tally->rows == no_rows ? 0 : tally->mask + 1;
    if (2 * (tally->count + 1) <= slots)
        return true;
    uint32_t wanted = slots ? 2 * slots : ROWS_FIRST;
    struct tally_row *rows = wanted <= ROWS_MAX ? calloc(wanted, sizeof *rows) : NULL;
    if (!rows)
        return false;
    for (uint32_t i = 0; i < slots; i++)
        if (tally->rows[i].where)
            *slot_of(rows, wanted - 1, tally->rows[i].where, tally->rows[i].whom) = tally->rows[i];
    if (slots)
        free(tally->rows);
    tally->rows = rows;
    tally->mask = wanted - 1;
    return true;
}

struct tally_row *tally_find(struct tally *tally, uint64_t where, uint64_t whom)
{
    static __thread struct tally_row nowhere;
    struct tally_row *row = slot_of(tally->rows, tally->mask, where, whom);
    if (row->where)
        return row;
    if (tally->too_much || !make_room(tally)) {
        tally->too_much = true;
        return &nowhere;
    }
    row = slot_of(tally->rows, tally->mask, where, whom);
    *row = (struct tally_row){.where = where, .whom = whom};
    tally->count++;
    return row;
}

/* Its first word is stored last. */
static void put(struct location *location, struct record_tally *row)
{
    const size_t first = sizeof(uint64_t);
    row->base = (struct record_base){.kind = RECORD_TALLY,
                                     .words = sizeof *row / 8,
                                     .state = row->base.state,
                                     .comm = row->base.comm,
                                     .ticks = location->last_ticks};
    uint64_t word;
    __builtin_memcpy(&word, &row->base, sizeof word);
    __builtin_memcpy(location->at + first, (const unsigned char *)row + first, sizeof *row - first);
    __atomic_store_n((uint64_t *)(void *)location->at, word, __ATOMIC_RELEASE);
    location->at += sizeof *row;
}

static void put_rows(struct location *location)
{
    const struct tally *tally = &location->tally;
    for (uint32_t i = 0; i <= location->site_mask; i++) {
        const struct site *site = &location->sites[i];
        struct record_tally row = {.base.state = RECORD_ENTER_AT, .count = site->calls, .site = site->number};
        if (site->calls)
            put(location, &row);
    }
    for (uint32_t i = 0; i <= tally->mask; i++) {
        const struct tally_row *from = &tally->rows[i];
        struct record_tally row = {.base = {.state = (uint16_t)(from->where >> 32), .comm = (uint32_t)from->where},
                                   .partner = (int32_t)(from->whom >> 32),
                                   .tag = (int32_t)(uint32_t)from->whom,
                                   .count = from->count,
                                   .function = from->function,
                                   .site = from->site};
        if (from->where)
            put(location, &row);
    }
    struct record_tally requests = {.base.state = RECORD_REQUESTS, .count = tally->requests};
    put(location, &requests);
}

void tally_write(struct location *location)
{
    struct tally *tally = &location->tally;
    uint64_t rows = 1 + (uint64_t)location->site_count + tally->count;
    size_t size = (1 + (size_t)rows) * sizeof(struct record_tally);
    tally->due = false;
    if (tally->too_much || location->keeps || size > (size_t)(location->block_end - location->at) ||
        (location->block_at - tally->written_at) / SHARE < size)
        return;
    struct record_tally head = {
        .base.state = RECORD_NONE, .count = rows, .function = tally->function, .site = tally->site};
    put(location, &head);
    put_rows(location);
    tally->written_at = location->block_at;
}
