/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_QUERY_TABLES_H
#define SIGHT_QUERY_TABLES_H

#include "engine/engine.h"
#include "render/field.h"

/* A trace as tables: what SQL, the C library and exports ask for. Tables and columns are rows of tables.def; nothing is
   imported, rows are made from the timeline's index and from the engine's results as they are read.

       struct query_trace *trace = query_trace_new(&request, "run");
       struct query_cursor *cursor = query_cursor_new(trace, query_table_find("messages"), &query_everything);
       while ((status = query_cursor_next(cursor, err)) == STATUS_OK)
           for (size_t row = 0; row < cursor->count; row++)
               use(query_value(cursor, row, messages_bytes));

   Times are ns from the run's first event: doubles hold them as seconds to the ns for runs of up to 104 days. A trace
   and its cursors belong to one thread. */

enum query_type { QUERY_TEXT, QUERY_INTEGER, QUERY_TIME, QUERY_BYTES, QUERY_RATIO, QUERY_BOOL };
enum query_role { QUERY_NONE, QUERY_RUN, QUERY_WHEN, QUERY_RANK, QUERY_PARTNER, QUERY_NAME, QUERY_ID };

struct query_column {
    const char *name;
    const char *meaning;
    enum query_type type;
    enum query_role role;
};

/* The columns of each table, in their order: messages_bytes, messages_COLUMNS. */
#define QUERY_TABLE(table, meaning)                                                                                    \
    enum table##_column                                                                                                \
    {
#define QUERY_COLUMN(table, name, type, role, meaning) table##_##name,
#define QUERY_END(table)                                                                                               \
    table##_COLUMNS                                                                                                    \
    }                                                                                                                  \
    ;
#include "query/tables.def"

enum query_table_number {
#define QUERY_TABLE(table, meaning) QUERY_TABLE_##table,
#define QUERY_COLUMN(...)
#define QUERY_END(table)
#include "query/tables.def"
    QUERY_TABLES
};

struct query_cursor;

/* How the rows of a table are made. */
struct query_rows {
    unsigned wants; /* of enum engine_want, QUERY_LOOK, QUERY_METRICS */
    /* Makes the next rows: sets cursor->count. STATUS_END: there are no more. */
    enum status (*next)(struct query_cursor *cursor, struct error *err);
    /* A value of row `row` of these. Texts live until the next call of `next` at least. */
    struct value (*value)(struct query_cursor *cursor, size_t row, unsigned column);
    void (*clear)(struct query_cursor *cursor); /* frees what is in cursor->rows; NULL: nothing is */
    /* For grouped.h: the rows there are now, as an array of so many bytes each that can be copied, with room for
       `count`. NULL: they are none. */
    void *(*room)(struct query_cursor *cursor, size_t count);
    size_t row_size;
    bool passing; /* texts are gone with the rows; else they live as long as the trace */
};
enum { QUERY_LOOK = 1 << 16, QUERY_METRICS = 1 << 17 };

struct query_table {
    const char *name, *meaning;
    const struct query_column *columns;
    size_t column_count;
    const struct query_rows *rows;
};

const struct query_table *query_table_at(size_t index);       /* below QUERY_TABLES */
const struct query_table *query_table_find(const char *name); /* NULL: there is none */

const char *query_type_unit(enum query_type type); /* "s", "bytes"; "" */

/* What need not be read: rows that cannot be within these bounds may be left out. They are inclusive, by the roles of
   the columns; a row with several times is within where it overlaps. */
struct query_limits {
    int64_t from_ns, to_ns;
    int64_t rank_from, rank_to;
    int64_t partner_from, partner_to;
    int64_t id_from, id_to;
    const char *name; /* borrowed until the cursor is closed; NULL: any */
};
extern const struct query_limits query_everything;

/* A trace that is asked. What a table needs is read when it is first asked for. */
struct query_trace;
struct query_trace *query_trace_new(const struct engine_request *request, const char *name);
void query_trace_free(struct query_trace *trace); /* NULL: nothing */

const char *query_trace_name(const struct query_trace *trace);

/* The trace will be asked for these, too: all is read in one pass. */
void query_trace_will_want(struct query_trace *trace, unsigned wants);

/* Asked now and then while the trace is read and rows are looked for, maybe in another thread: true ends that, and
   query_cursor_next fails without a fault. NULL: nothing is asked. */
void query_trace_stop_when(struct query_trace *trace, bool (*stopped)(void *context), void *context);

/* What is damaged of the trace, as far as it has been read, and the time of its last event from the first. NULL:
 * nothing has been read. */
const struct trace_end *query_trace_end(const struct query_trace *trace, int64_t *last_ns);

/* About how many rows a table has, and how many a window has; without reading anything that has not been read. */
double query_rows_guess(const struct query_trace *trace, const struct query_table *table);

struct query_cursor {
    size_t count; /* rows that there are now */
    const struct query_table *table;
    struct query_trace *trace;
    struct query_limits limits;
    size_t step; /* internal, as the rest: of `next` */
    void *rows;
    size_t capacity;
    int64_t base_ns;
};
struct query_cursor *query_cursor_new(struct query_trace *trace, const struct query_table *table,
                                      const struct query_limits *limits);
enum status query_cursor_next(struct query_cursor *cursor, struct error *err) MUST_CHECK;
void query_cursor_free(struct query_cursor *cursor); /* NULL: nothing */

static inline struct value query_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    return cursor->table->rows->value(cursor, row, column);
}

#endif
