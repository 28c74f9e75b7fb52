/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_WAITS_ENDPOINTS_H
#define SIGHT_WAITS_ENDPOINTS_H

#include "graph/graph.h"

/* Queues at endpoints: several processes wait for messages from or to the same process at once, and it serves one after
   the other (POP's pattern "MPI endpoint contention", co-design.pop-coe.eu). What the trace proves, for wait states
   (wait.h) that a process R causes by its message calls:

   - R starts serving a waiting process when it enters the receive of its message, or the call that posts it, or when it
   has received the message that it answers: the last one received before. If R sends without such a request (late
   sender), it may have worked for that process since its previous turn.
   - A wait queues if it began before R had finished serving another one first, and at least two more processes,
   including this one, waited then.
   - A call that completes several messages does not queue while it waits for those of others than R.
   - It queues from when R started serving the first of the others, or from its own begin if that is later, until R
   started serving it, excluding R's own waits meanwhile.

   This is less than all queueing: the time before R's first turn is not counted, nor are R's own waits. Where they are
   for messages, too, R may be late because it queues elsewhere: `behind_ns` is with them, and without what R computes.
 */

enum {
    ENDPOINT_KINDS =
        1u << WAIT_LATE_SENDER | 1u << WAIT_WRONG_ORDER_SAME | 1u << WAIT_WRONG_ORDER_OTHER | 1u << WAIT_LATE_RECEIVER
};

struct queued {
    uint32_t location, call;
    uint32_t cause_location; /* where it waits in the queue */
    int64_t ns;              /* of its wait; 0: it does not queue, but R waits */
    int64_t behind_ns;       /* the same, and what R waits for messages meanwhile; at least `ns` */
};

struct queues {
    struct queued *queued; /* by location, then call; owned */
    size_t count;
};

/* `endpoints`, by location: whether its queues are searched; NULL: all. Waits with less than `least_ns` of both are
   left out. Memory: 32 bytes for each one reported, 16 for each wait of one location, and 4 for each message with
   links. */
struct queues queues_of(const struct graph *graph, const bool *endpoints, int64_t least_ns);
void queues_clear(struct queues *queues);

/* False: no location queues for any of these, as each has messages with too few others; found without looking at calls.
   Holds where no location has two calls at a time, as a trace whose times go back may. */
bool queues_possible(const struct graph *graph, const bool *endpoints);

/* By location: index of its first wait; free() it. */
size_t *queues_by_location(const struct queues *queues, size_t locations);

#endif
