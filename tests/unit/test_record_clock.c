/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps of clocks against a clock that is known: ticks at 2.6 GHz, CLOCK_MONOTONIC steered. */
#include "convert/record/record_clock.h"
#include "unit/tap.h"

#include <stdlib.h>

enum { HOST = 7 };
#define SECOND INT64_C(2600000000) /* ticks */
#define BEGIN (INT64_C(123456) * SECOND)

static struct record_clocks clocks;

static struct record_clock_map *map_new(uint32_t source)
{
    record_clocks_clear(&clocks);
    clocks = (struct record_clocks){0};
    size_t index = record_clocks_index(&clocks, HOST, source);
    return &clocks.maps[index];
}

static void add(int64_t ticks, int64_t ns, int64_t width)
{
    record_clock_add(&clocks.maps[0], &(struct record_reading){.ticks = ticks, .ns = ns, .width = width});
}

static int64_t ns_at(int64_t ticks)
{
    size_t knot = 0;
    return record_clock_ns(&clocks.maps[0], &knot, ticks);
}

/* 5 ns are 13 ticks; from the second second on the clock gains 400 ppm. */
static int64_t truth(int64_t ticks)
{
    int64_t passed = ticks - BEGIN, bend = SECOND;
    int64_t ns = INT64_C(9000000000000) + passed / 13 * 5 + passed % 13 * 5 / 13;
    return passed > bend ? ns + (passed - bend) / 6500 : ns; /* 400e-6 / 2.6 */
}

static void add_true(int64_t ticks)
{
    add(ticks, truth(ticks), 60);
}

static void test_kernel(void)
{
    const struct record_clock_map *map = map_new(RECORD_CLOCK_MONOTONIC);
    add(1000, 1000, 0);
    record_clocks_finish(&clocks);
    tap_equal_int((long long)map->knot_count, 1, "one reading of the kernel's clock is enough");
    tap_equal_int(ns_at(INT64_C(987654321987654)), INT64_C(987654321987654), "its ticks are ns");
    map = map_new(RECORD_CLOCK_MONOTONIC);
    for (int64_t i = 0; i < 50; i++)
        add(INT64_C(4000000000000007) + i * 300000001, INT64_C(4000000000000007) + i * 300000001, 0);
    record_clocks_finish(&clocks);
    int64_t wrong = 0;
    for (int64_t i = -1000; i < 200000; i++)
        wrong += ns_at(INT64_C(4000000000000007) + i * 100003) != INT64_C(4000000000000007) + i * 100003;
    tap_equal_int(wrong, 0, "to the ns, with many readings too");
    tap_equal_int((long long)map->bad, 0, "and none is bad");
}

static void test_steered(void)
{
    const struct record_clock_map *map = map_new(RECORD_CLOCK_TSC);
    for (int64_t at = SECOND / 400; at < 20 * SECOND; at += at < SECOND / 4 ? at : SECOND / 4)
        add_true(BEGIN + at);
    add_true(BEGIN);
    record_clocks_finish(&clocks);
    int64_t worst = 0, back = 0, last = 0;
    size_t knot = 0;
    for (int64_t at = 0; at < 20 * SECOND; at += 1000003) {
        int64_t ns = record_clock_ns(map, &knot, BEGIN + at), off = llabs(ns - truth(BEGIN + at));
        worst = off > worst ? off : worst;
        back += ns < last;
        last = ns;
    }
    tap_ok(worst <= 21000, "a clock that is steered by 400 ppm is followed: off by %lld ns", (long long)worst);
    tap_equal_int(back, 0, "time never goes back");
    tap_ok(llabs(ns_at(BEGIN + 15 * SECOND) - truth(BEGIN + 15 * SECOND)) <= 1, "right between readings");
    tap_equal_int((long long)map->bad, 0, "no reading is bad");
    back = 0;
    for (size_t i = 1; i < map->knot_count; i++)
        for (int64_t ticks = map->knots[i].ticks - 100; ticks < map->knots[i].ticks + 100; ticks++)
            back += ns_at(ticks + 1) < ns_at(ticks);
    tap_equal_int(back, 0, "nor from one tick to the next, at the knots");
}

