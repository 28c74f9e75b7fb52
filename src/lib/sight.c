/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "../../include/sight.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/text.h"
#include "query/tables.h"
#ifdef HAVE_SQLITE
#include "sql/sql.h"
#endif

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct sight_trace {
    char *path;
    struct query_trace *trace;
};

/* Texts of a column by number. */
struct dictionary {
    char **text;
    size_t count, capacity;
    struct map hashes; /* of a text -> the first number + 1 with it */
    struct map known;  /* addresses of texts that stay -> number */
    uint32_t *next;    /* of the same hash: number + 1 */
    size_t next_capacity;
};

struct sight_rows {
    struct query_cursor *cursor;
    struct dictionary *dictionaries; /* by column */
};

/* `error` may be NULL: the caller is content with the return value. */
static void put_error(struct sight_error *error, const struct error *err)
{
    static const int codes[] = {[ERROR_NONE] = SIGHT_USAGE,
                                [ERROR_USAGE] = SIGHT_USAGE,
                                [ERROR_INPUT] = SIGHT_INPUT,
                                [ERROR_OUTPUT] = SIGHT_OUTPUT};
    if (!error)
        return;
    error->code = codes[err->kind];
    snprintf(error->text, sizeof error->text, "%s", err->text);
}

/* A wrong name is the caller's, not the trace's. */
static void put_usage(struct sight_error *error, const char *format, const char *word)
{
    struct error err;
    (void)error_set(&err, ERROR_USAGE, format, word);
    put_error(error, &err);
}

const char *sight_version(void)
{
    return PACKAGE_VERSION;
}

struct sight_trace *sight_open(const char *path, struct sight_error *error)
{
    struct stat about;
    struct error err = {0};
    /* A file that is not there is known now; what is in it, only when it is read. */
    if (stat(path, &about) != 0) {
        (void)error_set_errno(&err, ERROR_INPUT, "%s", path);
        put_error(error, &err);
        return NULL;
    }
    /* Nothing is read yet: each table reads what it needs when its first rows are asked for. */
    struct sight_trace *trace = memory_new(sizeof *trace);
    trace->path = memory_copy_string(path);
    trace->trace =
        query_trace_new(&(struct engine_request){.inputs = &trace->path, .input_count = 1}, text_file_name(path));
    return trace;
}

void sight_close(struct sight_trace *trace)
{
    if (!trace)
        return;
    query_trace_free(trace->trace);
    free(trace->path);
    free(trace);
}

int sight_complete(const struct sight_trace *trace, char *text, size_t size)
{
    int64_t last_ns;
    const struct trace_end *end = query_trace_end(trace->trace, &last_ns);
    bool complete = !end || end->complete; /* nothing was read yet, so that nothing is known to be damaged */
    const char *damage = "";
    if (!complete)
        damage = "the trace is incomplete";
    if (!complete && end->damage.count > 0)
        damage = end->damage.first;
    if (text && size > 0)
        snprintf(text, size, "%s", damage);
    return complete;
}

const char *sight_table_name(size_t index)
{
    if (index >= QUERY_TABLES)
        return NULL;
    return query_table_at(index)->name;
}

const char *sight_table_meaning(const char *table)
{
    const struct query_table *found = query_table_find(table);
    if (!found)
        return NULL;
    return found->meaning;
}

/* Columns come from callers in other languages: what is none is NULL, never beyond the table. */
static const struct query_column *column_of(const char *table, int column)
{
    const struct query_table *found = query_table_find(table);
    if (!found || column < 0 || (size_t)column >= found->column_count)
        return NULL;
    return &found->columns[column];
}

const char *sight_column_name(const char *table, int column)
{
    const struct query_column *found = column_of(table, column);
    if (!found)
        return NULL;
    return found->name;
}

const char *sight_column_meaning(const char *table, int column)
{
    const struct query_column *found = column_of(table, column);
    if (!found)
        return NULL;
    return found->meaning;
}

int sight_column_type(const char *table, int column)
{
    static const int types[] = {
        [QUERY_TEXT] = SIGHT_TEXT,   [QUERY_INTEGER] = SIGHT_INTEGER, [QUERY_TIME] = SIGHT_TIME,
        [QUERY_BYTES] = SIGHT_BYTES, [QUERY_RATIO] = SIGHT_NUMBER,    [QUERY_BOOL] = SIGHT_TRUTH};
    const struct query_column *found = column_of(table, column);
    if (!found)
        return -1;
    return types[found->type];
}

int sight_column(const char *table, const char *name)
{
    const struct query_column *found;
    /* Columns end where there is none of this number. */
    for (int i = 0; (found = column_of(table, i)); i++)
        if (strcmp(found->name, name) == 0)
            return i;
    return -1;
}

