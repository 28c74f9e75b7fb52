/* SPDX-License-Identifier: BSD-3-Clause */
#include "sql/sql_table.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "sql/grouped.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS_MOST = 40 }; /* of a table of tables.def */

struct table {
    sqlite3_vtab base; /* the first member: SQLite's */
    const struct query_table *about;
    struct sql_traces *traces;
    struct shown_column {
        unsigned column;
        bool ns;
    } columns[2 * COLUMNS_MOST]; /* by SQLite's number */
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct query_cursor *rows; /* of the trace at hand; NULL: there are no more */
    struct grouped *grouped;   /* of them; NULL: they come as they are */
    struct grouping grouping;
    struct query_limits limits;
    const char *run; /* only this; NULL: all */
    char *run_text, *name_text;
    size_t trace, row;
    int64_t rowid;
    /* Of the table, here so that the value of a column needs few loads. */
    const struct shown_column *columns;
    struct value (*value)(struct query_cursor *cursor, size_t row, unsigned column);
    bool passing;
};

static struct table *table_of(sqlite3_vtab *base)
{
    return (struct table *)base;
}

static const char *type_word(const struct query_column *column)
{
    static const char *const words[] = {
        [QUERY_TEXT] = "TEXT",     [QUERY_INTEGER] = "INTEGER", [QUERY_TIME] = "REAL",
        [QUERY_BYTES] = "INTEGER", [QUERY_RATIO] = "NUMERIC",   [QUERY_BOOL] = "INTEGER"};
    return words[column->type];
}

