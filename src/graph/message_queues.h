/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_MESSAGE_QUEUES_H
#define SIGHT_GRAPH_MESSAGE_QUEUES_H

#include "core/event.h"
#include "core/map.h"

/* Messages on their way, by sender, receiver, communicator and tag: first in, first out (MPI's rule that messages do
   not overtake), whichever end is seen first. Only the ends of the queues: what is in them belongs to the user. */
struct message_queue {
    uint32_t first, last; /* 1 + index of the waiting messages; 0: none */
    bool sends;           /* these are sends */
};

struct message_queues {
    struct map pairs, kinds, sides, places; /* (sender, receiver); (sides, tag); the two sides of a communicator */
    struct message_queue *queue;
    size_t count, capacity;
};

/* The queue of a send or receive whose partner is known. Valid until the next call. */
struct message_queue *message_queue_of(struct message_queues *queues, const struct event *event);
void message_queues_clear(struct message_queues *queues);

#endif
