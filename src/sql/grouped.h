/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SQL_GROUPED_H
#define SIGHT_SQL_GROUPED_H

#include "query/tables.h"

/* Rows of a cursor by values of columns, for GROUP BY and ORDER BY: in time that grows with the rows alone, since
   columns like rank or name have few values. Each value has its rows apart, in a file in TMPDIR; memory grows with the
   number of values. */

enum { GROUPED_COLUMNS = 4 };
struct grouping {
    size_t count; /* 0: rows as they come */
    struct {
        unsigned column;
        bool descending;
    } by[GROUPED_COLUMNS]; /* the first one comes first */
};

/* True if the rows of the table can be put in order by this column. */
bool grouped_can(const struct query_table *table, unsigned column);

struct grouped;

/* Reads all rows of the cursor, which has given none yet, and is borrowed. NULL and a fault, or none where `stopped`
   says so, which is asked now and then. */
struct grouped *grouped_new(struct query_cursor *cursor, const struct grouping *grouping,
                            bool (*stopped)(void *context), void *context, struct error *err);

/* The next rows of the cursor, in order: as query_cursor_next. */
enum status grouped_next(struct grouped *grouped, struct error *err) MUST_CHECK;

void grouped_free(struct grouped *grouped); /* NULL: nothing */

#endif
