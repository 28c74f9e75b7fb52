/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PROFILE_COUNTERS_H
#define SIGHT_PROFILE_COUNTERS_H

#include "core/sink.h"

/* What the counters of a trace add up to: over the run, on each process and thread, in each function, and between any
   two moments.

   The values of a counter are readings at moments of a thread. Between two readings it grows evenly: what it grows in a
   function is the part of that time in which the function is the innermost state, and its value at any moment is
   interpolated. A counter that is no sum (absolute) has, in any part of the run, its mean over time: a value holds
   until the next one. Sums that fall without a known modulus are damage: such a step counts as nothing. */

struct counter_choice {
    const char *name;       /* as in the trace */
    enum counter_mode mode; /* UNKNOWN: the trace's, which is absolute if it does not say */
    double wraps;           /* a sum that falls has begun again at 0 when it reached this; 0: it does not */
};

/* Whether a counter of a trace is the one of that word, of so many bytes: Extrae calls PAPI's counters "PAPI_TOT_INS
   [Instr completed]". */
bool counter_is_called(const char *name, const char *word, size_t length);

struct counter_info {
    uint32_t mark;           /* of the definitions */
    const char *name, *unit; /* borrowed; unit "": not known */
    enum counter_mode mode;
    double wraps; /* as in the choice */
    uint64_t readings, falls;
};

/* Up to a moment of a thread: what the counter has grown since the first reading; of an absolute one value times ns. */
struct counter_reading {
    int64_t time_ns;
    double total;
};

/* The readings of a counter by a thread, ascending. */
struct counter_track {
    uint32_t rank, thread, counter;
    double first; /* the value at the first reading of a sum */
    struct counter_reading *reading;
    size_t count, capacity;
    uint64_t readings, falls; /* all, also those that are not kept */
};

/* A counter in a function of a process, or outside all. */
#define COUNTER_NO_STATE UINT32_MAX
struct counter_part {
    uint32_t rank, state, counter; /* state: the first of its name */
    double amount;                 /* as in counter_amount */
    int64_t ns;                    /* of the function, between readings of the counter */
};

struct definitions;

/* Where the processes' time is cut: phases, iterations. */
struct counter_cuts {
    size_t count;     /* of parts; 0: none */
    int64_t *borders; /* [process * (count + 1) + part]; the last of a process is its end; owned */
    uint32_t *ranks;  /* of the processes; owned */
    size_t processes;
};

/* A formula of counters (search/formulas.h) on each process, for judgements. */
struct counter_rate {
    const char *formula; /* its name */
    double whole;        /* NAN: not known, also of values */
    double *value;       /* by process; owned */
    uint32_t *rank;      /* owned */
    size_t count;
    double limits[2]; /* from which on a value is fair, and poor; NAN: there are none */
};

struct counters {
    const struct defs *defs; /* borrowed */
    struct counter_info *counter;
    size_t count;                /* those with readings, in the order of their first ones */
    struct counter_track *track; /* by rank, thread, counter */
    size_t track_count;
    struct counter_part *part; /* by rank, state, counter */
    size_t part_count;
    int64_t from_ns, to_ns;       /* the window; INT64_MIN and INT64_MAX where it is open */
    struct definitions *formulas; /* of the rates, which have their names; NULL: there are none. Owned by the engine */
    struct counter_rate *rates;
    size_t rate_count;
    bool sums; /* readings are those that amounts within the window need, and there are no parts */
    struct counter_cuts phases, iterations; /* filled in by the engine where they are wanted */
};

struct counters_select {
    const struct counter_choice *choices; /* borrowed until the builder ends */
    size_t choice_count;
    bool have_from, have_to;
    int64_t from_ns, to_ns; /* [from, to) on the trace's clock */
    const uint32_t *ranks;  /* ascending; NULL: all. Borrowed. */
    size_t rank_count;
    bool sums; /* what threads have in the window is all that is asked for */
};

/* True if the trace declares counters besides those of a recording's resources. */
bool counters_declared(const struct defs *defs);

/* Memory: 16 bytes for each reading; of sums, some readings of each thread, and no parts: amounts within the window,
   and of the whole of it, are the same. */
struct counters_builder;
struct counters_builder *counters_builder_new(const struct counters_select *select);
struct sink *counters_builder_sink(struct counters_builder *builder); /* owned by the builder */

/* Frees the builder. */
struct counters *counters_builder_end(struct counters_builder *builder);
void counters_free(struct counters *counters); /* NULL: nothing */

/* An amount under construction: parts of threads and times are added. */
struct counter_amount {
    double amount;
    int64_t ns; /* between readings; 0: not known */
    bool known;
};

/* Adds what a track has between two moments, as far as it has readings. */
void counter_amount_add(struct counter_amount *sum, const struct counter_track *track, int64_t from_ns, int64_t to_ns);

/* What it is worth: of absolute counters the mean. NAN: not known. */
double counter_amount_value(const struct counter_amount *sum, const struct counter_info *counter);

/* The value of the counter at a moment, interpolated; NAN before the first reading and after the last. */
double counter_value_at(const struct counter_track *track, const struct counter_info *counter, int64_t time_ns);

#endif
