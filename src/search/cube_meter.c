/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/cube_meter.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

static int by_location(const void *a, const void *b)
{
    const struct meter_track *left = a, *right = b;
    if (left->location != right->location)
        return order_by(left->location, right->location);
    /* In the order of the counters: sums do not depend on how they are sorted. */
    return order_by(left->track, right->track);
}

/* Locations by process and thread, and the first of each process. */
static void find_locations(const struct graph *graph, struct map *exact, struct map *first)
{
    for (uint32_t i = 0; i < graph->location_count; i++) {
        const struct location *location = &graph->locations[i];
        map_put(exact, map_pair(location->process, location->thread), i);
        map_put(first, location->process, i);
    }
}

struct cube_meter *cube_meter_new(const struct graph *graph, const struct counters *counters, const uint8_t *slots)
{
    struct cube_meter *meter = memory_new(sizeof *meter);
    struct map exact = {0}, first = {0};
    size_t capacity = 0;
    find_locations(graph, &exact, &first);
    for (size_t i = 0; i < counters->track_count; i++) {
        const struct counter_track *track = &counters->track[i];
        const uint64_t *location = map_find(&exact, map_pair(track->rank, track->thread));
        if (!location)
            location = map_find(&first, track->rank);
        if (!location || slots[track->counter] == 0)
            continue;
        meter->count = larger(meter->count, (size_t)slots[track->counter]);
        ARRAY_PUSH(meter->track, meter->track_count, capacity,
                   (struct meter_track){(uint32_t)*location, slots[track->counter] - 1U, track});
    }
    if (meter->track_count > 0)
        qsort(meter->track, meter->track_count, sizeof *meter->track, by_location);
    map_clear(&exact);
    map_clear(&first);
    return meter;
}

void cube_meter_free(struct cube_meter *meter)
{
    if (!meter)
        return;
    free(meter->track);
    free(meter);
}

void cube_meter_read(const struct cube_meter *meter, uint32_t location, int64_t from_ns, int64_t to_ns,
                     struct counter_amount amounts[METER_COUNTERS])
{
    size_t low = 0, high = meter->track_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (meter->track[middle].location < location)
            low = middle + 1;
        else
            high = middle;
    }
    memset(amounts, 0, METER_COUNTERS * sizeof *amounts);
    for (; low < meter->track_count && meter->track[low].location == location; low++)
        counter_amount_add(&amounts[meter->track[low].slot], meter->track[low].track, from_ns, to_ns);
}

void cube_meter_add(struct counter_amount **cell, const struct counter_amount amounts[METER_COUNTERS])
{
    if (!*cell)
        *cell = memory_new(METER_COUNTERS * sizeof **cell);
    for (size_t i = 0; i < METER_COUNTERS; i++) {
        (*cell)[i].amount += amounts[i].amount;
        time_add(&(*cell)[i].ns, amounts[i].ns);
        (*cell)[i].known |= amounts[i].known;
    }
}
