/* SPDX-License-Identifier: BSD-3-Clause */
/* What counters add up to, from readings whose sums are known: each mode, windows, functions, and damage. Formulas of
   them on whole traces are tested by tests/cli/counters.test. */
#include "profile/counters.h"

#include "core/memory.h"
#include "unit/tap.h"

#include <math.h>
#include <stdlib.h>

enum { SUM, CHANGE, LEVEL, OF_PROCESS, FRACTION };
static struct defs *defs;
static struct sink *sink;
static struct batch *batch;

static void add_counter(const char *name, enum counter_type type, enum counter_mode mode, enum counter_scope scope)
{
    defs_add_mark(defs, &(struct mark_def){.name = (char *)(uintptr_t)name,
                                           .counter = {.type = type, .mode = mode, .scope = scope}});
}

static struct counters_builder *begin(struct counters_select select)
{
    struct error err = {0};
    struct counters_builder *builder = counters_builder_new(&select);
    sink = counters_builder_sink(builder);
    if (sink->begin(sink, defs, &err) != STATUS_OK)
        abort();
    return builder;
}

static void put(enum event_kind kind, uint32_t thread, int64_t time_ns, uint32_t state, int64_t value)
{
    struct error err = {0};
    batch->events[0] = EVENT_NOTHING;
    batch->events[0].kind = (uint8_t)kind;
    batch->events[0].thread = thread;
    batch->events[0].time_ns = time_ns;
    batch->events[0].state = state;
    batch->events[0].value = value;
    batch->count = 1;
    if (sink->events(sink, batch, &err) != STATUS_OK)
        abort();
}

static void read_counter(uint32_t thread, int64_t time_ns, uint32_t counter, int64_t value)
{
    put(EVENT_COUNTER, thread, time_ns, counter, value);
}

/* What the only counter has between two moments. */
static double between(const struct counters *counters, int64_t from_ns, int64_t to_ns)
{
    struct counter_amount amount = {0};
    for (size_t i = 0; i < counters->track_count; i++)
        counter_amount_add(&amount, &counters->track[i], from_ns, to_ns);
    return counter_amount_value(&amount, &counters->counter[0]);
}

static double in_state(const struct counters *counters, uint32_t state)
{
    for (size_t i = 0; i < counters->part_count; i++)
        if (counters->part[i].state == state)
            return counters->part[i].amount;
    return NAN;
}

static bool near(double got, double wanted)
{
    return fabs(got - wanted) < 1e-9 * fmax(1, fabs(wanted));
}

static void test_sums(void)
{
    struct counters_builder *builder = begin((struct counters_select){0});
    put(EVENT_ENTER, 0, 0, 0, 0);
    read_counter(0, 100, SUM, 1000);
    put(EVENT_ENTER, 0, 150, 1, 0);
    put(EVENT_LEAVE, 0, 175, 1, 0);
    read_counter(0, 200, SUM, 1400);
    put(EVENT_LEAVE, 0, 250, 0, 0);
    read_counter(0, 300, SUM, 1500);
    struct counters *counters = counters_builder_end(builder);
    tap_ok(near(between(counters, INT64_MIN, INT64_MAX), 500), "from the first reading to the last");
    tap_ok(near(between(counters, 150, 250), 200 + 50) && isnan(between(counters, 400, 500)), "between two moments");
    tap_ok(near(in_state(counters, 1), 100) && near(in_state(counters, 0), 300 + 50) &&
               near(in_state(counters, COUNTER_NO_STATE), 50),
           "in functions, without what they call, and outside");
    tap_ok(near(counter_value_at(&counters->track[0], &counters->counter[0], 125), 1100) &&
               isnan(counter_value_at(&counters->track[0], &counters->counter[0], 99)),
           "a value in between, none before");
    counters_free(counters);
}

