/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_H
#define SIGHT_H

#include <stddef.h>
#include <stdint.h>

/* libsight: traces of MPI programs as tables. The tables and columns are those of sight-sql(1): states, calls,
   messages, waits, collectives, findings, functions, processes, ... in any format that sight reads.

       struct sight_error error;
       struct sight_trace *trace = sight_open("run.clog2", &error);
       struct sight_rows *rows = sight_table(trace, "messages", NULL, &error);
       int bytes = sight_column("messages", "bytes");
       while (sight_next(rows, &error) > 0)
           sight_integers(rows, bytes, 0, values);         values: sight_count(rows) of them
       sight_rows_free(rows);
       sight_close(trace);

   Rows come in pieces of some thousands; what a table needs of the trace is read at the first. Times are seconds from
   the run's first event (whole ns as integers), sizes are bytes. There is no state but in these objects: a trace and
   its rows belong to one thread at a time, different traces to different threads. Link with `pkg-config --libs sight`.
 */

#ifdef __cplusplus
extern "C" {
#endif

struct sight_trace;
struct sight_rows;

/* What went wrong, as one line. */
struct sight_error {
    int code; /* enum sight_code */
    char text[512];
};
enum sight_code {
    SIGHT_OK = 0,
    SIGHT_USAGE = 2, /* no such table, a query that is wrong, a table that the input does not have */
    SIGHT_INPUT = 4, /* the trace cannot be read */
    SIGHT_OUTPUT = 5 /* temporary files cannot be written */
};

/* "1.0.0" */
const char *sight_version(void);

/* A trace in any format: a file, or a directory of the local files of one unmerged run. NULL and an error. It is read
   when rows are asked for. Close it after its rows. */
struct sight_trace *sight_open(const char *path, struct sight_error *error);
void sight_close(struct sight_trace *trace); /* NULL: nothing */

/* 1: nothing of what has been read is missing or damaged; 0: `text` (of `size` bytes, may be NULL) gets what is. */
int sight_complete(const struct sight_trace *trace, char *text, size_t size);

/* The tables and their columns; NULL and -1 where there is no such one. */
enum sight_type { SIGHT_TEXT, SIGHT_INTEGER, SIGHT_TIME, SIGHT_BYTES, SIGHT_NUMBER, SIGHT_TRUTH };
const char *sight_table_name(size_t index);
const char *sight_table_meaning(const char *table);
const char *sight_column_name(const char *table, int column);
const char *sight_column_meaning(const char *table, int column);
int sight_column_type(const char *table, int column); /* enum sight_type */
int sight_column(const char *table, const char *name);

/* What need not be read; rows beyond may still come. Zeros are no limits: use SIGHT_ALL and change it. */
struct sight_limits {
    int64_t from_ns, to_ns; /* of the run, inclusive */
    int64_t rank;           /* -1: all */
    const char *name;       /* of a function; NULL: all. Of states only */
};
#define SIGHT_ALL                                                                                                      \
    {                                                                                                                  \
        INT64_MIN, INT64_MAX, -1, NULL                                                                                 \
    }

/* The rows of a table; limits NULL: all. NULL and an error. */
struct sight_rows *sight_table(struct sight_trace *trace, const char *table, const struct sight_limits *limits,
                               struct sight_error *error);
void sight_rows_free(struct sight_rows *rows); /* NULL: nothing */

/* Goes to the next rows: 1; 0: there are no more; -1 and an error. */
int sight_next(struct sight_rows *rows, struct sight_error *error);
size_t sight_count(const struct sight_rows *rows); /* that there are now */

/* A column of these rows, into an array of sight_count() values. What is not known is `unknown`, or NAN. Times are ns
   as integers, seconds as numbers. */
void sight_integers(struct sight_rows *rows, int column, int64_t unknown, int64_t *values);
void sight_numbers(struct sight_rows *rows, int column, double *values);

/* Texts as numbers: each text of the column has one, from 0, the same in all rows of the table; -1 is not known. */
void sight_codes(struct sight_rows *rows, int column, int32_t *codes);
const char *sight_code_text(const struct sight_rows *rows, int column, int32_t code); /* until sight_rows_free */

/* One text; NULL: not known. Valid until sight_next. */
const char *sight_text(struct sight_rows *rows, size_t row, int column);

/* SQL over the traces, as `sight sql`. `row` gets each row as texts (NULL: NULL; seconds with nine decimals), and
   stops the query where it returns other than 0. SIGHT_OK, or the error's code. SIGHT_USAGE where sight was built
   without SQLite. */
typedef int sight_row(void *context, int columns, char *const *names, char *const *values);
int sight_sql(struct sight_trace *const *traces, size_t count, const char *query, sight_row *row, void *context,
              struct sight_error *error);

/* For programs that are recorded: a region of the program is a state of the thread, in which regions may nest; it ends
   with the name it began with. Names have up to 63 bytes. Not to be called in signal handlers. Nothing happens where
   nobody records: a program that is linked with libsight needs no change to run alone. In Fortran: call
   sight_region_begin('name'), the same with end, and integer, external :: sight_threads. In programs without MPI,
   `sight scaling --threads` shows the outermost regions of the first thread by the file and line of their begin. */
void sight_region_begin(const char *name);
void sight_region_end(const char *name);

/* The number of threads that `sight scaling` asks for (OMP_NUM_THREADS); 1 where nothing is said. */
int sight_threads(void);

/* What Fortran's compilers make of their names. */
void sight_region_begin_(const char *name, size_t length);
void sight_region_end_(const char *name, size_t length);
int sight_threads_(void);

#ifdef __cplusplus
}
#endif
#endif
