/* SPDX-License-Identifier: BSD-3-Clause */
/* Ticks as ns: each against the definition of rounding down, in series that go on, jump and go back. */
#include "config.h"
#include "unit/tap.h"

#ifdef HAVE_OTF2

#include "convert/otf2/otf2_clock.h"

#include "unit/random.h"

static const uint64_t resolutions[] = {1,          3,          7,          1000,       1000000,           999999999,
                                       1000000000, 1000000001, 2095197216, 2400000000, UINT64_C(1) << 40, UINT64_MAX};

/* ns is what rounding (ticks - offset) * 10^9 / resolution down gives. */
static bool is_exact(int64_t ns, uint64_t ticks, uint64_t offset, uint64_t resolution)
{
    __int128 product = ((__int128)ticks - offset) * 1000000000, below = (__int128)ns * resolution;
    return below <= product && product - below < resolution;
}

static void test_first_event(void)
{
    static const uint64_t firsts[] = {0, 1, 5000000, UINT64_C(8999999998), UINT64_C(8999999999), UINT64_C(9000000000)};
    for (size_t i = 0; i < sizeof resolutions / sizeof *resolutions; i++) {
        int wrong = 0;
        for (size_t j = 0; j < sizeof firsts / sizeof *firsts; j++)
            for (uint64_t offset = 0; offset < 3; offset++) {
                struct otf2_clock clock;
                otf2_clock_begin(&clock, resolutions[i], offset);
                wrong += !is_exact(otf2_clock_ns(&clock, firsts[j]), firsts[j], offset, resolutions[i]);
            }
        tap_equal_int(wrong, 0, "%llu ticks a second: the first event of a location",
                      (unsigned long long)resolutions[i]);
    }
}

/* Steps of every size, forwards and backwards; ns stay within 64 bits. */
static void test_series(uint64_t resolution, uint64_t offset)
{
    struct otf2_clock clock;
    __int128 room = (__int128)resolution * 9000000000;
    uint64_t ticks = offset;
    int wrong = 0;
    otf2_clock_begin(&clock, resolution, offset);
    for (int i = 0; i < 20000; i++) {
        uint64_t step = random_number() >> random_below(64);
        ticks = random_below(4) == 0 ? ticks - step : ticks + step;
        __int128 passed = (__int128)ticks - offset;
        if (passed > room || passed < -room)
            ticks = offset + step % 1000;
        wrong += !is_exact(otf2_clock_ns(&clock, ticks), ticks, offset, resolution);
    }
    tap_equal_int(wrong, 0, "%llu ticks a second from %llu on", (unsigned long long)resolution,
                  (unsigned long long)offset);
}

int main(void)
{
    struct otf2_clock clock;
    otf2_clock_begin(&clock, 1000000, 0);
    tap_equal_int(otf2_clock_ns(&clock, 5000000), 5000000000, "5000000 us");
    tap_equal_int(otf2_clock_ns(&clock, 4999999), 4999999000, "back by one");
    otf2_clock_begin(&clock, 1000000, 100);
    tap_equal_int(otf2_clock_ns(&clock, 99), -1000, "before the offset");
    test_first_event();
    for (size_t i = 0; i < sizeof resolutions / sizeof *resolutions; i++) {
        test_series(resolutions[i], 0);
        test_series(resolutions[i], resolutions[i] > UINT64_MAX / 4 ? 5 : resolutions[i] * 3);
    }
    return tap_done();
}

#else

int main(void)
{
    puts("1..0 # SKIP this build does not read OTF2");
    return 0;
}

#endif
