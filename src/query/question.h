/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_QUERY_QUESTION_H
#define SIGHT_QUERY_QUESTION_H

#include "core/text.h"
#include "engine/engine.h"
#include "query/question_metrics.h"
#include "render/field.h"
#include "search/definitions.h"

/* Metrics of parts of a run, as Paradyn's metric-focus pairs: "METRIC, ... @ FOCUS [@ PHASE]". A metric is an
   expression of those of the search (search/expression.h) and of a user's own (search/definitions.h). A focus is up to
   one path of each of these, separated by blanks; the last word of one of them may be *: a row for each value. /Machine
   may have * besides another one: a row for each process and each value.

       /Machine/RANKS           processes: 0-3,7; or the name of a host; RANKS and / and *; !RANKS: all but these
       /Code/FUNCTION           also /Code/CLASS/FUNCTION, and /Code/CLASS: all functions of the class;
                                !FUNCTION and !CLASS: all but these
       /Code/site/FILE:LINE     a place of the source
       /SyncObject/COMM[/TAG]   messages and collectives on a communicator, by its id; with a tag
       /State/NAME              while the program is in a state of its own
       /Phase/PHASE             by name or number; the same as a third part of the question
       /Iteration/NUMBERS       of the main loop
       /Time/N                  a row for each of N equal parts of the run

   search/cube.h says what belongs where. */

struct question;

/* Reads the trace; `counters`: with its counters, 16 bytes for each reading (question_names_counters). NULL and a
   fault. */
struct question *question_new(const struct engine_request *request, bool counters, struct error *err);
void question_free(struct question *question); /* NULL: nothing */

enum { ANSWER_ALL = UINT32_MAX, FOCUS_TEXT_SIZE = 400 };

struct answer_row {
    char *focus;   /* its path: "/Machine/3"; "/" is the whole run */
    uint32_t rank; /* of the process that has a row of its own; ANSWER_ALL */
    uint32_t key;  /* the number of the value: part of the run, phase, iteration, ... */
};

struct answer {
    char **metrics; /* as asked */
    char **titles;  /* for people: a definition's own, or as asked */
    struct search_unit *units;
    bool *percent;       /* is to be shown as a share */
    bool *higher;        /* larger values are better */
    double (*limits)[2]; /* from which on a value is fair, and poor; NAN: no verdict */
    size_t metric_count;
    struct answer_row *rows; /* by process, then by value */
    double *values;          /* [row * metric_count + metric]; NAN: not known */
    size_t row_count, row_capacity;
    bool cut;              /* there are more values than rows */
    enum search_axis axis; /* that has a row for each value; AXIS_WHY: none */
    size_t key_count;      /* by time: of parts of the run */
    bool by_time;          /* a row for each of equal parts of the run */
    bool product;          /* for each process, too */
    int64_t duration_ns;   /* of the run */
};

/* Free with answer_clear. `definitions`: metrics of the user's own; NULL: none. A fault where the question cannot be
   understood, or names what is not in the trace. */
enum status question_ask(struct question *question, const char *text, const struct definitions *definitions,
                         unsigned threads, struct answer *answer, struct error *err) MUST_CHECK;
void answer_clear(struct answer *answer);

/* A number of the unit of a metric as people read it: "1.23 ms", "66 kB/s", "12 %"; "-": not known. */
char *answer_text(char buffer[TEXT_NUMBER_SIZE], const struct answer *answer, size_t metric, double value);

/* The same as other commands print numbers of the unit: times with nine decimals, counts and bytes whole. */
struct value answer_value(const struct answer *answer, size_t row, size_t metric);

/* "fair" or "poor", by the limits that the user's definition sets; "good" below them; NULL: no verdict. */
const char *answer_verdict(const struct answer *answer, size_t metric, double value);

/* What is damaged of the trace. */
const struct trace_end *question_end(const struct question *question);

#endif
