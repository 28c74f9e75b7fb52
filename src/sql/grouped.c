/* SPDX-License-Identifier: BSD-3-Clause */
#include "sql/grouped.h"

#include "core/input.h"
#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "timeline/spill.h"

#include <string.h>
#include <unistd.h>

/* Rows of a value are in chunks, each twice as long as the one before: few values have long ones, many short ones. */
enum { CHUNK_LEAST = 1, CHUNK_MOST = 1024, ROWS_AT_ONCE = 2048 };

/* A row of a chunk's rows follows: all but the last chunk are full. */
struct chunk {
    uint64_t next; /* 1 + place in the file; 0: it is the last */
};

struct group {
    struct value key[GROUPED_COLUMNS];
    uint64_t first, last; /* 1 + places of chunks */
    uint32_t size, used;  /* rows of the last chunk: that it has room for, and has */
};

struct grouped {
    struct query_cursor *cursor;
    struct grouping grouping;
    size_t row_size;
    struct spill spill;
    struct group *groups;
    size_t count, capacity;
    struct map values[GROUPED_COLUMNS]; /* of a column: numbers of its values */
    struct map pairs[GROUPED_COLUMNS];  /* (number of the columns before, number of this one's value) -> number */
    size_t group;                       /* that comes after the one that is read */
    struct chunk next;                  /* after the chunk that is read */
    uint64_t place;                     /* of the row that is read next, in the file */
    uint32_t chunk_size, left;          /* rows: of the chunk, and not read of it */
};

/* Times and ids have a value for each row. */
bool grouped_can(const struct query_table *table, unsigned column)
{
    static const char *const few[] = {"rank",   "thread",      "name",      "class", "depth",
                                      "source", "destination", "tag",       "wait",  "communicator",
                                      "site",   "cause_rank",  "cause_name"};
    for (size_t i = 0; table->rows->room && i < sizeof few / sizeof *few; i++)
        if (strcmp(table->columns[column].name, few[i]) == 0)
            return true;
    return false;
}

/* Texts live as long as the trace: their places stand for them. Two places may have the same text, which sorting brings
   together. Numbers are moved so that those that a map cannot have are far from any rank or tag. */
static uint64_t bits_of(struct value value)
{
    if (value.kind == VALUE_NULL)
        return UINT64_MAX - 1;
    if (value.kind == VALUE_TEXT)
        return (uint64_t)(uintptr_t)value.text;
    return value.count ^ UINT64_C(1) << 63;
}

static struct group *group_of(struct grouped *grouped, size_t row)
{
    struct value key[GROUPED_COLUMNS];
    uint64_t number = 0;
    for (size_t i = 0; i < grouped->grouping.count; i++) {
        key[i] = query_value(grouped->cursor, row, grouped->grouping.by[i].column);
        uint64_t value = *map_put(&grouped->values[i], bits_of(key[i]), grouped->values[i].count);
        if (i == 0)
            number = value;
        else
            number = *map_put(&grouped->pairs[i], map_pair((uint32_t)number, (uint32_t)value), grouped->pairs[i].count);
    }
    if (number < grouped->count)
        return &grouped->groups[number];
    ARRAY_PUSH(grouped->groups, grouped->count, grouped->capacity, (struct group){0});
    struct group *group = &grouped->groups[number];
    memcpy(group->key, key, grouped->grouping.count * sizeof *key);
    return group;
}

static struct chunk *chunk_at(const struct grouped *grouped, uint64_t place)
{
    return (struct chunk *)(void *)(grouped->spill.data + place - 1);
}

static unsigned char *row_at(const struct grouped *grouped, uint64_t chunk, uint32_t row)
{
    return grouped->spill.data + chunk - 1 + sizeof(struct chunk) + row * grouped->row_size;
}

static bool add_chunk(struct grouped *grouped, struct group *group)
{
    uint32_t size = smaller(larger(2 * group->size, (uint32_t)CHUNK_LEAST), (uint32_t)CHUNK_MOST);
    uint64_t place = grouped->spill.size + 1;
    if (!spill_make_room(&grouped->spill, sizeof(struct chunk) + size * grouped->row_size))
        return false;
    if (group->last)
        chunk_at(grouped, group->last)->next = place;
    else
        group->first = place;
    group->last = place;
    group->size = size;
    group->used = 0;
    return true;
}

static void add_rows(struct grouped *grouped)
{
    const unsigned char *rows = grouped->cursor->table->rows->room(grouped->cursor, 0);
    for (size_t row = 0; row < grouped->cursor->count; row++) {
        struct group *group = group_of(grouped, row);
        /* A full disk is reported at the end. */
        if (group->used == group->size && !add_chunk(grouped, group))
            return;
        memcpy(row_at(grouped, group->last, group->used++), rows + row * grouped->row_size, grouped->row_size);
    }
}