/* The limits go to where rows are made: what they leave out costs little. A rank below 0 is no limit. */
struct sight_rows *sight_table(struct sight_trace *trace, const char *table, const struct sight_limits *limits,
                               struct sight_error *error)
{
    struct query_limits bounds = query_everything;
    const struct query_table *found = query_table_find(table);
    if (!found) {
        put_usage(error, "there is no table '%s'", table);
        return NULL;
    }
    if (limits) {
        bounds.from_ns = limits->from_ns;
        bounds.to_ns = limits->to_ns;
        bounds.name = limits->name;
        if (limits->rank >= 0)
            bounds.rank_from = bounds.rank_to = limits->rank;
    }
    struct sight_rows *rows = memory_new(sizeof *rows);
    rows->cursor = query_cursor_new(trace->trace, found, &bounds);
    /* for all columns, also those of numbers: they stay empty */
    rows->dictionaries = memory_new(found->column_count * sizeof *rows->dictionaries);
    return rows;
}

static void dictionary_clear(struct dictionary *dictionary)
{
    for (size_t i = 0; i < dictionary->count; i++)
        free(dictionary->text[i]);
    free(dictionary->text);
    free(dictionary->next);
    map_clear(&dictionary->hashes);
    map_clear(&dictionary->known);
}

void sight_rows_free(struct sight_rows *rows)
{
    if (!rows)
        return;
    /* before the cursor goes: the number of dictionaries is its table's */
    for (size_t i = 0; i < rows->cursor->table->column_count; i++)
        dictionary_clear(&rows->dictionaries[i]);
    free(rows->dictionaries);
    query_cursor_free(rows->cursor);
    free(rows);
}

int sight_next(struct sight_rows *rows, struct sight_error *error)
{
    struct error err = {0};
    enum status status = query_cursor_next(rows->cursor, &err);
    if (status == STATUS_OK)
        return 1;
    if (status == STATUS_END) {
        rows->cursor->count = 0; /* sight_count must not count the last batch again */
        return 0;
    }
    put_error(error, &err);
    return -1;
}

size_t sight_count(const struct sight_rows *rows)
{
    return rows->cursor->count;
}

/* Times are nanoseconds, truths 0 and 1; a ratio loses its fraction. 9e18 is within int64_t: beyond it the conversion
   would be undefined. */
static int64_t integer_of(struct value value, int64_t unknown)
{
    switch (value.kind) {
    case VALUE_NULL:
    case VALUE_TEXT:
        return unknown;
    case VALUE_BOOL:
        return value.truth;
    case VALUE_RATIO:
        return fabs(value.ratio) < 9e18 ? (int64_t)value.ratio : unknown;
    default:
        return value.integer;
    }
}

void sight_integers(struct sight_rows *rows, int column, int64_t unknown, int64_t *values)
{
    for (size_t i = 0; i < rows->cursor->count; i++)
        values[i] = integer_of(query_value(rows->cursor, i, (unsigned)column), unknown);
}

/* Times in seconds, as everywhere outside this library; what is unknown is NaN, which numpy and pandas leave out. */
static double number_in(struct value value)
{
    switch (value.kind) {
    case VALUE_NULL:
    case VALUE_TEXT:
        return NAN;
    case VALUE_BOOL:
        return value.truth;
    case VALUE_TIME:
        return (double)value.integer / 1e9;
    case VALUE_RATIO:
        return value.ratio;
    default:
        return (double)value.integer;
    }
}

void sight_numbers(struct sight_rows *rows, int column, double *values)
{
    for (size_t i = 0; i < rows->cursor->count; i++)
        values[i] = number_in(query_value(rows->cursor, i, (unsigned)column));
}

