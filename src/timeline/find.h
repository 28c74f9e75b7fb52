/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_FIND_H
#define SIGHT_TIMELINE_FIND_H

#include "timeline/window.h"

/* Going from event to event: the next or previous state that fits. Its position is its enter; with a partner or a tag
   given, the first matching message sent or received while it was the latest entered. Parts of the trace in which
   nothing can fit are skipped by the index. */

struct timeline_query {
    const uint32_t *rows; /* borrowed; NULL: all */
    size_t row_count;
    int32_t state;    /* first_of_name; EVENT_UNKNOWN: any */
    int32_t partner;  /* with a message to or from this world rank in it; EVENT_UNKNOWN: any */
    int32_t tag;      /* with a message of this tag in it; EVENT_UNKNOWN: any */
    int64_t least_ns; /* that takes at least this long */
};

/* The first positioned after `from_ns`, or the last before it, and its position. If several are at the same time, the
   lowest row, then the lowest depth. STATUS_END: there is none. */
struct timeline_found {
    struct timeline_state state;
    int64_t time_ns;
};
enum status timeline_find(struct timeline *timeline, const struct timeline_query *query, int64_t from_ns, bool backward,
                          struct timeline_found *found, struct error *err) MUST_CHECK;

#endif
