/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_USER_SPANS_H
#define SIGHT_PHASES_USER_SPANS_H

#include "core/sink.h"

/* The program's own marks of its course: its states, from the outermost two levels, and its solo events, on the main
   thread of each process; not the recorder's. Consecutive instances of one state are one span.

   A state that is left while others are open in it closes them at that moment; a leave without enter closes a state
   open from the process's first event on; a state that is never left extends to its last (Boccardo et al. 2005, 3.4:
   additional entries and exits). These are counted.

   Memory is bounded: a process with more than USER_SPANS_MOST of a kind, and all of them beyond USER_SPANS_ALL
   together, have none of that kind: a phase does not repeat that often. */

enum { USER_SPANS_MOST = 256, USER_SPANS_ALL = 1 << 20, USER_LEVELS = 2 };

struct user_span {
    uint32_t name; /* of a state: the first of its name; of an event: its mark */
    uint32_t count;
    int64_t begin_ns, end_ns; /* of an event: both are its time */
};

struct user_list {
    struct user_span *spans;
    size_t count, capacity;
    bool overflow; /* there were too many: none are kept */
};

struct user_process {
    struct user_list states[USER_LEVELS]; /* the outermost; those directly inside */
    struct user_list events;
    int64_t begin_ns, end_ns;
    bool any;
    uint64_t crossing, stray, unclosed; /* states closed by others, without enter, without leave */
};

struct user_spans {
    const struct defs *defs;
    struct user_process *processes; /* those with events, in order of occurrence; see user_spans_of */
    size_t count, capacity;
    uint32_t *places; /* by world rank: 1 + index of the process; 0: it has no events */
    size_t place_count;
};

/* The spans of a process; NULL: it has no events. */
const struct user_process *user_spans_of(const struct user_spans *spans, uint32_t rank);

/* Collects them from the events. */
struct user_spans_builder;
struct user_spans_builder *user_spans_builder_new(void);
struct sink *user_spans_builder_sink(struct user_spans_builder *builder); /* owned by the builder */

/* After the sink's end: the spans; frees the builder. Free them with user_spans_free. */
struct user_spans *user_spans_builder_end(struct user_spans_builder *builder);
void user_spans_free(struct user_spans *spans);

#endif