static void test_falls(void)
{
    const struct counter_choice wraps = {.name = "sum", .wraps = 2000};
    for (int known = 0; known < 2; known++) {
        struct counters_builder *builder =
            begin((struct counters_select){.choices = &wraps, .choice_count = (size_t)known});
        read_counter(0, 0, SUM, 1900);
        read_counter(0, 10, SUM, 100);
        read_counter(0, 20, SUM, 150);
        struct counters *counters = counters_builder_end(builder);
        tap_ok(near(between(counters, 0, 20), known ? 250 : 50) && counters->counter[0].falls == (known ? 0 : 1),
               "a sum that falls, with%s a modulus", known ? "" : "out");
        counters_free(counters);
    }
    /* The ends of what there is. */
    struct counters_builder *builder = begin((struct counters_select){0});
    read_counter(0, 0, SUM, INT64_MIN);
    read_counter(0, 1, SUM, INT64_MAX);
    read_counter(0, 2, SUM, INT64_MIN);
    struct counters *counters = counters_builder_end(builder);
    tap_ok(near(between(counters, 0, 2), 18446744073709551615.0), "no step is too large");
    counters_free(counters);
    builder = begin((struct counters_select){0});
    struct event bits = EVENT_NOTHING;
    event_set_double(&bits, 0.5);
    read_counter(0, 0, FRACTION, bits.value);
    event_set_double(&bits, NAN);
    read_counter(0, 1, FRACTION, bits.value);
    event_set_double(&bits, INFINITY);
    read_counter(0, 2, FRACTION, bits.value);
    counters = counters_builder_end(builder);
    tap_ok(near(between(counters, 0, 2), 0), "numbers that are none do not count");
    counters_free(counters);
}

static void test_changes(void)
{
    struct counters_builder *builder = begin((struct counters_select){0});
    put(EVENT_ENTER, 0, 0, 0, 0);
    put(EVENT_LEAVE, 0, 60, 0, 0);
    read_counter(0, 100, CHANGE, 1000);
    read_counter(0, 200, CHANGE, 500);
    struct counters *counters = counters_builder_end(builder);
    tap_ok(near(between(counters, INT64_MIN, INT64_MAX), 1500), "changes add up, the first since the thread's begin");
    tap_ok(near(in_state(counters, 0), 600) && near(in_state(counters, COUNTER_NO_STATE), 900), "also by function");
    counters_free(counters);
}

static void test_levels(void)
{
    struct counters_builder *builder = begin((struct counters_select){0});
    read_counter(0, 0, LEVEL, 10);
    read_counter(0, 300, LEVEL, 50);
    put(EVENT_ENTER, 0, 400, 0, 0);
    struct counters *counters = counters_builder_end(builder);
    tap_ok(near(between(counters, 0, 400), 20), "a level has its mean over time, to the end of the thread");
    tap_ok(near(counter_value_at(&counters->track[0], &counters->counter[0], 299), 10) &&
               near(counter_value_at(&counters->track[0], &counters->counter[0], 350), 50),
           "and holds until the next value");
    counters_free(counters);
}

static void test_scopes(void)
{
    struct counters_builder *builder = begin((struct counters_select){0});
    for (uint32_t thread = 0; thread < 3; thread++) {
        read_counter(thread, 0, OF_PROCESS, 0);
        read_counter(thread, 10, OF_PROCESS, 100);
    }
    struct counters *counters = counters_builder_end(builder);
    tap_ok(near(between(counters, 0, 10), 100), "a counter of the process counts once");
    counters_free(counters);
    builder = begin((struct counters_select){0});
    for (uint32_t thread = 0; thread < 3; thread++) {
        read_counter(thread, 0, SUM, 0);
        read_counter(thread, 10, SUM, 100);
    }
    counters = counters_builder_end(builder);
    tap_ok(near(between(counters, 0, 10), 300) && counters->track_count == 3, "those of threads add up");
    counters_free(counters);
}

