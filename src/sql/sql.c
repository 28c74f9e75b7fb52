/* SPDX-License-Identifier: BSD-3-Clause */
#include "sql/sql.h"

#include "core/input.h"
#include "core/memory.h"
#include "sql/sql_table.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct sql {
    sqlite3 *database;
    struct sql_traces traces;
    struct sql_limits limits;
    int64_t until_ns; /* of the query that runs */
    bool saving;
    atomic_bool late;           /* asked for by threads that read, too */
    volatile sig_atomic_t stop; /* of the query that runs */
};

/* SQLite's instructions between two looks at the clock: some 100 us, and the look costs nothing against that. */
enum { STEPS_PER_LOOK = 10000 };

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool is_stopped(void *context)
{
    struct sql *sql = context;
    bool late = sql->limits.seconds > 0 && now_ns() > sql->until_ns;
    if (late)
        sql->late = true;
    return sql->stop || late;
}

/* Called by SQLite now and then; true stops the query. */
static int stop_steps(void *context)
{
    return is_stopped(context);
}

static bool word_is_in(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (sqlite3_stricmp(word, *words) == 0)
            return true;
    return false;
}

/* What statements may do: read. A query may come from a web page or a colleague: it must not reach files, and the
   database is in memory, so that there is nothing to write. SQLite asks before it prepares a statement. */
