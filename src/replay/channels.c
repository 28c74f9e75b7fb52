/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/channels.h"

#include "core/memory.h"

static uint32_t number(struct map *map, uint64_t key)
{
    return (uint32_t)*map_put(map, key, map->count);
}

struct channel *channels_of(struct channels *channels, const struct event *event)
{
    bool receive = event->kind == EVENT_RECEIVE;
    uint32_t partner = (uint32_t)event->partner;
    uint32_t low = (uint32_t)event->comm, high = (uint32_t)event->partner_comm;
    if (low > high) {
        uint32_t swap = low;
        low = high;
        high = swap;
    }
    uint32_t pair =
        number(&channels->pairs, receive ? map_pair(partner, event->process) : map_pair(event->process, partner));
    uint32_t side = number(&channels->sides, map_pair(high, low));
    uint32_t kind = number(&channels->kinds, map_pair(side, (uint32_t)event->tag));
    uint64_t *place = map_put(&channels->places, map_pair(pair, kind), channels->count);
    if (*place == channels->count)
        ARRAY_PUSH(channels->channel, channels->count, channels->capacity, (struct channel){0});
    return &channels->channel[*place];
}

void channels_clear(struct channels *channels)
{
    map_clear(&channels->pairs);
    map_clear(&channels->kinds);
    map_clear(&channels->sides);
    map_clear(&channels->places);
    free(channels->channel);
    *channels = (struct channels){0};
}
