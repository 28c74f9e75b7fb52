/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_SCAN_H
#define SIGHT_TIMELINE_SCAN_H

#include "timeline/walk.h"

/* Internal: what a timeline consists of, and reading the part of the trace that a window needs. */

struct timeline {
    struct timeline_info info;
    struct rows rows; /* by rank, then thread */
    struct reader *reader;
    char **paths; /* what was opened */
    size_t path_count;
    struct timeline_overlay *overlay;
};

/* Walks over all events of [from_ns, to_ns), and over what lies around them as far as it must: states and messages that
   reach beyond the window are told with their true ends. More than that may be told. */
enum status timeline_scan(struct timeline *timeline, int64_t from_ns, int64_t to_ns, const struct walk_visitor *visitor,
                          struct error *err) MUST_CHECK;

/* Place of each row in the view; TIMELINE_NONE of those that are not in it. free() it. */
uint32_t *timeline_places(const struct timeline *timeline, const struct timeline_view *view);

/* The part of [from, to) that lies in the view's window. */
static inline int64_t timeline_overlap(int64_t from_ns, int64_t to_ns, int64_t window_from_ns, int64_t window_to_ns)
{
    int64_t from = from_ns > window_from_ns ? from_ns : window_from_ns;
    return time_since(from, to_ns < window_to_ns ? to_ns : window_to_ns);
}

/* The end of a window that holds everything up to and with the last event. */
int64_t timeline_window_end(const struct timeline *timeline);

#endif
