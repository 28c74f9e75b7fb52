/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_FORMULAS_H
#define SIGHT_SEARCH_FORMULAS_H

#include "profile/counters.h"
#include "search/definitions.h"

/* Formulas of counters: metrics whose bases are of counters that their file declares (definitions.h) and of `time`, the
   time between readings of the first counter that the base names. A value is known where the trace has all its
   counters. */

/* NULL and a fault: "FILE:LINE: ...". `path` NULL: sight's own (default.formulas). definitions_free. */
struct definitions *formulas_read(const char *path, struct error *err);

/* What the file says of counters of a trace, by each spelling; free() it. Names are borrowed. */
struct counter_choice *formulas_choices(const struct definitions *formulas, size_t *count);

/* By counter of the formulas: the trace's; SIZE_MAX: it has none. free() it. */
size_t *formulas_find(const struct definitions *formulas, const struct counters *counters);

/* X(name, word): a row for each of these. */
#define COUNTERS_BY(X)                                                                                                 \
    X(PROCESS, "process")                                                                                              \
    X(THREAD, "thread")                                                                                                \
    X(FUNCTION, "function") /* of all processes together; the innermost state */                                       \
    X(PHASE, "phase")                                                                                                  \
    X(ITERATION, "iteration") /* of the main loop */                                                                   \
    X(TIME, "time")           /* equal parts of the run */                                                             \
    X(READING, "reading")     /* from one reading of a thread to the next */
enum counters_by {
#define COUNTERS_BY_MEMBER(name, word) COUNTERS_BY_##name,
    COUNTERS_BY(COUNTERS_BY_MEMBER)
#undef COUNTERS_BY_MEMBER
        COUNTERS_BY_COUNT
};
const char *counters_by_name(enum counters_by by);
enum counters_by counters_by_find(const char *word); /* COUNTERS_BY_COUNT: there is none */

/* A part of the run. Of by: what does not describe it is UINT32_MAX. */
struct counter_row {
    uint32_t rank, thread, state; /* state: COUNTER_NO_STATE is outside all */
    uint32_t part;                /* number of the phase, iteration or part */
    int64_t from_ns, to_ns;       /* by time and reading */
    int64_t ns;                   /* between readings, the longest of the counters; of several threads together */
};

struct counter_table {
    enum counters_by by;
    const struct counters *counters;    /* borrowed */
    const struct definitions *formulas; /* borrowed */
    size_t *found;                      /* by counter of the formulas: of the trace; SIZE_MAX: it has none */
    struct counter_row *row;            /* the first is the whole */
    size_t count, capacity;
    bool values_only;
    double *amounts; /* NULL with values_only. [row * counters->count + counter]; NAN: not known */
    double *values;  /* [row * formulas->count + formula] */
};

/* `parts`: of time. Free with counter_table_clear. */
struct counter_table counter_table_of(const struct counters *counters, const struct definitions *formulas,
                                      enum counters_by by, size_t parts);

/* The same with the values at a moment instead of amounts, by thread: without formulas. */
struct counter_table counter_table_at(const struct counters *counters, const struct definitions *formulas,
                                      int64_t time_ns);
void counter_table_clear(struct counter_table *table);

/* Fills in the rates of sight's own formulas. */
void formulas_rate(struct counters *counters);

/* True if a row has a value of the formula. */
bool counter_table_has(const struct counter_table *table, size_t formula);

#endif
