/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_TRANSITS_H
#define SIGHT_TIMELINE_TRANSITS_H

#include "core/event.h"

/* Messages in transit: ends that wait for their other end. The n-th send and the n-th receive of the same sender,
   receiver, communicator and tag are one message, whichever comes first. Matched messages take no memory, unlike with
   graph/channels.h, which keeps the channels of a whole run. */

struct transit {
    int64_t time_ns, other_ns; /* of this end, and of the other if the index knows it */
    int64_t bytes;
    uint32_t row, other_row;   /* other_row is TIMELINE_NONE if the trace lacks the other end */
    uint32_t process, partner; /* whose end this is, and the other's world rank */
    int32_t comm, partner_comm, tag;
    uint32_t sent; /* 1: this end is the send */
};

/* A waiting end, with its user's data. */
struct transit_node {
    struct transit transit;
    uint32_t span; /* free for the user; UINT32_MAX at first */
    uint32_t next; /* 1 + index: of the same channel, or of those free; 0: none */
};

struct transit_channel {
    uint32_t first, last; /* 1 + index of nodes */
    uint32_t next;        /* 1 + index: of the same bucket */
};

struct transits {
    struct transit_node *nodes;
    size_t node_count, node_capacity;
    struct transit_channel *channels;
    size_t channel_count, channel_capacity;
    uint32_t free_node, free_channel; /* 1 + index */
    uint32_t *buckets;                /* 1 + index of channels */
    size_t bucket_count, used;        /* used: channels that wait */
    size_t waiting;                   /* nodes that wait */
};

/* Removes the oldest end that matches `end`; false if there is none: then `end` waits, and *node is its place. */
bool transits_match(struct transits *transits, const struct transit *end, struct transit_node *other, uint32_t *node);

/* Lets an end wait without looking for its other; returns its place. */
uint32_t transits_add(struct transits *transits, const struct transit *end);

/* Calls `take` for all waiting ends, channel by channel, in order. */
void transits_each(struct transits *transits, void (*take)(void *context, struct transit_node *node), void *context);

void transits_clear(struct transits *transits);

#endif
