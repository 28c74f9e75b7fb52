/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/message_queues.h"

#include "core/memory.h"

static uint32_t number(struct map *map, uint64_t key)
{
    return (uint32_t)*map_put(map, key, map->count);
}

struct message_queue *message_queue_of(struct message_queues *queues, const struct event *event)
{
    bool receive = event->kind == EVENT_RECEIVE;
    uint32_t partner = (uint32_t)event->partner;
    uint32_t one = (uint32_t)event->comm, other = (uint32_t)event->partner_comm;
    uint32_t pair =
        number(&queues->pairs, receive ? map_pair(partner, event->process) : map_pair(event->process, partner));
    uint32_t side = number(&queues->sides, one < other ? map_pair(other, one) : map_pair(one, other));
    uint32_t kind = number(&queues->kinds, map_pair(side, (uint32_t)event->tag));
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