char *sql_table_declaration(const struct query_table *table, bool hidden)
{
    size_t length;
    struct output *output = output_open_memory();
    output_print(output, "CREATE TABLE %s(", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        output_print(output, "%s\"%s\" %s", i ? ", " : "", table->columns[i].name, type_word(&table->columns[i]));
    /* Seconds are REAL, which has no ns beyond 100 days: each has a hidden column with whole ns next to it. */
    for (size_t i = 0; hidden && i < table->column_count; i++)
        if (table->columns[i].type == QUERY_TIME)
            output_print(output, ", \"%.*s_ns\" INTEGER HIDDEN", (int)strlen(table->columns[i].name) - 2,
                         table->columns[i].name);
    output_text(output, ")");
    return output_take(output, &length);
}

/* The column that a number of SQLite's means; *ns: it is the hidden one. */
static unsigned column_of(const struct query_table *table, int number, bool *ns)
{
    *ns = (size_t)number >= table->column_count;
    if (!*ns)
        return (unsigned)number;
    size_t nth = (size_t)number - table->column_count;
    for (unsigned i = 0; i < table->column_count; i++)
        if (table->columns[i].type == QUERY_TIME && nth-- == 0)
            return i;
    return 0;
}

static int table_connect(sqlite3 *database, void *context, int argc, const char *const *argv, sqlite3_vtab **made,
                         char **message)
{
    (void)argc;
    (void)message;
    const struct query_table *about = query_table_find(argv[0]);
    char *declaration = sql_table_declaration(about, true);
    struct sql_traces *traces = context;
    /* SQLite asks the authorizer about this CREATE TABLE, too, which refuses those of the user. */
    traces->declaring = true;
    int code = sqlite3_declare_vtab(database, declaration);
    traces->declaring = false;
    free(declaration);
    if (code != SQLITE_OK)
        return code;
    struct table *table = memory_new(sizeof *table);
    table->about = about;
    table->traces = traces;
    for (unsigned i = 0; i < 2 * COLUMNS_MOST; i++)
        table->columns[i].column = column_of(about, (int)i, &table->columns[i].ns);
    *made = &table->base;
    return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *base)
{
    free(base);
    return SQLITE_OK;
}

/* A condition that a cursor can use, as two letters of the plan: what it is on, and how it compares. */
static bool usable(const struct query_table *table, const struct sqlite3_index_constraint *constraint, char letters[2])
{
    static const char roles[] = {[QUERY_RUN] = 'u',     [QUERY_WHEN] = 's', [QUERY_RANK] = 'r',
                                 [QUERY_PARTNER] = 'p', [QUERY_NAME] = 'n', [QUERY_ID] = 'i'};
    /* Not usable: its other side is a table that the join reads later. Column -1 is the rowid, which finds nothing. */
    if (!constraint->usable || constraint->iColumn < 0)
        return false;
    bool ns;
    unsigned column = column_of(table, constraint->iColumn, &ns);
    enum query_role role = table->columns[column].role;
    bool text = role == QUERY_RUN || role == QUERY_NAME;
    switch (constraint->op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        letters[1] = '=';
        break;
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
        /* With equality, too: SQLite tests again and drops what is equal. */
        letters[1] = '>';
        break;
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
        letters[1] = '<';
        break;
    default:
        return false;
    }
    letters[0] = roles[role];
    /* Whole ns need no margin, unlike seconds as double (whole_around). */
    if (ns && role == QUERY_WHEN)
        letters[0] = 't';
    return role != QUERY_NONE && !(text && letters[1] != '=');
}

/* What a condition leaves to be read, and of the rows that are read. Guesses: SQLite only needs them to choose the
   order of a join. A window of time or an id saves reading; a rank is spread over all parts of a trace, and saves
   little. */
static void count_in(sqlite3_index_info *info, const char letters[2])
{
    static const struct {
        char on;
        struct {
            double rows, cost;
        } equal, bound;
    } leaves[] = {{'s', {0.001, 0.001}, {0.2, 0.2}}, {'t', {0.001, 0.001}, {0.2, 0.2}}, {'i', {1e-6, 1e-6}, {0.3, 0.3}},
                  {'r', {0.1, 0.9}, {0.5, 0.95}},    {'p', {0.1, 0.9}, {0.5, 0.95}},    {'u', {0.2, 0.9}, {0.2, 0.9}},
                  {'n', {0.2, 0.9}, {0.2, 0.9}}};
    size_t i = 0;
    /* Each letter of `usable` is there. */
    while (leaves[i].on != letters[0])
        i++;
    double rows = leaves[i].bound.rows, cost = leaves[i].bound.cost;
    if (letters[1] == '=') {
        rows = leaves[i].equal.rows;
        cost = leaves[i].equal.cost;
    }
    info->estimatedCost *= cost;
    info->estimatedRows = larger((sqlite3_int64)(rows * (double)info->estimatedRows), (sqlite3_int64)1);
}

/* GROUP BY and ORDER BY: the columns that rows are to be in order by, at the end of the plan, if they can. Rows of
   several traces come trace by trace. */
static void take_order(const struct table *table, sqlite3_index_info *info, char *plan, size_t size)
{
    size_t count = 0;
    char order[GROUPED_COLUMNS * 16] = "";
    /* An id gives few rows, and they may be asked for many times. */
    if (table->traces->count != 1 || strstr(plan, "i="))
        return;
#ifdef SQLITE_INDEX_CONSTRAINT_LIMIT
    /* SQLite keeps as many rows as are wanted: all would go to a file here. */
    for (int i = 0; i < info->nConstraint; i++)
        if (info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_LIMIT)
            return;
#endif
    for (int i = 0; i < info->nOrderBy; i++) {
        if (info->aOrderBy[i].iColumn < 0)
            return;
        const struct shown_column *shown = &table->columns[info->aOrderBy[i].iColumn];
        if (table->about->columns[shown->column].role == QUERY_RUN)
            continue;
        if (shown->ns || count == GROUPED_COLUMNS || !grouped_can(table->about, shown->column))
            return;
        text_append(order, sizeof order, ";%u%c", shown->column, info->aOrderBy[i].desc ? 'd' : 'a');
        count++;
    }
    if (count == 0)
        return;
    text_append(plan, size, "%s", order);
    info->orderByConsumed = 1;
}

/* The end of a plan, as take_order writes it. */
static struct grouping grouping_of(const char *plan)
{
    struct grouping grouping = {0};
    for (const char *at = strchr(plan, ';'); at && grouping.count < GROUPED_COLUMNS; at = strchr(at + 1, ';')) {
        char direction = 'a';
        unsigned column = 0;
        sscanf(at, ";%u%c", &column, &direction);
        grouping.by[grouping.count].column = column;
        grouping.by[grouping.count++].descending = direction == 'd';
    }
    return grouping;
}

static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    enum { CONDITIONS = 32 };
    const struct table *table = table_of(base);
    char plan[2 * CONDITIONS + GROUPED_COLUMNS * 16] = "";
    int used = 0;
    double rows = 0;
    /* SQLite asks here for all tables of a statement before the first row: traces are then read once for all of them.
     */
    for (size_t i = 0; i < table->traces->count; i++) {
        query_trace_will_want(table->traces->trace[i], table->about->rows->wants);
        rows += query_rows_guess(table->traces->trace[i], table->about);
    }
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = rows;
    /* `omit` stays 0, so that SQLite tests each condition again: reading too much is never wrong. */
    for (int i = 0; i < info->nConstraint && used < CONDITIONS; i++)
        if (usable(table->about, &info->aConstraint[i], &plan[2 * used])) {
            count_in(info, &plan[2 * used]);
            info->aConstraintUsage[i].argvIndex = ++used;
        }
    /* The plan is all that table_filter gets, besides the values in the order of argvIndex. */
    plan[2 * used] = '\0';
    take_order(table, info, plan, sizeof plan);
    info->idxStr = sqlite3_mprintf("%s", plan);
    info->needToFreeIdxStr = 1;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int table_open(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    struct cursor *cursor = memory_new(sizeof *cursor);
    const struct table *table = table_of(base);
    cursor->columns = table->columns;
    cursor->value = table->about->rows->value;
    cursor->passing = table->about->rows->passing;
    *made = &cursor->base;
    return SQLITE_OK;
}

static void cursor_clear(struct cursor *cursor)
{
    grouped_free(cursor->grouped);
    query_cursor_free(cursor->rows);
    cursor->grouped = NULL;
    free(cursor->run_text);
    free(cursor->name_text);
    cursor->rows = NULL;
    cursor->run_text = cursor->name_text = NULL;
}

static int table_close(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    cursor_clear(cursor);
    free(cursor);
    return SQLITE_OK;
}

static int cursor_fault(struct cursor *cursor, const struct error *err)
{
    struct table *table = table_of(cursor->base.pVtab);
    /* Kept whole: SQLite passes on the text, but the exit code depends on the kind. */
    table->traces->fault = *err;
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = sqlite3_mprintf("%s", err->text);
    /* Failed without a fault: the reading was stopped. */
    return err->kind == ERROR_NONE ? SQLITE_INTERRUPT : SQLITE_ERROR;
}

static enum status next_rows(struct cursor *cursor, struct query_trace *trace, struct error *err)
{
    const struct table *table = table_of(cursor->base.pVtab);
    if (!cursor->rows)
        cursor->rows = query_cursor_new(trace, table->about, &cursor->limits);
    if (cursor->grouping.count == 0)
        return query_cursor_next(cursor->rows, err);
    if (!cursor->grouped)
        cursor->grouped =
            grouped_new(cursor->rows, &cursor->grouping, table->traces->stopped, table->traces->context, err);
    if (!cursor->grouped)
        return STATUS_FAILED;
    return grouped_next(cursor->grouped, err);
}

/* The next rows that there are, of this trace or the next. */
static int cursor_fill(struct cursor *cursor)
{
    const struct table *table = table_of(cursor->base.pVtab);
    cursor->row = 0;
    for (; cursor->trace < table->traces->count; cursor->trace++) {
        struct query_trace *trace = table->traces->trace[cursor->trace];
        struct error err = {0};
        /* A trace of another run is not even read. */
        if (cursor->run && strcmp(cursor->run, query_trace_name(trace)) != 0)
            continue;
        enum status status = next_rows(cursor, trace, &err);
        if (status == STATUS_FAILED)
            return cursor_fault(cursor, &err);
        if (status == STATUS_OK)
            return SQLITE_OK;
        grouped_free(cursor->grouped);
        query_cursor_free(cursor->rows);
        cursor->grouped = NULL;
        cursor->rows = NULL;
    }
    return SQLITE_OK;
}

static void narrow(int64_t *from, int64_t *to, char how, int64_t low, int64_t high)
{
    if (how != '<' && low > *from)
        *from = low;
    if (how != '>' && high < *to)
        *to = high;
}

/* Beyond int64, and NaN, converting is undefined. */
static int64_t whole_of(double value)
{
    if (value >= 9e18)
        return INT64_MAX;
    if (value > -9e18)
        return (int64_t)value;
    return INT64_MIN;
}

/* A number as two whole ones around it, `scale` times as large. */
static void whole_around(double value, double scale, int64_t *low, int64_t *high)
{
    /* Seconds as double may be a ns off: one more is read, and SQLite drops it. */
    double scaled = value * scale, margin = scale > 1;
    *low = whole_of(floor(scaled - margin));
    *high = whole_of(ceil(scaled + margin));
}

static char *text_again(const char *text, char **kept)
{
    free(*kept);
    return *kept = memory_copy_string(text);
}

/* Conditions that cannot be used here are left to SQLite, which tests all again. */
static void cursor_limit(struct cursor *cursor, const char letters[2], sqlite3_value *value)
{
    struct query_limits *limits = &cursor->limits;
    int64_t low, high;
    int type = sqlite3_value_type(value);
    if (letters[0] == 'u' || letters[0] == 'n') {
        /* Kept: the value is SQLite's only until this returns. */
        if (type == SQLITE_TEXT && letters[0] == 'u')
            cursor->run = text_again((const char *)sqlite3_value_text(value), &cursor->run_text);
        else if (type == SQLITE_TEXT)
            limits->name = text_again((const char *)sqlite3_value_text(value), &cursor->name_text);
        return;
    }
    if (type == SQLITE_INTEGER && letters[0] != 's')
        low = high = sqlite3_value_int64(value);
    else if ((type == SQLITE_INTEGER || type == SQLITE_FLOAT) && letters[0] == 's')
        whole_around(sqlite3_value_double(value), 1e9, &low, &high);
    else if (type == SQLITE_FLOAT)
        whole_around(sqlite3_value_double(value), 1, &low, &high);
    else
        return;
    if (letters[0] == 's' || letters[0] == 't')
        narrow(&limits->from_ns, &limits->to_ns, letters[1], low, high);
    else if (letters[0] == 'r')
        narrow(&limits->rank_from, &limits->rank_to, letters[1], low, high);
    else if (letters[0] == 'p')
        narrow(&limits->partner_from, &limits->partner_to, letters[1], low, high);
    else
        narrow(&limits->id_from, &limits->id_to, letters[1], low, high);
}

static int table_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc, sqlite3_value **argv)
{
    (void)number;
    struct cursor *cursor = (struct cursor *)base;
    /* For each row of the outer table of a join the cursor begins again. */
    cursor_clear(cursor);
    cursor->limits = query_everything;
    cursor->run = NULL;
    cursor->trace = 0;
    cursor->rowid = 1;
    cursor->grouping = grouping_of(plan);
    for (int i = 0; i < argc; i++)
        cursor_limit(cursor, plan + 2 * (size_t)i, argv[i]);
    return cursor_fill(cursor);
}