static void test_window(void)
{
    struct counters_builder *builder =
        begin((struct counters_select){.have_from = true, .from_ns = 25, .have_to = true, .to_ns = 75});
    put(EVENT_ENTER, 0, 0, 0, 0);
    read_counter(0, 0, SUM, 0);
    put(EVENT_LEAVE, 0, 50, 0, 0);
    read_counter(0, 100, SUM, 1000);
    struct counters *counters = counters_builder_end(builder);
    tap_ok(counters->from_ns == 25 && counters->to_ns == 75 && near(in_state(counters, 0), 250) &&
               near(in_state(counters, COUNTER_NO_STATE), 250),
           "of a window, what lies in it");
    counters_free(counters);
    static const uint32_t others[] = {7};
    builder = begin((struct counters_select){.ranks = others, .rank_count = 1});
    read_counter(0, 0, SUM, 0);
    counters = counters_builder_end(builder);
    tap_ok(counters->count == 0 && counters->track_count == 0, "of other processes nothing");
    counters_free(counters);
}

enum { MANY = 1000 };

static struct counters *read_many(struct counters_select select)
{
    struct counters_builder *builder = begin(select);
    int64_t sum = 0;
    for (int64_t i = 0; i < MANY; i++) {
        int64_t time_ns = 100 * i + i * i % 70;
        sum += i * i % 13;
        read_counter(0, time_ns, SUM, sum);
        read_counter(0, time_ns, CHANGE, i % 5);
        read_counter(0, time_ns, LEVEL, i % 9);
    }
    return counters_builder_end(builder);
}

/* What is asked of sums: the window, and all of it. */
static double amount_in(const struct counters *counters, size_t track, int64_t from_ns, int64_t to_ns)
{
    struct counter_amount amount = {0};
    counter_amount_add(&amount, &counters->track[track], from_ns, to_ns);
    return counter_amount_value(&amount, &counters->counter[counters->track[track].counter]);
}

static void test_few_readings(void)
{
    bool same = true, few = true;
    for (int64_t from_ns = -50; from_ns < 100 * MANY; from_ns += 9973)
        for (int64_t to_ns = from_ns + 1; to_ns < 101 * MANY; to_ns += 9719) {
            struct counters_select select = {.have_from = true, .have_to = true, .from_ns = from_ns, .to_ns = to_ns};
            struct counters *all = read_many(select);
            select.sums = true;
            struct counters *sums = read_many(select);
            same = same && sums->sums && all->track_count == 3 && sums->track_count == 3 && sums->part_count == 0;
            for (size_t i = 0; i < 3 && same; i++) {
                double wanted = amount_in(all, i, from_ns, to_ns), got = amount_in(sums, i, from_ns, to_ns);
                same = (got == wanted || (isnan(got) && isnan(wanted))) && sums->counter[i].readings == MANY;
                few = few && sums->track[i].count <= 6;
            }
            counters_free(all);
            counters_free(sums);
        }
    tap_ok(same, "sums of a window are the same");
    tap_ok(few, "from six readings of a thread at most");
    struct counters *whole = read_many((struct counters_select){.sums = true});
    tap_ok(whole->track[0].count == 2, "of the whole run, from two");
    counters_free(whole);
}

int main(void)
{
    defs = defs_new();
    batch = memory_new(sizeof *batch);
    tap_ok(!counters_declared(defs), "a trace without counters");
    defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t) "outer"});
    defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t) "inner"});
    add_counter("sum", COUNTER_INT64, COUNTER_MODE_ACCUMULATED, COUNTER_OF_THREAD);
    add_counter("change", COUNTER_INT64, COUNTER_MODE_RELATIVE, COUNTER_OF_THREAD);
    add_counter("level", COUNTER_INT64, COUNTER_MODE_ABSOLUTE, COUNTER_OF_THREAD);
    add_counter("process", COUNTER_INT64, COUNTER_MODE_ACCUMULATED, COUNTER_OF_PROCESS);
    add_counter("fraction", COUNTER_DOUBLE, COUNTER_MODE_ACCUMULATED, COUNTER_OF_THREAD);
    tap_ok(counters_declared(defs), "and with them");
    test_sums();
    test_falls();
    test_changes();
    test_levels();
    test_scopes();
    test_window();
    test_few_readings();
    free(batch);
    defs_free(defs);
    return tap_done();
}
