/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/trace.h"

#include "core/memory.h"
#include "core/text.h"

#include <string.h>

#define QUERY_TABLE(table, meaning) static const struct query_column table##_columns[] = {
#define QUERY_COLUMN(table, name, type, role, meaning) {#name, meaning, QUERY_##type, QUERY_##role},
#define QUERY_END(table)                                                                                               \
    }                                                                                                                  \
    ;
#include "query/tables.def"

static const struct query_table tables[] = {
#define QUERY_TABLE(table, meaning) {#table, meaning, table##_columns, table##_COLUMNS, &rows_##table},
#define QUERY_COLUMN(...)
#define QUERY_END(table)
#include "query/tables.def"
};

/* As wide as int64, not as wide as ranks: limits come from SQL, whose numbers may be any. */
const struct query_limits query_everything = {.from_ns = INT64_MIN,
                                              .to_ns = INT64_MAX,
                                              .rank_from = INT64_MIN,
                                              .rank_to = INT64_MAX,
                                              .partner_from = INT64_MIN,
                                              .partner_to = INT64_MAX,
                                              .id_from = INT64_MIN,
                                              .id_to = INT64_MAX};

const struct query_table *query_table_at(size_t index)
{
    return &tables[index];
}

const struct query_table *query_table_find(const char *name)
{
    for (size_t i = 0; i < QUERY_TABLES; i++)
        if (strcmp(tables[i].name, name) == 0)
            return &tables[i];
    return NULL;
}

const char *query_type_unit(enum query_type type)
{
    if (type == QUERY_TIME)
        return "s";
    return type == QUERY_BYTES ? "bytes" : "";
}

struct query_cursor *query_cursor_new(struct query_trace *trace, const struct query_table *table,
                                      const struct query_limits *limits)
{
    struct query_cursor *cursor = memory_new(sizeof *cursor);
    cursor->trace = trace;
    cursor->table = table;
    /* Its own copy: the statement may change its limits before the rows are read. */
    cursor->limits = *limits;
    return cursor;
}

enum status query_cursor_next(struct query_cursor *cursor, struct error *err)
{
    /* Each time: another table of the statement may have made the trace be read again, with other definitions. */
    if (query_trace_need(cursor->trace, cursor->table->rows->wants, err) != STATUS_OK)
        return STATUS_FAILED;
    /* Times of tables count from the first event, those of events are on the trace's clock. */
    cursor->base_ns = query_trace_begin_ns(cursor->trace);
    return cursor->table->rows->next(cursor, err);
}

void query_cursor_free(struct query_cursor *cursor)
{
    if (!cursor)
        return;
    if (cursor->table->rows->clear)
        cursor->table->rows->clear(cursor);
    free(cursor->rows);
    free(cursor);
}
