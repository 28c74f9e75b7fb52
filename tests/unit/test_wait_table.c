/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of waits against the waits themselves: random runs, and one of waits that are too long for 32 bits. */
#include "graph/wait.h"
#include "graph/wait_table.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

#include <math.h>

/* The table's data for each call of the location, against wait_compute(). Returns how often it is wrong. */
static uint64_t wrong_calls(const struct graph *graph, uint32_t location)
{
    uint64_t wrong = 0;
    uint32_t waits = 0, last = GRAPH_NONE;
    for (uint32_t i = 0; i < graph->locations[location].count; i++) {
        struct wait wait = wait_compute(graph, location, i);
        wrong += waits_before(graph, location, i) != waits;
        wrong += waiting_call_before(graph, location, i) != last;
        wrong += wait_table_marks(graph, location, i) != (wait.kind != WAIT_NONE);
        wrong += wait_ns_in(graph, location, i) != wait.ns || wait_kind_in(graph, location, i) != (int)wait.kind;
        wrong += wait_of(graph, location, i).ns != wait.ns;
        if (wait.kind == WAIT_NONE)
            continue;
        wrong += wait_ns(graph, location, waits) != wait.ns;
        waits++;
        last = i;
    }
    size_t count = graph->locations[location].count;
    wrong += waits_before(graph, location, count) != waits || graph->waits[location].count != waits;
    return wrong;
}

/* Sums of random stretches of waits. */
static uint64_t wrong_sums(const struct graph *graph, uint32_t location)
{
    uint64_t wrong = 0;
    size_t count = graph->waits[location].count;
    for (int turn = 0; turn < 200 && count > 0; turn++) {
        size_t from = (size_t)random_below((int64_t)count + 1), to = (size_t)random_below((int64_t)count + 1);
        double sum_ns = 0;
        for (size_t i = from; i < to; i++)
            sum_ns += (double)wait_ns(graph, location, i);
        wrong += fabs(waits_sum_ns(graph, location, from, to) - sum_ns) > 0.5;
    }
    return wrong;
}

/* Random messages, and more collectives than one word of marks, and of sums, has; some waits are long. At last messages
   out of order. */
static struct graph *random_graph(void)
{
    struct trace trace = {0};
    run_make(&trace, 5);
    for (int round = 0; round < 300; round++)
        for (uint32_t p = 0; p < 5; p++) {
            int64_t base = 10000 + 100 * round;
            call(&trace, p, BARRIER, base + random_below(40), base + 50);
        }
    for (int64_t round = 1; round < 9; round++)
        for (uint32_t p = 0; p < 5; p++)
            call(&trace, p, BARRIER, (10 * round + random_below(8)) * 1000000000, (10 * round + 8) * 1000000000);
    /* Each receives from the next process, which sends late, before it takes the message of the one after that. */
    for (uint32_t p = 0; p < 5; p++) {
        int64_t base = 100000000000 + 100 * p;
        message(&trace, (p + 1) % 5, SEND, base + 50, base + 51, (int32_t)p);
        message(&trace, (p + 2) % 5, SEND, base + 10, base + 11, (int32_t)p);
        message(&trace, p, RECV, base + 5, base + 60, (int32_t)(p + 1) % 5);
        message(&trace, p, RECV, base + 61, base + 62, (int32_t)(p + 2) % 5);
    }
    return graph_of(&trace, 5);
}

/* Calls that differ between two graphs of the same run, by themselves or by their waits. */
static uint64_t different_calls(const struct graph *one, const struct graph *other, uint32_t location,
                                uint64_t *out_of_order)
{
    uint64_t different = one->locations[location].count != other->locations[location].count;
    for (uint32_t i = 0; i < one->locations[location].count && !different; i++) {
        struct call call = graph_call(one, location, i), same = graph_call(other, location, i);
        *out_of_order += call.pending_same || call.pending_other;
        different += call.pending_same != same.pending_same || call.pending_other != same.pending_other;
        different += wait_kind_in(one, location, i) != wait_kind_in(other, location, i);
        different += wait_ns_in(one, location, i) != wait_ns_in(other, location, i);
    }
    return different;
}

/* The same runs finished by one thread and by several, more than there are locations at last. */
static void test_threads(void)
{
    uint64_t different = 0, out_of_order = 0, long_ones = 0;
    for (unsigned threads = 2; threads < 9; threads++) {
        uint32_t before = seed;
        struct graph *one = random_graph();
        seed = before;
        graph_threads = threads;
        struct graph *other = random_graph();
        graph_threads = 1;
        for (uint32_t p = 0; p < 5; p++)
            different += different_calls(one, other, p, &out_of_order);
        different += one->long_wait_count != other->long_wait_count;
        long_ones += one->long_wait_count;
        graph_free(one);
        graph_free(other);
    }
    tap_equal_int((long long)different, 0, "several threads find the same waits");
    tap_ok(out_of_order > 0 && long_ones > 0, "with messages out of order, and long waits");
}