/* FNV-1a (Fowler, Noll, Vo), with its 64-bit offset and prime. Texts with one hash are compared. */
static uint64_t hash_of(const char *text)
{
    /* The offset basis: an empty text has a hash, too. */
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

static int32_t number_of(struct dictionary *dictionary, const char *text)
{
    uint64_t hash = hash_of(text);
    const uint64_t *found = map_find(&dictionary->hashes, hash);
    uint32_t first = found ? (uint32_t)*found : 0;
    for (uint32_t at = first; at; at = dictionary->next[at - 1])
        if (strcmp(dictionary->text[at - 1], text) == 0)
            return (int32_t)at - 1;
    ARRAY_RESERVE(dictionary->next, dictionary->next_capacity, dictionary->count + 1);
    /* The new text is put before those with the same hash. */
    dictionary->next[dictionary->count] = first;
    ARRAY_PUSH(dictionary->text, dictionary->count, dictionary->capacity, memory_copy_string(text));
    map_put(&dictionary->hashes, hash, dictionary->count);
    return (int32_t)dictionary->count - 1;
}

/* The same where the text stays at its address: most tables name the same few functions millions of times, and an
   address is found without hashing what it points to. */
static int32_t number_of_lasting(struct dictionary *dictionary, const char *text)
{
    const uint64_t *known = map_find(&dictionary->known, (uintptr_t)text);
    if (known)
        return (int32_t)*known;
    int32_t number = number_of(dictionary, text);
    map_put(&dictionary->known, (uintptr_t)text, (uint64_t)number);
    return number;
}

void sight_codes(struct sight_rows *rows, int column, int32_t *codes)
{
    /* A dictionary lives as long as the rows: codes are the same in all batches. */
    struct dictionary *dictionary = &rows->dictionaries[column];
    bool passing = rows->cursor->table->rows->passing; /* texts that the next batch overwrites */
    for (size_t i = 0; i < rows->cursor->count; i++) {
        struct value value = query_value(rows->cursor, i, (unsigned)column);
        if (value.kind != VALUE_TEXT)
            codes[i] = -1;
        else if (passing)
            codes[i] = number_of(dictionary, value.text);
        else
            codes[i] = number_of_lasting(dictionary, value.text);
    }
}

const char *sight_code_text(const struct sight_rows *rows, int column, int32_t code)
{
    const struct dictionary *dictionary = &rows->dictionaries[column];
    if (code < 0 || (size_t)code >= dictionary->count)
        return NULL;
    return dictionary->text[code];
}

const char *sight_text(struct sight_rows *rows, size_t row, int column)
{
    /* borrowed: until the next rows are asked for */
    struct value value = query_value(rows->cursor, row, (unsigned)column);
    return value.kind == VALUE_TEXT ? value.text : NULL;
}

#ifdef HAVE_SQLITE

/* A query on its way to the caller's function. */
struct asking {
    sight_row *row;
    void *context;
    char **names;
    char **texts;
    size_t count;
    bool stopped;
};

static void clear_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++)
        free(texts[i]);
    free(texts);
}

/* A query may be several statements, each with columns of its own. */
static void take_columns(void *context, char *const *names, const bool *seconds, size_t count)
{
    struct asking *asking = context;
    (void)seconds;
    clear_texts(asking->names, asking->count); /* of the statement before */
    free(asking->texts);                       /* whose texts were freed with their row */
    asking->names = memory_new(count * sizeof *asking->names);
    asking->texts = memory_new(count * sizeof *asking->texts);
    asking->count = count;
    for (size_t i = 0; i < count; i++)
        asking->names[i] = memory_copy_string(names[i]);
}

/* As JSON and CSV of `sight sql` have it: ns exactly, and 17 digits, from which a double comes back as it was. NULL for
   SQL's NULL. */
static char *text_of(struct value value)
{
    char number[64];
    switch (value.kind) {
    case VALUE_NULL:
        return NULL;
    case VALUE_TEXT:
        return memory_copy_string(value.text);
    case VALUE_TIME:
        snprintf(number, sizeof number, "%.9f", (double)value.integer / 1e9);
        break;
    case VALUE_RATIO:
        snprintf(number, sizeof number, "%.17g", value.ratio);
        break;
    default:
        snprintf(number, sizeof number, "%" PRId64, value.integer);
        break;
    }
    return memory_copy_string(number);
}

/* False ends the query: the caller wants no more rows. */
static bool take_row(void *context, const struct value *values, size_t count)
{
    struct asking *asking = context;
    if (asking->stopped)
        return false;
    for (size_t i = 0; i < count; i++)
        asking->texts[i] = text_of(values[i]);
    asking->stopped = asking->row(asking->context, (int)count, asking->names, asking->texts) != 0;
    for (size_t i = 0; i < count; i++)
        free(asking->texts[i]);
    return !asking->stopped;
}

int sight_sql(struct sight_trace *const *traces, size_t count, const char *query, sight_row *row, void *context,
              struct sight_error *error)
{
    struct error err = {0};
    struct asking asking = {.row = row, .context = context};
    const struct sql_result result = {&asking, take_columns, take_row};
    /* a list of the traces that are inside the handles */
    struct query_trace **asked = memory_new(count * sizeof *asked);
    for (size_t i = 0; i < count; i++)
        asked[i] = traces[i]->trace;
    struct sql *sql = sql_open(asked, count, &(struct sql_limits){0}, &err);
    enum status status = STATUS_FAILED;
    if (sql)
        status = sql_run(sql, query, &result, &err);
    sql_close(sql);
    free(asked);
    clear_texts(asking.names, asking.count);
    free(asking.texts);
    if (status == STATUS_OK)
        return SIGHT_OK;
    put_error(error, &err);
    return error ? error->code : SIGHT_USAGE;
}

#else

int sight_sql(struct sight_trace *const *traces, size_t count, const char *query, sight_row *row, void *context,
              struct sight_error *error)
{
    (void)traces;
    (void)count;
    (void)row;
    (void)context;
    put_usage(error, "sight was built without SQLite: '%s' cannot be asked", query);
    return SIGHT_USAGE;
}

#endif
