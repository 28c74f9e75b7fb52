/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_STATISTICS_H
#define SIGHT_TIMELINE_STATISTICS_H

#include "timeline/timeline.h"

/* Sums over a window and rows, exact: the window is read event by event. */

enum { DURATION_BINS = 64 };

struct timeline_state_sums {
    uint64_t count;                    /* entered in the window, and left somewhere */
    uint64_t open;                     /* entered in the window, and never left */
    int64_t min_ns, max_ns;            /* durations of those counted, in full; 0 of none */
    int64_t inclusive_ns;              /* of all instances: their time in the window; if never left, to the row's end */
    int64_t exclusive_ns;              /* the same as the latest entered */
    uint64_t durations[DURATION_BINS]; /* of those counted: bin b holds [2^(b-1), 2^b) ns; bin 0 holds 0 ns */
};

struct timeline_statistics {
    struct timeline_state_sums *states; /* by state, state_count of them */
    size_t state_count;
    int64_t outside_ns;                                  /* outside all states */
    int64_t span_ns;                                     /* of all rows from first to last event, in the window */
    uint64_t sent, received, bytes_sent, bytes_received; /* messages recorded in the window */
};

/* Free with timeline_statistics_clear. */
enum status timeline_statistics(struct timeline *timeline, const struct timeline_view *view,
                                struct timeline_statistics *statistics, struct error *err) MUST_CHECK;
void timeline_statistics_clear(struct timeline_statistics *statistics);

#endif
