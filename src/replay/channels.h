/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_CHANNELS_H
#define SIGHT_REPLAY_CHANNELS_H

#include "core/event.h"
#include "core/map.h"

#include <stdbool.h>

/* Messages on their way, by sender, receiver, communicator and tag: first in, first out (MPI's rule that messages do
   not overtake), whichever end is seen first. An end is the index of a message that waits for its other end. */
struct channel {
    uint32_t first, last; /* 1 + index of the waiting messages; 0: none */
    bool sends;           /* these are sends */
};

struct channels {
    struct map pairs, kinds, sides, places; /* (sender, receiver); (sides, tag); the two sides of a communicator */
    struct channel *channel;
    size_t count, capacity;
};

/* The channel of a send or receive whose partner is known. Valid until the next call. */
struct channel *channels_of(struct channels *channels, const struct event *event);
void channels_clear(struct channels *channels);

#endif