static void test_random(void)
{
    uint64_t wrong = 0, wrong_sum = 0, long_ones = 0;
    for (int turn = 0; turn < 20; turn++) {
        struct graph *graph = random_graph();
        for (uint32_t p = 0; p < 5; p++) {
            wrong += wrong_calls(graph, p);
            wrong_sum += wrong_sums(graph, p);
            long_ones += graph->waits[p].count > 128;
        }
        graph_free(graph);
    }
    tap_equal_int((long long)wrong, 0, "20 random runs: every wait is in the table, and no other");
    tap_equal_int((long long)wrong_sum, 0, "sums of stretches");
    tap_ok(long_ones > 50, "locations with more than 128 waits");
}

static void test_long(void)
{
    const int64_t second = 1000000000;
    struct trace trace = {0};
    for (uint32_t p = 0; p < 2; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BARRIER, p == 0 ? second : 8 * second, 8 * second + 1);
        call(&trace, p, BARRIER, p == 0 ? 9 * second : 9 * second + 5, 9 * second + 6);
        call(&trace, p, BARRIER, p == 0 ? 10 * second : 12 * second + 200 * second / 1000,
             12 * second + 200 * second / 1000 + 1);
    }
    struct graph *graph = graph_of(&trace, 2);
    uint32_t late_for = graph->locations[0].process == 0 ? 0 : 1;
    tap_equal_int(wait_ns_in(graph, late_for, 0), 7 * second, "a wait of 7 s");
    tap_equal_int(wait_ns_in(graph, late_for, 1), 5, "a short one after it");
    tap_equal_int(wait_ns_in(graph, late_for, 2), 2200000000, "another that 31 bits do not hold");
    tap_equal_int((long long)graph->long_wait_count, 2, "two are kept apart");
    tap_ok(waits_sum_ns(graph, late_for, 0, 3) == 9200000005.0, "their sum");
    tap_equal_int(waits_median_ns(graph), 2200000000, "their median");
    tap_equal_int((long long)graph->waits[1 - late_for].count, 0, "the one that is late does not wait");
    tap_equal_int(waiting_call_before(graph, late_for, 0), GRAPH_NONE, "no wait before the first call");
    graph_free(graph);
}

/* The longest wait that 31 bits hold, the shortest that they do not, and none at all. */
static void test_limits(void)
{
    const int64_t longest = INT32_MAX, step = 10000000000;
    struct trace trace = {0};
    for (uint32_t p = 0; p < 2; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BARRIER, p == 0 ? step : step + longest, step + longest + 1);
        call(&trace, p, BARRIER, p == 0 ? 2 * step : 2 * step + longest + 1, 2 * step + longest + 2);
    }
    struct graph *graph = graph_of(&trace, 2);
    uint32_t waiter = graph->locations[0].process == 0 ? 0 : 1;
    tap_equal_int(wait_ns_in(graph, waiter, 0), longest, "the longest wait that 31 bits hold");
    tap_equal_int(wait_ns_in(graph, waiter, 1), longest + 1, "one of 1 ns more");
    tap_equal_int((long long)graph->long_wait_count, 1, "only that is kept apart");
    tap_ok(waits_sum_ns(graph, waiter, 0, 2) == 4294967295.0, "their sum, above 32 bits");
    tap_ok(waits_sum_ns(graph, waiter, 1, 1) == 0, "an empty stretch");
    tap_equal_int(waits_median_ns(graph), longest + 1, "of two, the median is the upper one");
    tap_equal_int(waiting_call_before(graph, waiter, 1), 0, "the wait before the second call");
    graph_free(graph);

    trace = (struct trace){0};
    for (uint32_t p = 0; p < 2; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BARRIER, 100, 110);
    }
    graph = graph_of(&trace, 2);
    tap_equal_int((long long)(graph->waits[0].count + graph->waits[1].count), 0, "all come at the same time: no waits");
    tap_equal_int(waits_median_ns(graph), 0, "and no median");
    tap_ok(waits_sum_ns(graph, 0, 0, 0) == 0 && waits_before(graph, 0, 1) == 0, "no sum, none before the end");
    graph_free(graph);
}

int main(void)
{
    defs_make();
    test_random();
    test_threads();
    test_long();
    test_limits();
    defs_free(defs);
    return tap_done();
}
