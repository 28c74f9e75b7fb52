/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_FLIGHTS_H
#define SIGHT_TIMELINE_FLIGHTS_H

#include "core/event.h"

/* Ends of messages that wait for their other end: the n-th send and the n-th receive of the same sender, receiver,
   communicator and tag are one message, whichever is met first. What is matched takes no memory, unlike with
   replay/channels.h, which keeps the channels of a whole run. */

struct flight {
    int64_t time_ns, other_ns; /* of this end, and of the other where the index knows it */
    int64_t bytes;
    uint32_t row, other_row;   /* other_row is TIMELINE_NONE where the trace has no other end */
    uint32_t process, partner; /* whose end this is, and the other's world rank */
    int32_t comm, partner_comm, tag;
    uint32_t sent; /* 1: this end is the send */
};

/* A waiting end, with what its user keeps beside it. */
struct flight_node {
    struct flight flight;
    uint32_t span; /* free for the user; UINT32_MAX at first */
    uint32_t next; /* 1 + index: of the same channel, or of those free; 0: none */
};

struct flight_channel {
    uint32_t first, last; /* 1 + index of nodes */
    uint32_t next;        /* 1 + index: of the same bucket */
};

struct flights {
    struct flight_node *nodes;
    size_t node_count, node_capacity;
    struct flight_channel *channels;
    size_t channel_count, channel_capacity;
    uint32_t free_node, free_channel; /* 1 + index */
    uint32_t *buckets;                /* 1 + index of channels */
    size_t bucket_count, used;        /* used: channels that wait */
    size_t waiting;                   /* nodes that wait */
};

/* The oldest end that is the other of `end`, taken out; false where there is none: then `end` waits, and *node is its
   place. */
bool flights_match(struct flights *flights, const struct flight *end, struct flight_node *other, uint32_t *node);

/* Lets an end wait without looking for its other; returns its place. */
uint32_t flights_add(struct flights *flights, const struct flight *end);

/* All that wait, channel by channel, in each as they came: calls `take` for each. */
void flights_each(struct flights *flights, void (*take)(void *context, struct flight_node *node), void *context);

void flights_clear(struct flights *flights);

#endif
