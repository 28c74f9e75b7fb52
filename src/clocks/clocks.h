/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLOCKS_CLOCKS_H
#define SIGHT_CLOCKS_CLOCKS_H

#include "clocks/causality.h"

/* Correction of clocks after the run, where messages are received before they are sent: offset and drift of each
   process's clock from the bounds that messages and collectives set (clock_lines.h), then the controlled logical clock
   for what is left (logical_clock.h). A trace that does not violate causality is not changed.

   The trace is read twice: first into a causality, from which clocks_of computes the corrections; then its events are
   corrected one by one. The order of a process's events stays, and no duration becomes negative. */

struct clock_row {
    uint32_t process;
    int64_t offset_ns;  /* how far offset and drift put the clock forward in the middle of the run */
    double drift;       /* how much that changes per second */
    int64_t largest_ns; /* largest shift of an event so far */
    int64_t bent_ns;    /* largest shift so far that the logical clock added to offset and drift */
    int64_t width_ns;   /* uncertainty of the offset in the middle of the run; -1: unlimited, as for loose */
    bool alone;         /* not tied to any other process: its clock is left alone */
    bool loose;         /* messages go one way only, so its drift is not known */
    bool reference;
};

struct clocks {
    struct clock_row *rows; /* by process, ascending */
    size_t count;
    struct clock_errors recorded; /* as recorded */
    struct clock_errors aligned;  /* after offset and drift */
    bool corrected;               /* there was something to correct */
    uint64_t events, moved;       /* so far; of these, with another time than recorded */
    struct clock_work *work;      /* internal */
};

/* What is to be corrected. Takes the causality. */
struct clocks *clocks_of(struct causality *causality);
void clocks_free(struct clocks *clocks);

/* Corrects the times of the next events of the trace, in order. */
void clocks_correct(struct clocks *clocks, struct batch *batch);

/* The trace's events begin anew. */
void clocks_rewind(struct clocks *clocks);

#endif
