/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_FIND_H
#define SIGHT_TIMELINE_FIND_H

#include "timeline/window.h"

/* Going from event to event: the next or previous state that was entered and fits. */

struct timeline_query {
    const uint32_t *rows; /* borrowed; NULL: all */
    size_t row_count;
    int32_t state;    /* first_of_name; EVENT_UNKNOWN: any */
    int32_t partner;  /* with a message to or from this world rank in it; EVENT_UNKNOWN: any */
    int32_t tag;      /* with a message of this tag in it; EVENT_UNKNOWN: any */
    int64_t least_ns; /* that lasts at least so long */
};

/* The first that was entered after `from_ns`, or the last that was before it. Of several entered at once, the lowest
   row, then the lowest depth. STATUS_END: there is none. */
enum status timeline_find(struct timeline *timeline, const struct timeline_query *query, int64_t from_ns, bool backward,
                          struct timeline_state *found, struct error *err) MUST_CHECK;

#endif
