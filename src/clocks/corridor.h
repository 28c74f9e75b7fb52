/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLOCKS_CORRIDOR_H
#define SIGHT_CLOCKS_CORRIDOR_H

#include <stdbool.h>
#include <stddef.h>

/* What messages reveal about two clocks. With x a time on clock A and d how far clock B is ahead of it then (ns), a
   message from A to B, sent at x and received at y, says d(x) <= y - x; one from B to A, received at x and sent at y,
   says d(x)
   >= y - x. Between these bounds d runs in a corridor. Only the convex hulls of the bounds matter (Duda, Harrus,
   Haddad, Bernard, ICDCS 1987); only these are kept: memory depends on the hulls, not on the messages. */

struct corridor_point {
    double x, d;
};

struct corridor_side {
    struct corridor_point *at; /* owned */
    size_t count, capacity;
    size_t hull; /* the first of them are the old hull; more came after these */
};

/* Zero-initialised is empty. */
struct corridor {
    struct corridor_side above, below; /* d is not above these; not below those */
};

void corridor_add(struct corridor *corridor, bool above, double x, double d);
void corridor_clear(struct corridor *corridor); /* frees what it holds; empty again */

/* d(x) = offset + slope * x. */
struct clock_line {
    double offset, slope;
};

enum corridor_kind {
    CORRIDOR_EMPTY,    /* no bounds */
    CORRIDOR_OPEN,     /* messages one way only, or first one way and then the other: the drift is not known */
    CORRIDOR_COMPLETE, /* bounds from both sides */
    CORRIDOR_CROSSED,  /* the bounds contradict each other: no line fits */
    CORRIDOR_TOGETHER  /* not from the bounds: see clock_pairs.h */
};

/* How far b is ahead of a, if a is ahead of b by the line; and how far the third is ahead of the first, from the second
   against the first and the third against the second. */
static inline struct clock_line clock_line_inverse(struct clock_line line)
{
    return (struct clock_line){0 - line.offset / (1 + line.slope), 0 - line.slope / (1 + line.slope)};
}
static inline struct clock_line clock_line_chained(struct clock_line first, struct clock_line second)
{
    return (struct clock_line){first.offset + second.offset + second.slope * first.offset,
                               first.slope + second.slope * (1 + first.slope)};
}

/* What is known about d. `line` is the simplest that no bound contradicts: no correction (0, 0); else an offset, the
   middle of the possible ones; else, if the corridor is complete, the bisector of its steepest and its flattest line;
   else the flattest, so that no drift is made up. If every line is contradicted, it is the simplest whose largest
   contradiction is at most twice that of the next: no correction, an offset, the line that is contradicted least. */
struct corridor_fit {
    enum corridor_kind kind;
    struct clock_line line;
    struct clock_line steepest, flattest; /* of CORRIDOR_COMPLETE */
    double width; /* of the corridor at x = 0; INFINITY if it is bounded on one side only. Crossed: the largest
                     contradiction of two bounds */
};

struct corridor_fit corridor_fit(struct corridor *corridor);

/* The same with the line in the middle of the corridor, even if a simpler one is possible. */
struct corridor_fit corridor_middle(struct corridor *corridor);

/* The bisector of two lines y = x + d(x) of clocks, in the plane of x and y. Contradicts no bound if they do not. */
struct clock_line corridor_bisector(struct clock_line steepest, struct clock_line flattest);

/* For clocks with the same rate: the possible offset nearest to this one; if none is possible, the one whose largest
   contradiction is the smallest. */
double corridor_nearest(const struct corridor *corridor, double offset);

/* The largest violation of the bounds by the line; 0: none. */
double corridor_contradiction(const struct corridor *corridor, struct clock_line line);

#endif