static int table_next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    cursor->rowid++;
    if (++cursor->row < cursor->rows->count)
        return SQLITE_OK;
    return cursor_fill(cursor);
}

static int table_eof(sqlite3_vtab_cursor *base)
{
    return ((struct cursor *)base)->rows == NULL;
}

static inline void put_value(sqlite3_context *context, struct value value, bool ns, bool passing)
{
    switch (value.kind) {
    case VALUE_NULL:
        sqlite3_result_null(context);
        break;
    case VALUE_COUNT:
    case VALUE_BYTES:
    case VALUE_INTEGER:
        sqlite3_result_int64(context, value.integer);
        break;
    case VALUE_TIME:
        if (ns)
            sqlite3_result_int64(context, value.integer);
        else
            sqlite3_result_double(context, (double)value.integer / 1e9);
        break;
    case VALUE_RATIO:
        sqlite3_result_double(context, value.ratio);
        break;
    case VALUE_BOOL:
        sqlite3_result_int(context, value.truth);
        break;
    case VALUE_TEXT:
        /* Passing: the text is overwritten by the next row, so SQLite copies it. */
        sqlite3_result_text(context, value.text, -1, passing ? SQLITE_TRANSIENT : SQLITE_STATIC);
        break;
    }
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    const struct cursor *cursor = (const struct cursor *)base;
    const struct shown_column *column = &cursor->columns[number];
    put_value(context, cursor->value(cursor->rows, cursor->row, column->column), column->ns, cursor->passing);
    return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    *rowid = ((const struct cursor *)base)->rowid;
    return SQLITE_OK;
}

/* Without xCreate the tables are there at once, by the names of their modules. */
static const sqlite3_module module = {.iVersion = 1,
                                      .xConnect = table_connect,
                                      .xBestIndex = table_best_index,
                                      .xDisconnect = table_disconnect,
                                      .xDestroy = table_disconnect,
                                      .xOpen = table_open,
                                      .xClose = table_close,
                                      .xFilter = table_filter,
                                      .xNext = table_next,
                                      .xEof = table_eof,
                                      .xColumn = table_column,
                                      .xRowid = table_rowid};

int sql_tables_create(sqlite3 *database, struct sql_traces *traces)
{
    int code = SQLITE_OK;
    for (size_t i = 0; i < QUERY_TABLES && code == SQLITE_OK; i++)
        code = sqlite3_create_module(database, query_table_at(i)->name, &module, traces);
    return code;
}
