/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/message_queues.h"

#include "core/memory.h"

static uint32_t number(struct map *map, uint64_t key)
{
    return (uint32_t)*map_put(map, key, map->count);
}

struct message_queue *message_queue_of(struct message_queues *queues, const struct event *event)
{
    /* Four numbers, of which a key holds two. */
    uint32_t pair = number(&queues->pairs, map_pair(event_sender(event), event_receiver(event)));
    /* The two sides of an inter-communicator are one: each end names its own side as `comm`. */
    uint32_t side = number(&queues->sides, map_pair_unordered((uint32_t)event->comm, (uint32_t)event->partner_comm));
    uint32_t kind = number(&queues->kinds, map_pair(side, (uint32_t)event->tag));
    /* Queues stay when they are empty: programs use the same ones again. */
    uint64_t *place = map_put(&queues->places, map_pair(pair, kind), queues->count);
    if (*place == queues->count)
        ARRAY_PUSH(queues->queue, queues->count, queues->capacity, (struct message_queue){0});
    return &queues->queue[*place];
}

void message_queues_clear(struct message_queues *queues)
{
    map_clear(&queues->pairs);
    map_clear(&queues->kinds);
    map_clear(&queues->sides);
    map_clear(&queues->places);
    free(queues->queue);
    *queues = (struct message_queues){0};
}