/* As SQLite: NULL first, then numbers, then texts by their bytes. */
static int compare_values(struct value a, struct value b)
{
    if (a.kind == VALUE_NULL || b.kind == VALUE_NULL)
        return (a.kind != VALUE_NULL) - (b.kind != VALUE_NULL);
    if (a.kind == VALUE_TEXT)
        return strcmp(a.text, b.text);
    return order_by(a.integer, b.integer);
}

static int compare_groups(const void *a, const void *b, void *context)
{
    const struct group *left = a, *right = b;
    const struct grouping *grouping = context;
    for (size_t i = 0; i < grouping->count; i++) {
        int order = compare_values(left->key[i], right->key[i]);
        if (order != 0)
            return grouping->by[i].descending ? -order : order;
    }
    return order_by(left->first, right->first);
}

static enum status read_all(struct grouped *grouped, bool (*stopped)(void *context), void *context, struct error *err)
{
    enum status status;
    while ((status = query_cursor_next(grouped->cursor, err)) == STATUS_OK) {
        if (stopped(context))
            return STATUS_FAILED;
        add_rows(grouped);
    }
    if (status == STATUS_FAILED || spill_check(&grouped->spill, err) != STATUS_OK)
        return STATUS_FAILED;
    if (grouped->count > 0)
        qsort_r(grouped->groups, grouped->count, sizeof *grouped->groups, compare_groups, &grouped->grouping);
    return STATUS_OK;
}

struct grouped *grouped_new(struct query_cursor *cursor, const struct grouping *grouping,
                            bool (*stopped)(void *context), void *context, struct error *err)
{
    struct grouped *grouped = memory_new(sizeof *grouped);
    grouped->cursor = cursor;
    grouped->grouping = *grouping;
    grouped->row_size = cursor->table->rows->row_size;
    if (spill_open(&grouped->spill, err) != STATUS_OK || read_all(grouped, stopped, context, err) != STATUS_OK) {
        grouped_free(grouped);
        return NULL;
    }
    return grouped;
}

/* Through the file: the mapping would bring whole folios into memory for each chunk. */
static enum status read_at(const struct grouped *grouped, uint64_t place, void *to, size_t size, struct error *err)
{
    if (pread(grouped->spill.file, to, size, (off_t)place) == (ssize_t)size)
        return STATUS_OK;
    return error_set_errno(err, ERROR_OUTPUT, "cannot read a temporary file in %s", temporary_directory());
}

/* The next chunk that has rows. STATUS_END: there is none. */
static enum status next_chunk(struct grouped *grouped, struct error *err)
{
    uint32_t size = smaller(2 * grouped->chunk_size, (uint32_t)CHUNK_MOST);
    uint64_t next = grouped->next.next;
    if (!next) {
        if (grouped->group == grouped->count)
            return STATUS_END;
        next = grouped->groups[grouped->group++].first;
        size = CHUNK_LEAST;
    }
    const struct group *group = &grouped->groups[grouped->group - 1];
    grouped->chunk_size = size;
    grouped->place = next - 1 + sizeof(struct chunk);
    grouped->left = next == group->last ? group->used : size;
    return read_at(grouped, next - 1, &grouped->next, sizeof grouped->next, err);
}

enum status grouped_next(struct grouped *grouped, struct error *err)
{
    struct query_cursor *cursor = grouped->cursor;
    unsigned char *rows = cursor->table->rows->room(cursor, ROWS_AT_ONCE);
    enum status status = STATUS_OK;
    cursor->count = 0;
    while (cursor->count < ROWS_AT_ONCE && status == STATUS_OK) {
        if (grouped->left == 0) {
            status = next_chunk(grouped, err);
            continue;
        }
        size_t take = smaller((size_t)grouped->left, ROWS_AT_ONCE - cursor->count), size = take * grouped->row_size;
        status = read_at(grouped, grouped->place, rows + cursor->count * grouped->row_size, size, err);
        cursor->count += take;
        grouped->place += size;
        grouped->left -= (uint32_t)take;
    }
    if (status == STATUS_FAILED)
        return status;
    return cursor->count > 0 ? STATUS_OK : STATUS_END;
}

void grouped_free(struct grouped *grouped)
{
    if (!grouped)
        return;
    spill_close(&grouped->spill);
    for (size_t i = 0; i < GROUPED_COLUMNS; i++) {
        map_clear(&grouped->values[i]);
        map_clear(&grouped->pairs[i]);
    }
    free(grouped->groups);
    free(grouped);
}
