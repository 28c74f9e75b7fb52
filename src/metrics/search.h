/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_SEARCH_H
#define SIGHT_METRICS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of a search for bottlenecks: Paradyn's search history graph, post mortem. Hypotheses (why) were tested on
   the whole run; true ones were narrowed to processes, functions, call sites, communicators, tags, states of the
   program (where) and phases (when). Made by search/search.h; kept with the metrics, so that charts and reports are the
   same from a metrics file as from the trace. */

/* X(name, id): the result of a test. */
#define SEARCH_STATES(X)                                                                                               \
    X(TRUE, "true")       /* the value is above the threshold */                                                       \
    X(FALSE, "false")     /* it is not */                                                                              \
    X(UNKNOWN, "unknown") /* too little data, or the trace lacks data: see the reason */                               \
    X(NEVER, "never")     /* never tested: the hypothesis that it would explain is not true */

enum search_state {
#define SEARCH_STATE_MEMBER(name, id) SEARCH_##name,
    SEARCH_STATES(SEARCH_STATE_MEMBER)
#undef SEARCH_STATE_MEMBER
        SEARCH_STATE_COUNT
};

/* X(name, id): how a test narrows its parent. */
#define SEARCH_AXES(X)                                                                                                 \
    X(PROCESSES, "processes")                                                                                          \
    X(FUNCTIONS, "functions")                                                                                          \
    X(SITES, "sites")                                                                                                  \
    X(COMMUNICATORS, "communicators")                                                                                  \
    X(TAGS, "tags")                                                                                                    \
    X(STATES, "states")                                                                                                \
    X(PHASES, "phases")                                                                                                \
    X(ITERATIONS, "iterations")

enum search_axis {
    AXIS_WHY, /* a hypothesis */
#define SEARCH_AXIS_MEMBER(name, id) AXIS_##name,
    SEARCH_AXES(SEARCH_AXIS_MEMBER)
#undef SEARCH_AXIS_MEMBER
        SEARCH_AXIS_COUNT
};

/* "true", "processes" ("why" of AXIS_WHY), and back: the COUNT if there is none. */
const char *search_state_name(enum search_state state);
enum search_state search_state_find(const char *name, size_t length);
const char *search_axis_name(enum search_axis axis);
enum search_axis search_axis_find(const char *name, size_t length);

/* The unit of a value as a product of powers; all 0 is a share. */
struct search_unit {
    int8_t seconds, bytes, counts;
};

enum { SEARCH_ROOT = UINT32_MAX };

/* One test. Texts are UTF-8 and owned; NULL if there is none. */
struct search_node {
    uint32_t parent; /* index, below this node's own; SEARCH_ROOT */
    enum search_state state;
    enum search_axis axis;
    char *hypothesis;    /* its name */
    char *title;         /* of AXIS_WHY: the hypothesis in words; else the focus: "processes 1–7", "MPI_Recv" */
    char *also_explains; /* of AXIS_WHY: names of other hypotheses than the parent that it would explain, "io, rma" */
    char *advice;        /* of AXIS_WHY */
    char *reason;        /* of SEARCH_UNKNOWN: the reason */
    bool has_value, has_time;
    double value, threshold;
    struct search_unit unit;
    int64_t ns;         /* the time that is above the fraction line, where there is one */
    uint64_t calls;     /* MPI calls in the focus */
    uint64_t more_true; /* children that were tested but not kept */
    uint64_t more_false, more_unknown;
    bool cut; /* true, but not narrowed further: too many tests were true */
};

/* Nodes in the order of the tree: each before its children, siblings in order of their values (of hypotheses: of the
   file). */
struct search {
    struct search_node *nodes;
    size_t count, capacity;
    char *source;   /* where the hypotheses are from: a file's name, or NULL: sight's own */
    uint64_t tests; /* of a hypothesis in a focus, kept or not */
    double threshold;
    uint64_t least_calls;
    int64_t least_ns;
};

struct search *search_new(void);
void search_free(struct search *search);

/* Appends a node, whose texts it takes over. Returns its index. */
uint32_t search_add(struct search *search, struct search_node node);

/* The depth of a node: hypotheses without parent are at 0. */
size_t search_depth(const struct search *search, size_t node);

/* Index after the last node of the tree below this. */
size_t search_behind(const struct search *search, size_t node);

/* Number of nodes in this state, including, for true, false and unknown, those that are not kept. */
uint64_t search_state_count(const struct search *search, enum search_state state);

#endif
