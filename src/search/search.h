/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_SEARCH_H
#define SIGHT_SEARCH_SEARCH_H

#include "metrics/search.h"
#include "phases/phases.h"
#include "search/hypotheses.h"
#include "search/state_track.h"

/* The search for bottlenecks of Paradyn's Performance Consultant (Miller et al. 1995), on a trace: why, where, when.

   1. Hypotheses without parent are tested of the whole run; those below one only if it is true.
   2. A true one of which none below is true is narrowed: along each axis that it names, in that order. On the first
   axis where it is still true of a part, that part is narrowed further, by the axes that follow.
   3. Until nothing is left to narrow, or only what is false or unknown.

   Processes are divided into groups that behave alike (shape.h; a master apart), and at the end of all axes up to
   SEARCH_SINGLES of them into single ones where these differ; iterations into ranges. An axis along which everything is
   alike, or with a single obvious value, is skipped.

   A test is true if the value exceeds the threshold; unknown if the focus has too few calls or too little time, if
   unrecorded data or the clock error could change the result, or for a division by zero. */

enum {
    SEARCH_SINGLES = 16,
    SEARCH_TRUE_MOST = 6,   /* kept of the true ones of an axis, those with the largest values */
    SEARCH_OTHER_MOST = 12, /* and of the others */
    SEARCH_OPEN_MOST = 24   /* narrowed at a time, those with the most time */
};

struct search_input {
    const struct graph *graph;
    const struct state_track *states; /* NULL: none */
    const struct phases *phases;      /* NULL: none */
    int64_t master;                   /* its rank; -1: there is none */
    const struct hypotheses *hypotheses;
    const char *source; /* of the hypotheses; NULL: sight's own */
    unsigned threads;   /* at most, with the same result; 0: one */
};

/* Free with search_free. Memory: see cube.h; time: a pass over all calls for each axis that is gone along, 8 at most.
 */
struct search *search_run(const struct search_input *input);

#endif