/* A short run: two processes read the clock when they begin and when MPI has begun. */
static void test_short(void)
{
    map_new(RECORD_CLOCK_TSC);
    int64_t begun = SECOND / 100;
    add(BEGIN, truth(BEGIN) + 20, 60);
    add(BEGIN + 30, truth(BEGIN + 30) - 20, 60);
    add(BEGIN + begun, truth(BEGIN + begun) - 20, 60);
    add(BEGIN + begun + 30, truth(BEGIN + begun + 30) + 20, 60);
    record_clocks_finish(&clocks);
    int64_t off = llabs(ns_at(BEGIN + 2 * begun) - truth(BEGIN + 2 * begun));
    tap_ok(off <= 120, "10 ms of readings, off by 20 ns, predict the next 10 ms: off by %lld ns", (long long)off);
}

static void test_damage(void)
{
    struct record_clock_map *map = map_new(RECORD_CLOCK_TSC);
    for (int64_t i = 0; i < 20; i++)
        add_true(BEGIN + i * SECOND / 20);
    add(0, 0, 60);
    add(RECORD_TIME_MAX, 5, 0);
    add(BEGIN + SECOND / 2 + 1, -RECORD_TIME_MAX, 0);
    add(INT64_MAX, 5, 60);
    add(BEGIN, INT64_MIN, 60);
    add(BEGIN, truth(BEGIN), -1);
    record_clocks_finish(&clocks);
    tap_equal_int((long long)map->bad, 6, "readings that cannot be are counted");
    tap_ok(llabs(ns_at(BEGIN + SECOND / 3) - truth(BEGIN + SECOND / 3)) <= 1, "and the others are right all the same");
    tap_ok(ns_at(INT64_MAX / 5) <= RECORD_TIME_MAX && ns_at(-RECORD_TIME_MAX) >= -RECORD_TIME_MAX,
           "ticks from nowhere have times in range");

    map = map_new(RECORD_CLOCK_TSC);
    for (int64_t i = 0; i < 9; i++)
        add(BEGIN + i * SECOND, truth(BEGIN) - i * 1000000000, 60);
    record_clocks_finish(&clocks);
    tap_ok(map->knot_count == 0 && map->bad == 9, "a clock that runs backwards is none");
    map = map_new(RECORD_CLOCK_TSC);
    for (int64_t i = 0; i < 9; i++)
        add(0, i, 60);
    record_clocks_finish(&clocks);
    tap_ok(map->knot_count == 0 && map->bad == 9, "nor is one that stands");
    map = map_new(RECORD_CLOCK_TSC);
    for (int64_t i = 0; i < 9; i++)
        add(i, i * INT64_C(100000000000000000), 60);
    record_clocks_finish(&clocks);
    tap_ok(map->knot_count == 0 && map->bad == 9, "nor one of 10 ticks a second");
    map = map_new(RECORD_CLOCK_TSC);
    add_true(BEGIN);
    record_clocks_finish(&clocks);
    tap_ok(map->knot_count == 0 && map->bad == 1, "one reading gives no rate");
}

/* Random readings, most of them nonsense: never a crash, never back in time. */
static void test_nonsense(void)
{
    size_t back = 0;
    srand(1);
    for (int round = 0; round < 300; round++) {
        const struct record_clock_map *map = map_new(RECORD_CLOCK_TSC);
        for (int i = rand() % 40; i >= 0; i--) {
            int64_t ticks = (int64_t)rand() << (rand() % 30), ns = (int64_t)rand() << (rand() % 30);
            add(rand() % 2 ? ticks : BEGIN + ticks, rand() % 3 ? ticks / 2 + rand() % 1000 : ns, rand() % 100);
        }
        record_clocks_finish(&clocks);
        size_t knot = 0;
        int64_t last = INT64_MIN;
        for (int64_t ticks = -RECORD_TIME_MAX; map->knot_count > 0 && ticks < RECORD_TIME_MAX;
             ticks += RECORD_TIME_MAX / 1000) {
            int64_t ns = record_clock_ns(map, &knot, ticks);
            back += ns < last;
            last = ns;
        }
    }
    tap_equal_int((long long)back, 0, "whatever the readings are, time never goes back");
}

int main(void)
{
    test_kernel();
    test_steered();
    test_short();
    test_damage();
    test_nonsense();
    record_clocks_clear(&clocks);
    return tap_done();
}
