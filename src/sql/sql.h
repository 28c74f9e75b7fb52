/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SQL_SQL_H
#define SIGHT_SQL_SQL_H

#include "query/tables.h"

/* SQL over traces: the tables of tables.h in a database that is nowhere but in memory. Queries read only: statements
   that write, ATTACH and PRAGMA are refused, extensions are not loaded. */

struct sql_limits {
    double seconds; /* that a query may take; 0: any */
    int64_t bytes;  /* that SQLite may take in this process; 0: any. What SQLite sorts goes to TMPDIR beyond a few MB */
};

/* NULL and a fault. The traces must outlive it. */
struct sql;
struct sql *sql_open(struct query_trace *const *traces, size_t count, const struct sql_limits *limits,
                     struct error *err);
void sql_close(struct sql *sql); /* NULL: nothing */

/* Gets what a statement gives. */
struct sql_result {
    void *context;
    /* The names of the columns, before the first row. `seconds`: by column, its numbers are seconds. */
    void (*columns)(void *context, char *const *names, const bool *seconds, size_t count);
    /* A row: integers, ratios, times, texts, null. False: no more are wanted. */
    bool (*row)(void *context, const struct value *values, size_t count);
};

/* Runs the statements of `text` one after the other. A fault where one fails, with one line. */
enum status sql_run(struct sql *sql, const char *text, const struct sql_result *result, struct error *err) MUST_CHECK;

/* True if `text` is whole statements, each ended by ";". */
bool sql_is_complete(const char *text);

/* Stops the query that runs, or else the next one; possible in a signal handler. */
void sql_stop(struct sql *sql);

/* Writes all tables into a database file of SQLite. */
enum status sql_save(struct sql *sql, struct output *output, struct error *err) MUST_CHECK;

#endif
