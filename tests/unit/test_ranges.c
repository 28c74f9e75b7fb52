/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of bytes of a file, compared with one flag for each byte. */
#include "core/ranges.h"

#include "unit/tap.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 60 };

static bool all_set(const bool *flags, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        if (!flags[i])
            return false;
    return true;
}

/* Ranges ascend, do not touch each other, and are the flags'. */
static bool is_like(const struct ranges *ranges, const bool *flags)
{
    bool seen[BYTES] = {false};
    for (size_t i = 0; i < ranges->count; i++) {
        const struct range *range = &ranges->range[i];
        if (range->from >= range->to || (i > 0 && range->from <= ranges->range[i - 1].to))
            return false;
        memset(&seen[range->from], true, (size_t)(range->to - range->from));
    }
    return memcmp(seen, flags, sizeof seen) == 0;
}

static bool asks_alike(const struct ranges *ranges, const bool *flags)
{
    for (uint64_t from = 0; from < BYTES; from++)
        for (uint64_t to = from; to <= BYTES; to++)
            if (ranges_have(ranges, from, to) != all_set(flags, from, to))
                return false;
    return true;
}

static void test_random(void)
{
    unsigned seed = 7, bad = 0;
    for (int round = 0; round < 300; round++) {
        struct ranges ranges = {0};
        bool flags[BYTES] = {false};
        for (int i = 0; i < 12; i++) {
            uint64_t from = (uint64_t)rand_r(&seed) % BYTES, size = (uint64_t)rand_r(&seed) % 9;
            uint64_t to = from + size < BYTES ? from + size : BYTES;
            ranges_add(&ranges, from, to);
            memset(&flags[from], true, (size_t)(to - from));
            bad += !is_like(&ranges, flags) || !asks_alike(&ranges, flags);
        }
        ranges_clear(&ranges);
    }
    tap_equal_int(bad, 0, "random ranges are those of the flags, whatever their order");
}

static void test_forward(void)
{
    struct ranges ranges = {0};
    for (uint64_t at = 0; at < 1000; at++)
        ranges_add(&ranges, at * 10, at * 10 + 10);
    tap_equal_int((long long)ranges.count, 1, "a file that is read through is one range");
    tap_ok(ranges_have(&ranges, 0, 10000) && !ranges_have(&ranges, 0, 10001), "and ends where reading did");
    ranges_clear(&ranges);
}

int main(void)
{
    test_random();
    test_forward();
    return tap_done();
}
