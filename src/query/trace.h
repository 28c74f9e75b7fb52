/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_QUERY_TRACE_H
#define SIGHT_QUERY_TRACE_H

#include "query/resource_tree.h"
#include "query/tables.h"
#include "waits/critical_path.h"

#include <pthread.h>

/* Internal to the tables: a trace, and what of it has been read. */

struct query_trace {
    char *name;
    struct engine_request request; /* inputs are borrowed; its watch is ours: */
    engine_watch *watch;           /* that was given; NULL: none */
    void *watch_context;
    unsigned wants, has;
    struct engine_look look; /* with has & QUERY_LOOK */
    pthread_mutex_t reading; /* of whoever reads events of the look */
    struct engine_result *result;
    uint64_t *call_base; /* by location: calls of those before it; the last: of all */
    bool unordered;      /* calls of a location are not in the order of their times */
    struct critical_path path;
    bool has_path;
    struct resource_tree tree;
    bool has_tree;
    bool (*stopped)(void *context); /* NULL: never */
    void *stopped_context;
};

static inline bool query_trace_stopped(const struct query_trace *trace)
{
    return trace->stopped && trace->stopped(trace->stopped_context);
}

/* Reads what the table needs. */
enum status query_trace_need(struct query_trace *trace, unsigned wants, struct error *err) MUST_CHECK;

/* The definitions, of whatever has been read. */
const struct defs *query_trace_defs(const struct query_trace *trace);

/* When the run begins on the clock of the trace. */
int64_t query_trace_begin_ns(const struct query_trace *trace);

/* Values that many tables have: the run's name; a time of the trace's clock, since the run's begin; a text, null where
   it is "" or NULL; and any value, null unless it is known. */
struct value query_run(const struct query_cursor *cursor);
struct value query_since(const struct query_cursor *cursor, int64_t ns);
struct value query_text(const char *text);
static inline struct value query_known(bool known, struct value value)
{
    return known ? value : value_null();
}

/* The id of a communicator of the definitions as a value: null of what is not known. */
struct value query_communicator(const struct defs *defs, int32_t comm);
struct value query_site(uint32_t site);

/* True if [from, to] of the run overlaps the limits. */
static inline bool query_overlaps(const struct query_limits *limits, int64_t from_ns, int64_t to_ns)
{
    return from_ns <= limits->to_ns && to_ns >= limits->from_ns;
}
static inline bool query_has_rank(const struct query_limits *limits, uint32_t rank)
{
    return rank >= limits->rank_from && rank <= limits->rank_to;
}

/* One piece of rows 0 to count - 1: for tables that are an array. */
enum status query_once(struct query_cursor *cursor, size_t count);

#define QUERY_TABLE(table, meaning) extern const struct query_rows rows_##table;
#define QUERY_COLUMN(...)
#define QUERY_END(table)
#include "query/tables.def"

#endif
