/* SPDX-License-Identifier: BSD-3-Clause */
/* The map against a plain array, with keys put and taken out at random. */
#include "core/map.h"

#include "unit/random.h"
#include "unit/tap.h"

enum { KEYS = 700, STEPS = 200000 };

int main(void)
{
    static uint64_t truth[KEYS]; /* 0: not there */
    struct map map = {0};
    uint64_t wrong = 0, count = 0;
    for (uint64_t step = 1; step <= STEPS; step++) {
        uint64_t random = random_number();
        uint64_t at = random / 64 % KEYS, key = map_pair((uint32_t)at % 7, (uint32_t)at << 8);
        const uint64_t *found = map_find(&map, key);
        wrong += (found ? *found : 0) != truth[at];
        if (random % 64 < (step / 1000 % 2 ? 40 : 24)) {
            count += !truth[at];
            *map_put(&map, key, 0) = truth[at] = step;
        } else {
            count -= truth[at] != 0;
            map_remove(&map, key);
            truth[at] = 0;
        }
        wrong += map.count != count;
    }
    tap_equal_int((long long)wrong, 0, "found is what was put and not removed");
    for (uint64_t at = 0; at < KEYS; at++)
        map_remove(&map, map_pair((uint32_t)at % 7, (uint32_t)at << 8));
    tap_equal_int((long long)map.count, 0, "all removed");
    map_clear(&map);
    map_remove(&map, 1);
    tap_equal_int((long long)map.count, 0, "nothing to remove");
    return tap_done();
}
