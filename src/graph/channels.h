/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_CHANNELS_H
#define SIGHT_GRAPH_CHANNELS_H

#include "core/map.h"
#include "graph/graph.h"

/* Matches the ends of messages while a graph is built: by sender, receiver, communicator and tag, first in, first out
   (MPI's rule that messages do not overtake), whichever end is seen first. */

/* Messages of a channel that wait for their other end: a list by `next` of their waiting ends. */
struct channel_queue {
    uint32_t first, last; /* 1 + index; 0: none */
    bool sends;           /* they are sends */
};

/* Data of a waiting end beyond its message; the index is stored in place of the missing end. */
struct waiting_end {
    int64_t time_ns;
    uint32_t location;
    uint32_t next; /* 1 + the next message of the channel that waits; of a free place 1 + the next one */
};

struct channels {
    struct graph *graph;                    /* whose messages and channels they are */
    struct map pairs, kinds, sides, places; /* (sender, receiver); (sides, tag); the two sides of a communicator */
    struct channel_queue *queues;           /* by channel */
    size_t queue_capacity;
    struct waiting_end *waiting;
    size_t waiting_count, waiting_capacity;
    uint32_t free; /* 1 + index */
};

/* An end of a message whose partner is known, in this call of the location; GRAPH_NONE: not to be linked to a call.
   Returns the message's index. */
uint32_t channels_meet(struct channels *channels, const struct event *event, uint32_t location, uint32_t call);

/* No more ends come: those still waiting stay unmatched. Frees everything that does not belong to the graph. */
void channels_end(struct channels *channels);

#endif
