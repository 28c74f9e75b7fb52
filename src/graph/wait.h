/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_WAIT_H
#define SIGHT_GRAPH_WAIT_H

#include "core/numbers.h"
#include "graph/graph.h"
#include "metrics/analysis.h"

/* Wait states: time in a call because another process has not arrived yet. Definitions are those of Scalasca's
   patterns; "enter" and "leave" are the calls' own, waits are clipped to the call, and never negative. */

struct wait {
    enum wait_kind kind;                 /* WAIT_NONE: it does not wait */
    int64_t ns;                          /* > 0 */
    int64_t until_ns;                    /* when that happened; may lie after the leave (clock error) */
    uint32_t cause_location, cause_call; /* the call in which it happened */
    int32_t comm;                        /* of the message or collective; EVENT_UNKNOWN */
    bool after;                          /* until that call was left; else until it was entered */
};

/* Waiting from the call's enter until something happens elsewhere; none if that was earlier. */
static inline struct wait wait_until(const struct call *call, int64_t until_ns, enum wait_kind kind,
                                     uint32_t cause_location, uint32_t cause_call)
{
    /* A cause later than the leave is a clock error: waiting cannot exceed the call. */
    int64_t end_ns = smaller(until_ns, call->leave_ns);
    int64_t ns = time_since(call->enter_ns, end_ns);
    if (ns <= 0)
        return (struct wait){0};
    return (struct wait){kind, ns, until_ns, cause_location, cause_call, call->comm, false};
}

/* The wait in a call. Of several messages that complete in one call the longest counts, once. A collective with unknown
   root or members has none, nor has a member that receives nothing. In a finished graph, wait_table.h already stores
   whether a call waits, how long and for what. */
struct wait wait_of(const struct graph *graph, uint32_t location, uint32_t call);

/* The same, computed whatever the table says. */
struct wait wait_compute(const struct graph *graph, uint32_t location, uint32_t call);

/* Time of a call, up to `until_ns`, that is not waiting for a particular process: in a collective the time after the
   first member finishes, in calls on files, or in a reduction until the last member arrives. The cause is the call
   itself.
 */
struct wait wait_completion_of(const struct graph *graph, uint32_t location, uint32_t call);

/* The kind of a call's wait for a message. */
enum wait_kind wait_for_message_kind(const struct call *call);

#endif
