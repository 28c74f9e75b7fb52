/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/solo.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/computing.h"

/* What computes until the next change. */
struct race {
    struct solo *solo;
    size_t computing; /* locations */
    uint64_t sum;     /* of their indices: where it is one, that one */
    int64_t since_ns; /* of the latest change */
};

static void add_time(struct race *race, uint64_t location, struct solo_time time)
{
    struct solo_location *where = &race->solo->locations[location];
    ARRAY_PUSH(where->times, where->count, where->capacity, time);
}

/* Records the time until this change: one location computed alone, or none did, which is assigned to the one that
   begins. */
static void note_until(struct race *race, int64_t now_ns, uint32_t location)
{
    if (now_ns > race->since_ns && race->computing == 1)
        add_time(race, race->sum, (struct solo_time){race->since_ns, now_ns, 0});
    if (now_ns > race->since_ns && race->computing == 0)
        add_time(race, location, (struct solo_time){now_ns, now_ns, time_since(race->since_ns, now_ns)});
    race->since_ns = larger(now_ns, race->since_ns);
}

/* The number and the sum of those that compute suffice: where it is one, the sum is its index. */
static void take_change(void *context, int64_t time_ns, uint32_t location, bool begins)
{
    struct race *race = context;
    note_until(race, time_ns, location);
    if (begins) {
        race->computing++;
        race->sum += location;
    } else {
        race->computing--;
        race->sum -= location;
    }
}

struct solo solo_of(const struct graph *graph, int64_t begin_ns)
{
    struct solo solo = {0};
    if (graph->location_count < 2) /* always alone: nothing to say */
        return solo;
    solo.count = graph->location_count;
    solo.locations = memory_new(solo.count * sizeof *solo.locations);
    struct race race = {.solo = &solo, .since_ns = begin_ns};
    computing_each(graph, take_change, &race);
    return solo;
}

void solo_clear(struct solo *solo)
{
    for (size_t i = 0; i < solo->count; i++)
        free(solo->locations[i].times);
    free(solo->locations);
    *solo = (struct solo){0};
}
