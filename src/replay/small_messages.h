/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_SMALL_MESSAGES_H
#define SIGHT_REPLAY_SMALL_MESSAGES_H

#include "graph/graph.h"

/* Messages below this cost their start, not their bytes: at 1 GB/s they transfer in a microsecond, about what any
   network takes to deliver an empty one. */
enum { SMALL_BYTES = 1024 };

/* Small messages that could have been part of an earlier one: from the same sender to the same receiver and on the same
   communicator, and since then the sender has been in no collective and has not computed for long between two calls,
   compared with what the calls themselves take. The tag does not matter. */
struct combined {
    bool *messages; /* by message of the graph; NULL: there are none; owned */
    uint64_t count;
};

struct combined combined_of(const struct graph *graph);
void combined_clear(struct combined *combined);

/* True if all messages that the call sends, receives, completes and posts are combined, and there is one. */
bool combined_call(const struct graph *graph, const struct call *call, const bool *messages);

#endif