static int authorize(void *context, int action, const char *first, const char *second, const char *base,
                     const char *trigger)
{
    /* Functions that run code that a query names or points to. */
    static const char *const harmful[] = {"load_extension", "fts3_tokenizer", NULL};
    static const char *const looking[] = {"table_info", "table_xinfo", "table_list", "function_list", NULL};
    (void)base;
    (void)trigger;
    const struct sql *sql = context;
    if (sql->saving || sql->traces.declaring)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        if (second && word_is_in(second, harmful))
            return SQLITE_DENY;
        return SQLITE_OK;
    case SQLITE_PRAGMA:
        if (word_is_in(first, looking))
            return SQLITE_OK;
        return SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

struct sql *sql_open(struct query_trace *const *traces, size_t count, const struct sql_limits *limits,
                     struct error *err)
{
    struct sql *sql = memory_new(sizeof *sql);
    sql->traces = (struct sql_traces){.trace = traces, .count = count, .stopped = is_stopped, .context = sql};
    sql->limits = *limits;
    for (size_t i = 0; i < count; i++)
        query_trace_stop_when(traces[i], is_stopped, sql);
    if (limits->bytes > 0)
        sqlite3_hard_heap_limit64(limits->bytes);
    int code = sqlite3_open(":memory:", &sql->database);
    if (code == SQLITE_OK)
        code = sql_tables_create(sql->database, &sql->traces);
    if (code != SQLITE_OK) {
        (void)error_set(err, ERROR_INPUT, "SQL: %s", sqlite3_errstr(code));
        sql_close(sql);
        return NULL;
    }
    /* Names in double quotes are columns, never texts: SELECT "ranks" would otherwise answer with the misspelt word. */
    sqlite3_db_config(sql->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(sql->database, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_set_authorizer(sql->database, authorize, sql);
    sqlite3_progress_handler(sql->database, STEPS_PER_LOOK, stop_steps, sql);
    return sql;
}

void sql_close(struct sql *sql)
{
    if (!sql)
        return;
    for (size_t i = 0; i < sql->traces.count; i++)
        query_trace_stop_when(sql->traces.trace[i], NULL, NULL);
    sqlite3_close(sql->database);
    free(sql);
}

void sql_stop(struct sql *sql)
{
    sql->stop = 1;
    sqlite3_interrupt(sql->database);
}

bool sql_is_complete(const char *text)
{
    return sqlite3_complete(text);
}

/* One line of what SQLite says. */
static enum status sql_fault(struct sql *sql, int code, struct error *err)
{
    char text[400];
    enum error_kind kind = ERROR_USAGE;
    /* A fault of reading the trace comes first: SQLite only knows that a table failed. */
    if (sql->traces.fault.kind != ERROR_NONE) {
        *err = sql->traces.fault;
        return STATUS_FAILED;
    }
    switch (code & 0xFF) {
    case SQLITE_INTERRUPT:
        if (!sql->late)
            return error_set(err, ERROR_USAGE, "the query was interrupted");
        return error_set(err, ERROR_USAGE, "the query takes more than %g s: it was ended (--max-time)",
                         sql->limits.seconds);
    case SQLITE_NOMEM:
        return error_set(err, ERROR_USAGE, "the query needs more memory than %.0f MB (--max-memory)",
                         (double)sql->limits.bytes / 1e6);
    case SQLITE_AUTH:
        return error_set(err, ERROR_USAGE, "SQL: only queries are possible: nothing can be written, attached or set");
    case SQLITE_IOERR:
    case SQLITE_FULL:
        kind = ERROR_OUTPUT; /* a full disk is no fault of the query */
        break;
    default:
        break;
    }
    snprintf(text, sizeof text, "%s", sqlite3_errmsg(sql->database));
    for (char *at = strchr(text, '\n'); at; at = strchr(at, '\n'))
        *at = ' ';
    return error_set(err, kind, "SQL: %s", text);
}

/* A column of seconds: one of the tables', a sum of one, or one that is named so. */
static bool is_seconds(const char *name)
{
    size_t length = strlen(name);
    while (length > 0 && name[length - 1] == ')')
        length--;
    return length > 2 && memcmp(name + length - 2, "_s", 2) == 0;
}

static struct value value_at(sqlite3_stmt *statement, int column, bool seconds)
{
    double number;
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        return value_null();
    case SQLITE_INTEGER:
        return value_integer(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
        number = sqlite3_column_double(statement, column);
        if (seconds && fabs(number) < 9e9) /* 9e9 s are nearly the largest int64 in ns */
            return value_time((int64_t)llrint(number * 1e9));
        return value_ratio(number);
    default:
        return value_text((const char *)sqlite3_column_text(statement, column));
    }
}

struct running {
    sqlite3_stmt *statement;
    const struct sql_result *result;
    struct value *values;
    char **names;
    bool *seconds;
    size_t count;
};

static void say_columns(struct running *running)
{
    running->count = (size_t)sqlite3_column_count(running->statement);
    running->values = memory_new(running->count * sizeof *running->values);
    running->names = memory_new(running->count * sizeof *running->names);
    running->seconds = memory_new(running->count * sizeof *running->seconds);
    for (size_t i = 0; i < running->count; i++) {
        running->names[i] = memory_copy_string(sqlite3_column_name(running->statement, (int)i));
        running->seconds[i] = is_seconds(running->names[i]);
    }
    if (running->count > 0)
        running->result->columns(running->result->context, running->names, running->seconds, running->count);
}

static int run_statement(struct running *running)
{
    int code;
    say_columns(running);
    while ((code = sqlite3_step(running->statement)) == SQLITE_ROW) {
        for (size_t i = 0; i < running->count; i++)
            running->values[i] = value_at(running->statement, (int)i, running->seconds[i]);
        if (!running->result->row(running->result->context, running->values, running->count))
            break;
    }
    /* A row: the receiver wanted no more. */
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return SQLITE_OK;
    return code;
}

static void running_clear(struct running *running)
{
    for (size_t i = 0; i < running->count; i++)
        free(running->names[i]);
    free(running->names);
    free(running->seconds);
    free(running->values);
    *running = (struct running){0};
}

static enum status run_statements(struct sql *sql, const char *text, const struct sql_result *result, struct error *err)
{
    int code = SQLITE_OK;
    sql->late = false;
    sql->until_ns = now_ns() + (int64_t)(sql->limits.seconds * 1e9);
    sql->traces.fault = (struct error){0};
    while (code == SQLITE_OK && *text) {
        struct running running = {.result = result};
        code = sqlite3_prepare_v2(sql->database, text, -1, &running.statement, &text);
        if (code == SQLITE_OK && running.statement)
            code = run_statement(&running);
        /* The text of a fault is SQLite's, until the statement is finalized. */
        enum status status = STATUS_OK;
        if (code != SQLITE_OK)
            status = sql_fault(sql, code, err);
        sqlite3_finalize(running.statement);
        running_clear(&running);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

enum status sql_run(struct sql *sql, const char *text, const struct sql_result *result, struct error *err)
{
    enum status status = run_statements(sql, text, result, err);
    /* Not at the begin: a stop that came just before is meant for these statements. */
    sql->stop = 0;
    return status;
}

/* Saving: a database in TMPDIR, which has lost its name once it is open, is filled and copied to the output. */

/* Runs statements made by sqlite3_mprintf, which gives NULL if there is no memory. */
static int run_and_free(struct sql *sql, char *text)
{
    if (!text)
        return SQLITE_NOMEM;
    int code = sqlite3_exec(sql->database, text, NULL, NULL, NULL);
    sqlite3_free(text);
    return code;
}

static int save_table(struct sql *sql, const struct query_table *table)
{
    char *declaration = sql_table_declaration(table, false);
    char *columns = strchr(declaration, '(');
    char *text = sqlite3_mprintf("CREATE TABLE saved.\"%w\"%s; INSERT INTO saved.\"%w\" SELECT * FROM main.\"%w\"",
                                 table->name, columns, table->name, table->name);
    free(declaration);
    return run_and_free(sql, text);
}

static int fill(struct sql *sql, const char *path)
{
    char *text = sqlite3_mprintf("ATTACH %Q AS saved; PRAGMA saved.journal_mode = OFF; PRAGMA saved.synchronous = OFF; "
                                 "PRAGMA saved.locking_mode = EXCLUSIVE; BEGIN",
                                 path);
    /* No journal and no sync: if this is interrupted, the file is gone anyway. One transaction: a table at a time would
       write each page again. */
    int code = run_and_free(sql, text);
    unlink(path);
    for (size_t i = 0; i < QUERY_TABLES && code == SQLITE_OK; i++)
        code = save_table(sql, query_table_at(i));
    if (code != SQLITE_OK)
        return code;
    return sqlite3_exec(sql->database, "COMMIT", NULL, NULL, NULL);
}

static enum status copy(int fd, struct output *output, struct error *err)
{
    char block[1 << 14];
    ssize_t got;
    off_t at = 0;
    while ((got = pread(fd, block, sizeof block, at)) > 0) {
        output_write(output, block, (size_t)got);
        at += got;
    }
    if (got < 0)
        return error_set_errno(err, ERROR_OUTPUT, "cannot read a temporary file in %s", temporary_directory());
    return STATUS_OK;
}

enum status sql_save(struct sql *sql, struct output *output, struct error *err)
{
    char path[4096];
    sql->traces.fault = (struct error){0};
    sql->until_ns = now_ns() + (int64_t)(sql->limits.seconds * 1e9);
    snprintf(path, sizeof path, "%s/sight-save.XXXXXX", temporary_directory());
    int fd = mkstemp(path);
    if (fd < 0)
        return error_set_errno(err, ERROR_OUTPUT, "cannot create a temporary file in %s", temporary_directory());
    sql->saving = true;
    sqlite3_db_config(sql->database, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    int code = fill(sql, path);
    enum status status;
    if (code == SQLITE_OK)
        status = copy(fd, output, err);
    else
        status = sql_fault(sql, code, err);
    /* After a commit there is nothing to roll back, which is no fault. */
    sqlite3_exec(sql->database, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_exec(sql->database, "DETACH saved", NULL, NULL, NULL);
    sqlite3_db_config(sql->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sql->saving = false;
    close(fd);
    return status;
}
