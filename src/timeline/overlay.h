/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_OVERLAY_H
#define SIGHT_TIMELINE_OVERLAY_H

#include "metrics/analysis.h"
#include "timeline/timeline.h"

/* Results of the analysis across processes for the picture: where the critical path runs and which process waits for
   which. It holds all calls of the run in memory, hence only traces of up to OVERLAY_EVENTS events have one. */
enum { OVERLAY_EVENTS = 40000000 };

struct overlay_wait {
    int64_t from_ns, to_ns; /* the waiting itself, from the enter of the call on */
    uint32_t row, cause_row;
    uint32_t state;
    enum wait_kind kind;
};

/* A piece of the critical path. The next one begins where this one ends, clocks permitting. */
struct overlay_segment {
    int64_t from_ns, to_ns;
    uint32_t row;
};

struct timeline_overlay {
    struct overlay_wait *waits;   /* by row, then time */
    struct overlay_segment *path; /* by time */
    size_t wait_count, path_count;
    uint64_t early;         /* messages received before they are sent */
    int64_t clock_error_ns; /* by at most */
};

/* Computed at the first call and kept with the timeline. NULL without a fault (err->kind is ERROR_NONE): the run is too
   large for it. */
const struct timeline_overlay *timeline_overlay(struct timeline *timeline, struct error *err);

#endif
