/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SQL_SQL_TABLE_H
#define SIGHT_SQL_SQL_TABLE_H

#include "query/tables.h"

#include <sqlite3.h>

/* Internal: the tables of traces as virtual tables of SQLite (https://www.sqlite.org/vtab.html). Each column NAME_s of
   times has a hidden one beside it, NAME_ns: whole ns, which add up exactly. */

struct sql_traces {
    struct query_trace *const *trace;
    size_t count;
    bool declaring;                 /* a table is being declared to SQLite, which asks whether it may be made */
    bool (*stopped)(void *context); /* the query that runs is to end; asked where SQLite cannot ask */
    void *context;
    struct error fault; /* of the last query that failed because of a trace */
};

/* Makes all tables known to the connection; SQLITE_OK or its error. `traces` must outlive it. */
int sql_tables_create(sqlite3 *database, struct sql_traces *traces);

/* "CREATE TABLE ...", as `.schema` shows it (hidden columns left out where `hidden` is false); free() it. */
char *sql_table_declaration(const struct query_table *table, bool hidden);

#endif
