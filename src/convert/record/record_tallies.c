/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_tallies.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/record_digest.h"

#include <stdlib.h>
#include <string.h>

/* Before the tally, a block has a reading of the clock and what is recorded with it, and a definition at most. */
enum { PROBE = 4096 };

static bool is_tally(const unsigned char *at, size_t room)
{
    struct record_base base;
    if (room < sizeof(struct record_tally))
        return false;
    memcpy(&base, at, sizeof base);
    return base.kind == RECORD_TALLY && (size_t)base.words * 8 == sizeof(struct record_tally);
}

/* Looks for the tally of a block, which begins at a position. */
static bool mark_find(const struct record_file *file, uint64_t block_at, struct record_mark *mark)
{
    _Alignas(8) unsigned char bytes[PROBE];
    size_t got = record_file_bytes(file, block_at, bytes, sizeof bytes), at = RECORD_BLOCK_HEAD, size;
    for (; (size = at < got ? record_length(bytes + at, got - at) : 0) > 0; at += size) {
        struct record_tally head;
        if (!is_tally(bytes + at, got - at))
            continue;
        memcpy(&head, bytes + at, sizeof head);
        uint64_t most = (file->header.block_size - at) / sizeof head;
        if (head.base.state != RECORD_NONE || head.count >= most || head.base.ticks > RECORD_TIME_MAX ||
            head.base.ticks < -RECORD_TIME_MAX)
            return false;
        *mark = (struct record_mark){
            .at = block_at + at, .end = block_at + at + (head.count + 1) * sizeof head, .ticks = head.base.ticks};
        return true;
    }
    return false;
}

static bool has_tallies(const struct record_file *file)
{
    return !file->kept && !file->header.voided;
}

/* The first record says when it was. */
static struct record_mark begin_of(const struct record_file *file)
{
    struct record_base base = {0};
    (void)record_file_bytes(file, RECORD_HEADER_SIZE + RECORD_BLOCK_HEAD, &base, sizeof base);
    bool sound = base.ticks <= RECORD_TIME_MAX && base.ticks >= -RECORD_TIME_MAX;
    return (struct record_mark){.at = RECORD_HEADER_SIZE, .end = RECORD_HEADER_SIZE, .ticks = sound ? base.ticks : 0};
}

void record_marks_find(struct record_marks *marks, const struct record_file *file, uint64_t before)
{
    uint64_t block = file->header.block_size;
    *marks = (struct record_marks){0};
    ARRAY_PUSH(marks->marks, marks->count, marks->capacity, begin_of(file));
    for (uint64_t at = RECORD_HEADER_SIZE + block; has_tallies(file) && at < before; at += block) {
        struct record_mark mark;
        /* Times that go back are damage. */
        if (mark_find(file, at, &mark) && mark.end <= before && mark.ticks >= marks->marks[marks->count - 1].ticks)
            ARRAY_PUSH(marks->marks, marks->count, marks->capacity, mark);
    }
}

void record_marks_free(struct record_marks *marks)
{
    free(marks->marks);
}

bool record_marks_last(const struct record_file *file, struct record_mark *mark)
{
    uint64_t block = file->header.block_size;
    uint64_t at = file->end - RECORD_HEADER_SIZE;
    for (at -= at % block; has_tallies(file) && at >= block; at -= block)
        if (mark_find(file, RECORD_HEADER_SIZE + at, mark))
            return true;
    return false;
}

int record_tally_order(const struct record_tally *left, const struct record_tally *right)
{
    const uint32_t keys[2][5] = {{left->base.state, left->base.comm, (uint32_t)left->partner, (uint32_t)left->tag,
                                  left->base.state == RECORD_ENTER_AT ? left->site : 0},
                                 {right->base.state, right->base.comm, (uint32_t)right->partner, (uint32_t)right->tag,
                                  right->base.state == RECORD_ENTER_AT ? right->site : 0}};
    for (size_t i = 0; i < 5; i++)
        if (keys[0][i] != keys[1][i])
            return keys[0][i] < keys[1][i] ? -1 : 1;
    return 0;
}

static int order(const void *left, const void *right)
{
    return record_tally_order(left, right);
}

bool record_tally_load(struct record_tally_rows *rows, const struct record_file *file, const struct record_mark *mark)
{
    *rows = (struct record_tally_rows){0};
    if (mark->at == mark->end)
        return true;
    size_t size = (size_t)(mark->end - mark->at), count = size / sizeof *rows->rows;
    struct record_tally *all = memory_new(size);
    bool whole = record_file_bytes(file, mark->at, all, size) == size;
    for (size_t i = 0; i < count && whole; i++)
        whole = is_tally((const unsigned char *)&all[i], sizeof *all) && all[i].function < RECORD_FUNCTIONS_MAX &&
                (i == 0 ? all[i].count == count - 1 : all[i].base.state != RECORD_NONE);
    if (whole) {
        *rows =
            (struct record_tally_rows){.rows = all, .count = count - 1, .function = all->function, .site = all->site};
        memmove(all, all + 1, rows->count * sizeof *all);
        qsort(all, rows->count, sizeof *all, order);
    } else {
        free(all);
    }
    return whole;
}

void record_tally_clear(struct record_tally_rows *rows)
{
    free(rows->rows);
}
