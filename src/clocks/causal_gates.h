/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLOCKS_CAUSAL_GATES_H
#define SIGHT_CLOCKS_CAUSAL_GATES_H

#include "clocks/causality.h"
#include "graph/graph.h"

/* The gates of a causality, of a graph: which calls wait for which, by the rules of causal_calls.h. */

/* Whether the processes that call a function together move the same. */
enum causal_counts {
    COUNTS_SAME, /* what one gives, all give */
    COUNTS_OWN,  /* each gives and gets what it likes, the same to everyone */
    COUNTS_PAIRS /* each gives to each what it likes */
};
enum causal_counts causal_counts_of(const struct state_def *state);

/* What the trace records about a call; BYTES_UNKNOWN. */
struct causal_bytes {
    int64_t sent, received;
};

/* How calls of the graph become points, and what is known about their bytes. */
struct causal_placer {
    void (*point)(void *context, uint32_t gate, uint32_t location, uint32_t call, bool leaves);
    struct causal_bytes (*bytes)(void *context, uint32_t location, uint32_t call);
    void *context;
};

void causal_gates_make(const struct graph *graph, struct causality *causality, const struct causal_placer *placer);

#endif
