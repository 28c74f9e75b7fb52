/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_WAITS_ENDPOINTS_H
#define SIGHT_WAITS_ENDPOINTS_H

#include "graph/graph.h"

/* Queues at endpoints: several processes wait for messages from or to the same process at once, and it turns to one
   after the other (POP's pattern "MPI endpoint contention", co-design.pop-coe.eu). What is proven by the trace, of wait
   states (wait.h) that a process R causes by its calls for messages:

   - R turns to a process that waits when it enters the receive of its message, or the call that posts it, or when it
   has received the message to which it sends the answer: the last one that it received before. Where R sends without
   such a request (late sender) it may have worked for that process since its turn before.
   - A wait queues if it began before R was done with another that it turned to first, and two more than that one,
     this among them, waited then.
   - A call that completes several messages does not queue while it waits for those of others than R.
   - It is spent behind others from when R turned to the first of them, or from its own begin if that is later, until R
     turned to it; but for R's own waits meanwhile.

   It is less than all queueing: what R does before its first turn counts to nobody. */

enum {
    ENDPOINT_KINDS =
        1u << WAIT_LATE_SENDER | 1u << WAIT_WRONG_ORDER_SAME | 1u << WAIT_WRONG_ORDER_OTHER | 1u << WAIT_LATE_RECEIVER
};

struct queued {
    uint32_t location, call;
    uint32_t cause_location; /* where it queues */
    int64_t ns;              /* of its wait */
};

struct queues {
    struct queued *queued; /* by location, then call; owned */
    size_t count;
};

/* `endpoints`, by location: for whom queues are looked for; NULL: all. Waits that hold less than `least_ns` of it are
 * left out. Memory: 24 bytes for each that is told, and 4 for each message with links. */
struct queues queues_of(const struct graph *graph, const bool *endpoints, int64_t least_ns);
void queues_clear(struct queues *queues);

/* By location: where its waits begin, to be freed. */
size_t *queues_by_location(const struct queues *queues, size_t locations);

#endif
