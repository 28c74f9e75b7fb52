/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_QUERY_PARTS_H
#define SIGHT_QUERY_PARTS_H

#include "query/tables.h"
#include "timeline/scan.h"

/* Internal to tables whose rows are made from events: a trace is read part after part between checkpoints of its index.
   A part is read whole before its rows are asked for: cursors on one trace can take turns. */

struct part;
struct part_readers;

/* False where no event between this checkpoint and the next can make a row. */
typedef bool part_worth(const struct part *part, const struct checkpoint *behind);

/* The rows of a part, and what a visitor needs to make them. */
struct part {
    const struct query_cursor *cursor;
    size_t from, to;        /* checkpoints */
    bool first, last;       /* of the cursor */
    bool ending;            /* set by the visitor */
    int64_t from_ns, to_ns; /* limits on the clock of the trace */
    int32_t state;          /* first_of_name; EVENT_UNKNOWN: any */
    bool all_ranks;
    union {
        void *rows;
        struct timeline_state *states;
        struct timeline_message *messages;
        struct timeline_mark *marks;
        struct counted *counters;
        struct sampled *samples;
    };
    size_t count, capacity;
};

/* How the rows of a table are read: `visitor` gets the part as its context. */
struct part_reading {
    struct walk_visitor visitor;
    part_worth *worth;
    bool ends; /* a visit after the last event gives rows of what ends after it */
};

/* In cursor->rows: the part whose rows are asked for, and those that come. */
struct parts {
    struct part part; /* the first member */
    size_t at, end;   /* checkpoints that are not read yet */
    bool begun;
    struct part_readers *readers; /* NULL: the caller reads */
    char **paths;                 /* of samples: texts of call paths that were asked for, by path */
    size_t path_count;
};

/* The part of the cursor, made when it is first asked for. */
struct part *parts_of(struct query_cursor *cursor);

/* Reads the next part that has rows, in the caller's thread. */
enum status parts_read(struct query_cursor *cursor, const struct part_reading *how, struct error *err) MUST_CHECK;

/* The same, in threads that read the next parts while rows are asked for: from the second part on, since a query with
   LIMIT may need only the first. Rows come in the same order. */
enum status parts_read_ahead(struct query_cursor *cursor, const struct part_reading *how, struct error *err) MUST_CHECK;

/* Ends the threads, and frees the rows; the cursor frees cursor->rows itself. */
void parts_clear(struct query_cursor *cursor);

#endif
