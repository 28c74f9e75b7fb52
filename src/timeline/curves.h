/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_CURVES_H
#define SIGHT_TIMELINE_CURVES_H

#include "core/defs.h"
#include "timeline/timeline.h"

/* Counters over time: of a sum its growth per second, else its value, which holds until the next reading. */

struct timeline_counter {
    uint32_t mark; /* of the definitions */
    uint32_t rows; /* that have readings of it */
    bool sum;
    double least, most; /* of the whole run; equal: it never changes */
};

/* The counters with readings, by mark; their number. free() the list. */
size_t timeline_counters(const struct timeline *timeline, struct timeline_counter **counters);

/* A counter in equal parts of a window, on the rows of a view: the mean over rows and time, and the least and most of
   any row at any time. NAN: no row has readings around that part. */
struct timeline_curve {
    uint32_t bins;
    double *mean, *least, *most; /* by bin; owned */
};
enum { TIMELINE_CURVE_BINS = 4096 };

/* At most TIMELINE_CURVE_BINS bins. Between two readings a sum grows evenly. The index keeps some hundred steps of each
   row; where a window is short enough, its events are read. Free with timeline_curve_clear. */
enum status timeline_curve(struct timeline *timeline, const struct timeline_view *view, uint32_t mark, uint32_t bins,
                           struct timeline_curve *curve, struct error *err) MUST_CHECK;
void timeline_curve_clear(struct timeline_curve *curve);

#endif
