/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/flights.h"

#include "core/map.h"
#include "core/memory.h"

/* The same for both ends of a message. */
static uint64_t channel_hash(const struct flight *end)
{
    uint32_t sender = end->sent ? end->process : end->partner, receiver = end->sent ? end->partner : end->process;
    uint32_t low = (uint32_t)end->comm, high = (uint32_t)end->partner_comm;
    if (low > high) {
        uint32_t swap = low;
        low = high;
        high = swap;
    }
    uint64_t hash = map_hash(map_pair(sender, receiver));
    hash = map_hash(hash ^ map_pair(high, low));
    return map_hash(hash ^ (uint32_t)end->tag);
}

/* True if both ends are of one channel. */
static bool same_channel(const struct flight *a, const struct flight *b)
{
    if (a->tag != b->tag)
        return false;
    if (a->sent == b->sent)
        return a->process == b->process && a->partner == b->partner && a->comm == b->comm &&
               a->partner_comm == b->partner_comm;
    return a->process == b->partner && a->partner == b->process && a->comm == b->partner_comm &&
           a->partner_comm == b->comm;
}

static void buckets_double(struct flights *flights)
{
    free(flights->buckets);
    flights->bucket_count = flights->bucket_count ? flights->bucket_count * 2 : 64;
    flights->buckets = memory_new(flights->bucket_count * sizeof *flights->buckets);
    for (size_t i = 0; i < flights->channel_count; i++) {
        struct flight_channel *channel = &flights->channels[i];
        if (!channel->first)
            continue;
        uint64_t hash = channel_hash(&flights->nodes[channel->first - 1].flight);
        uint32_t *bucket = &flights->buckets[hash & (flights->bucket_count - 1)];
        channel->next = *bucket;
        *bucket = (uint32_t)i + 1;
    }
}

/* Where the number of the end's channel stands, or would be put. */
static uint32_t *channel_place(struct flights *flights, const struct flight *end)
{
    uint32_t *place = &flights->buckets[channel_hash(end) & (flights->bucket_count - 1)];
    while (*place) {
        struct flight_channel *channel = &flights->channels[*place - 1];
        if (same_channel(&flights->nodes[channel->first - 1].flight, end))
            break;
        place = &channel->next;
    }
    return place;
}

static uint32_t node_new(struct flights *flights, const struct flight *end)
{
    uint32_t node = flights->free_node;
    if (node) {
        flights->free_node = flights->nodes[node - 1].next;
    } else {
        ARRAY_PUSH(flights->nodes, flights->node_count, flights->node_capacity, (struct flight_node){0});
        node = (uint32_t)flights->node_count;
    }
    flights->nodes[node - 1] = (struct flight_node){.flight = *end, .span = UINT32_MAX};
    flights->waiting++;
    return node;
}

static uint32_t channel_new(struct flights *flights)
{
    uint32_t number = flights->free_channel;
    if (number) {
        flights->free_channel = flights->channels[number - 1].next;
        flights->channels[number - 1] = (struct flight_channel){0};
    } else {
        ARRAY_PUSH(flights->channels, flights->channel_count, flights->channel_capacity, (struct flight_channel){0});
        number = (uint32_t)flights->channel_count;
    }
    flights->used++;
    return number;
}

uint32_t flights_add(struct flights *flights, const struct flight *end)
{
    if (flights->used * 2 >= flights->bucket_count)
        buckets_double(flights);
    uint32_t node = node_new(flights, end), number = *channel_place(flights, end);
    if (number) {
        struct flight_channel *channel = &flights->channels[number - 1];
        flights->nodes[channel->last - 1].next = node;
        channel->last = node;
    } else {
        /* The place is asked for behind this: the array that it may lie in grows. */
        number = channel_new(flights);
        *channel_place(flights, end) = number;
        flights->channels[number - 1].first = flights->channels[number - 1].last = node;
    }
    return node - 1;
}

/* Takes the oldest end of the channel whose number stands at `place`. */
static void take_first(struct flights *flights, uint32_t *place, struct flight_node *taken)
{
    uint32_t number = *place;
    struct flight_channel *channel = &flights->channels[number - 1];
    uint32_t node = channel->first;
    *taken = flights->nodes[node - 1];
    channel->first = taken->next;
    flights->nodes[node - 1].next = flights->free_node;
    flights->free_node = node;
    flights->waiting--;
    if (channel->first)
        return;
    *place = channel->next;
    *channel = (struct flight_channel){.next = flights->free_channel};
    flights->free_channel = number;
    flights->used--;
}

bool flights_match(struct flights *flights, const struct flight *end, struct flight_node *other, uint32_t *node)
{
    if (flights->used > 0) {
        uint32_t *place = channel_place(flights, end);
        if (*place && flights->nodes[flights->channels[*place - 1].first - 1].flight.sent != end->sent) {
            take_first(flights, place, other);
            return true;
        }
    }
    *node = flights_add(flights, end);
    return false;
}

void flights_each(struct flights *flights, void (*take)(void *context, struct flight_node *node), void *context)
{
    for (size_t i = 0; i < flights->channel_count; i++)
        for (uint32_t node = flights->channels[i].first; node; node = flights->nodes[node - 1].next)
            take(context, &flights->nodes[node - 1]);
}

void flights_clear(struct flights *flights)
{
    free(flights->nodes);
    free(flights->channels);
    free(flights->buckets);
    *flights = (struct flights){0};
}
