/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/transits.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"

/* The same for both ends of a message. */
static uint64_t channel_hash(const struct transit *end)
{
    uint32_t sender = end->partner, receiver = end->process;
    if (end->sent) {
        sender = end->process;
        receiver = end->partner;
    }
    /* The two sides of an inter-communicator have a number each: the ends name them in opposite order. */
    uint32_t one = (uint32_t)end->comm, other = (uint32_t)end->partner_comm;
    uint64_t hash = map_hash(map_pair(sender, receiver));
    hash = map_hash(hash ^ map_pair(larger(one, other), smaller(one, other)));
    return map_hash(hash ^ (uint32_t)end->tag);
}

/* True if both ends are of one channel. */
static bool same_channel(const struct transit *a, const struct transit *b)
{
    if (a->tag != b->tag)
        return false;
    if (a->sent == b->sent)
        return a->process == b->process && a->partner == b->partner && a->comm == b->comm &&
               a->partner_comm == b->partner_comm;
    return a->process == b->partner && a->partner == b->process && a->comm == b->partner_comm &&
           a->partner_comm == b->comm;
}

static void buckets_double(struct transits *transits)
{
    /* A power of two, as the mask of the hash needs it. */
    free(transits->buckets);
    transits->bucket_count = larger(transits->bucket_count * 2, 64);
    transits->buckets = memory_new(transits->bucket_count * sizeof *transits->buckets);
    for (size_t i = 0; i < transits->channel_count; i++) {
        struct transit_channel *channel = &transits->channels[i];
        if (!channel->first) /* free: its `next` is in the list of free ones */
            continue;
        uint64_t hash = channel_hash(&transits->nodes[channel->first - 1].transit);
        uint32_t *bucket = &transits->buckets[hash & (transits->bucket_count - 1)];
        channel->next = *bucket;
        *bucket = (uint32_t)i + 1;
    }
}

/* The place of the number of the end's channel, or where it would be put. A channel is compared by its first end: it
   has one as long as it is in a bucket. */
static uint32_t *channel_place(struct transits *transits, const struct transit *end)
{
    uint32_t *place = &transits->buckets[channel_hash(end) & (transits->bucket_count - 1)];
    while (*place) {
        struct transit_channel *channel = &transits->channels[*place - 1];
        if (same_channel(&transits->nodes[channel->first - 1].transit, end))
            break;
        place = &channel->next;
    }
    return place;
}

static uint32_t node_new(struct transits *transits, const struct transit *end)
{
    uint32_t node = transits->free_node;
    if (node) {
        transits->free_node = transits->nodes[node - 1].next;
    } else {
        ARRAY_PUSH(transits->nodes, transits->node_count, transits->node_capacity, (struct transit_node){0});
        node = (uint32_t)transits->node_count;
    }
    transits->nodes[node - 1] = (struct transit_node){.transit = *end, .span = UINT32_MAX};
    transits->waiting++;
    return node;
}

static uint32_t channel_new(struct transits *transits)
{
    uint32_t number = transits->free_channel;
    if (number) {
        transits->free_channel = transits->channels[number - 1].next;
        transits->channels[number - 1] = (struct transit_channel){0};
    } else {
        ARRAY_PUSH(transits->channels, transits->channel_count, transits->channel_capacity,
                   (struct transit_channel){0});
        number = (uint32_t)transits->channel_count;
    }
    transits->used++;
    return number;
}

/* MPI-4.0, 3.5: messages of a channel do not overtake each other, so a channel is a queue. All its ends are of one
   kind, sends or receives: an end of the other kind would have met the oldest. A channel without ends is freed at once;
   memory depends on messages in transit, not on how many pairs ever talk. */
uint32_t transits_add(struct transits *transits, const struct transit *end)
{
    if (transits->used * 2 >= transits->bucket_count)
        buckets_double(transits);
    uint32_t node = node_new(transits, end), number = *channel_place(transits, end);
    if (number) {
        struct transit_channel *channel = &transits->channels[number - 1];
        transits->nodes[channel->last - 1].next = node;
        channel->last = node;
    } else {
        /* The place must be queried after this: the array that may contain it grows. */
        number = channel_new(transits);
        *channel_place(transits, end) = number;
        transits->channels[number - 1].first = transits->channels[number - 1].last = node;
    }
    return node - 1;
}

/* Takes the oldest end of the channel whose number is at `place`. */
static void take_first(struct transits *transits, uint32_t *place, struct transit_node *taken)
{
    uint32_t number = *place;
    struct transit_channel *channel = &transits->channels[number - 1];
    uint32_t node = channel->first;
    *taken = transits->nodes[node - 1];
    channel->first = taken->next;
    transits->nodes[node - 1].next = transits->free_node;
    transits->free_node = node;
    transits->waiting--;
    if (channel->first)
        return;
    *place = channel->next;
    *channel = (struct transit_channel){.next = transits->free_channel};
    transits->free_channel = number;
    transits->used--;
}

bool transits_match(struct transits *transits, const struct transit *end, struct transit_node *other, uint32_t *node)
{
    if (transits->used > 0) {
        uint32_t *place = channel_place(transits, end);
        if (*place && transits->nodes[transits->channels[*place - 1].first - 1].transit.sent != end->sent) {
            take_first(transits, place, other);
            return true;
        }
    }
    *node = transits_add(transits, end);
    return false;
}

void transits_each(struct transits *transits, void (*take)(void *context, struct transit_node *node), void *context)
{
    for (size_t i = 0; i < transits->channel_count; i++)
        for (uint32_t node = transits->channels[i].first; node; node = transits->nodes[node - 1].next)
            take(context, &transits->nodes[node - 1]);
}

void transits_clear(struct transits *transits)
{
    free(transits->nodes);
    free(transits->channels);
    free(transits->buckets);
    *transits = (struct transits){0};
}
