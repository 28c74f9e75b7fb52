/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_SCAN_H
#define SIGHT_TIMELINE_SCAN_H

#include "timeline/index.h"

/* Internal: the parts of a timeline, and reading the part of the trace that a window needs. */

struct timeline {
    struct timeline_info info;
    struct rows rows; /* by rank, then thread */
    struct cache cache;
    struct index index;
    struct reader *reader; /* of the CLOG-2 that is read */
    char *path;            /* of it */
    struct timeline_overlay *overlay;
    bool shares;           /* the index is another's */
    uint64_t exact_events; /* tiles of windows with at most this many events are made from the events themselves */
};

/* Opens with the given checkpoints and cells, for tests. */
struct timeline *timeline_open_tuned(char *const *paths, size_t count, const struct timeline_open_options *options,
                                     struct index_tuning tuning, struct error *err);

/* Another reader of the same timeline, for another thread: with it scans may run at the same time. It must be closed
   first. NULL: the trace cannot be opened again. */
struct timeline *timeline_again(const struct timeline *timeline);

/* Walks over all events of [from_ns, to_ns), and as far beyond as needed: states and messages that reach beyond the
   window have their true ends. It may visit more than that. */
enum status timeline_scan(struct timeline *timeline, int64_t from_ns, int64_t to_ns, const struct walk_visitor *visitor,
                          struct error *err) MUST_CHECK;

/* The checkpoints; one at least. */
const struct checkpoint *timeline_checkpoints(const struct timeline *timeline, size_t *count);

/* Which checkpoints a scan of the window goes from and up to; `*to` may be their count: the trace's end. */
void timeline_scan_range(const struct timeline *timeline, int64_t from_ns, int64_t to_ns, size_t *from, size_t *to);

/* How many events a scan of the window reads. */
uint64_t timeline_scan_cost(const struct timeline *timeline, int64_t from_ns, int64_t to_ns);

/* Walks from one checkpoint up to another. */
enum status timeline_scan_between(struct timeline *timeline, size_t from, size_t to, const struct walk_visitor *visitor,
                                  struct error *err) MUST_CHECK;

/* Place of each row in the view; TIMELINE_NONE if it is not in it. free() it. */
uint32_t *timeline_places(const struct timeline *timeline, const struct timeline_view *view);

/* The part of [from, to) that lies in a window. */
static inline int64_t timeline_overlap(int64_t from_ns, int64_t to_ns, int64_t window_from_ns, int64_t window_to_ns)
{
    int64_t from = from_ns > window_from_ns ? from_ns : window_from_ns;
    return time_since(from, to_ns < window_to_ns ? to_ns : window_to_ns);
}

/* The end of a window that holds everything up to and with the last event. */
int64_t timeline_window_end(const struct timeline *timeline);

#endif
