/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PHASES_LOOPS_H
#define SIGHT_PHASES_LOOPS_H

#include "graph/graph.h"
#include "metrics/phase_metrics.h"

/* The loops of a process, found in the order of its MPI calls: a tree, as the loops of a function are shown in
   Paradyn's extension to loops (Boccardo, Nakashima, Falavinha, Manacero 2005, 3.3 and 4.3), of what a trace has
   instead of code.

   A symbol represents a call: its function, communicator and relative partner. Repetition is folded (fold.h). Where one
   outermost loop covers LOOP_DOMINATES of the time, the folded loops are the answer, unless an anchor (anchor.h) finds
   more iterations in it with a similarity of 0.9 and more than half of its symbols: then, and where no loop dominates,
   the iterations are those of the anchor, if there is one (rules of diagnosis, 5.3). Memory is O(calls); time as fold.h
   and anchor.h say.
 */

enum { LOOP_NONE = UINT32_MAX };
#define LOOP_DOMINATES 0.8

/* A call or a loop in a body. */
struct loop_item {
    uint32_t symbol; /* as given; UINT32_MAX: it is a loop */
    uint32_t at;     /* its first occurrence: a call of the location, or a place in the sequence */
    uint32_t loop;   /* LOOP_NONE: it is a call */
};

/* Calls [begin, end). An iteration runs from the enter of its first call to that of the next iteration's, the last of
   an entry to the leave of its last call. */
struct loop_iteration {
    uint32_t begin, end;
    uint32_t entry; /* index of the entry into the loop */
    uint32_t type;  /* equal numbers: equal iterations, but for trip counts; 0 in all loops that were folded */
    int64_t begin_ns, end_ns;
};

struct loop {
    uint32_t parent;     /* LOOP_NONE of the whole location */
    uint32_t depth;      /* 0: the whole location */
    uint32_t item;       /* first of its body in tree.items */
    uint32_t item_count; /* of a usual iteration */
    uint32_t iteration;  /* first in tree.iterations */
    uint32_t count;      /* iterations, of all entries */
    uint32_t entries;
    double similarity; /* of its iterations to the usual one, in (0, 1]; 1 of loops that were folded */
    uint32_t period;   /* iterations after which the types repeat; 1: all alike; 0: they do not */
    /* Of loops of a graph. computing + waiting + communicating = time: in no call, waiting in a call, else in a call.
     */
    int64_t time_ns, computing_ns, waiting_ns, communicating_ns;
    double share;        /* of the time of the enclosing one */
    double share_of_all; /* of the location's time */
    uint32_t warm_up;    /* first iterations longer than median + 5 MAD (rules of diagnosis, 5.3) */
    enum loop_class kind;
    bool bottleneck;
};

/* Loop 0 is the whole location as one iteration; a tree of one loop has found none. A loop comes after the one around
   it, loops of one body in order. */
struct loop_tree {
    struct loop *loops;
    size_t count, capacity;
    struct loop_item *items;
    size_t item_count, item_capacity;
    struct loop_iteration *iterations;
    size_t iteration_count, iteration_capacity;
};
void loop_tree_clear(struct loop_tree *tree);

/* A sequence to find loops in. Unknown arrays are NULL; without times all symbols take equally long. */
struct loop_sequence {
    const uint32_t *symbols;
    size_t count;
    const bool *ends; /* symbols that end iterations: collectives of the world */
    const int64_t *enter_ns, *leave_ns;
};
struct loop_tree loops_in(const struct loop_sequence *sequence);

/* The same, by folding alone: exact, no anchors. */
struct loop_tree loops_folded(const struct loop_sequence *sequence);

/* The loops of the location's calls, with their times. Calls that do not reflect the program's loops are left out:
   polls that find no message, and queries (MPI_Comm_rank). If no outermost loop takes LOOP_DOMINATES of the time, or
   its iterations differ, partners are ignored too, for a master that answers processes in any order; these loops are
   used if one of them dominates, with exact and more iterations (rules of diagnosis, 5.2; the second try is our own).
 */
struct loop_tree loops_of(const struct graph *graph, uint32_t location);

/* Marks as bottlenecks the loops that take strictly more than this share of the one around them. loops_of does, with
   LOOP_BOTTLENECK_SHARE. */
void loop_tree_mark(struct loop_tree *tree, double share);

/* Which interval lies in which: parents[i] is the innermost one that contains interval i, LOOP_NONE: none does. Those
   that only overlap are siblings, and an interval in both is the first one's child; if equal, the first contains the
   others (Boccardo et al., 3.3, whose result depends on the order of insertion; this does not). Time O(n log n *
   depth). */
struct loop_interval {
    int64_t begin, end;
};
void loop_nest(const struct loop_interval *intervals, size_t count, uint32_t *parents);

#endif
