/* SPDX-License-Identifier: BSD-3-Clause */
/* Root causes of waits: the examples A1 to A3 of the rules of diagnosis, whose every number is known, and random traces
   that must keep the laws. Computing has its label from the calls around it; an Irecv that takes no time ends work that
   is to have the same label on all processes. */
#include "waits/delay.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

#include <math.h>

static void instant(struct trace *trace, uint32_t process, uint32_t state, int64_t time_ns)
{
    call(trace, process, state, time_ns, time_ns);
}

/* Locations of the processes of the latest trace. */
static size_t locations[LOCATIONS];

static struct delays delayed(struct trace *trace, uint32_t processes)
{
    struct graph *graph = graph_of(trace, processes);
    for (size_t i = 0; i < graph->location_count; i++)
        locations[graph->locations[i].process] = i;
    struct delays delays = delays_of(graph);
    graph_free(graph);
    return delays;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

static void expect(double got, double want, const char *trace, const char *name)
{
    if (!tap_ok(is_near(got, want), "%s: %s is %g", trace, name, want))
        printf("# got %.17g\n", got);
}

/* Costs of a place, on all processes. */
static void expect_place(const struct delays *delays, uint32_t before, uint32_t state, double short_ns, double long_ns,
                         const char *trace, const char *name)
{
    struct delay_place found = {0};
    char what[80];
    for (size_t i = 0; i < delays->place_count; i++)
        if (delays->places[i].label.before == before && delays->places[i].label.state == state)
            found = delays->places[i];
    snprintf(what, sizeof what, "%s, short-term", name);
    expect(found.short_ns, short_ns, trace, what);
    snprintf(what, sizeof what, "%s, long-term", name);
    expect(found.long_ns, long_ns, trace, what);
}

static double places_sum(const struct delays *delays)
{
    double ns = 0;
    for (size_t i = 0; i < delays->place_count; i++)
        ns += delays->places[i].short_ns + delays->places[i].long_ns;
    return ns;
}

static double all_of(const struct delays *delays, size_t offset)
{
    double ns = 0;
    for (int kind = 0; kind < WAIT_CAUSED_COUNT; kind++)
        ns += *(const double *)((const char *)&delays->waits[kind] + offset);
    return ns;
}
#define ALL_OF(delays, member) all_of(delays, offsetof(struct delay_waits, member))

/* True if costs and what is not attributed are all waits, by process and by place, and all parts are parts. */
static bool keeps_laws(const struct delays *delays, size_t processes)
{
    double costs = 0, waits = ALL_OF(delays, ns), lost = ALL_OF(delays, unattributed_ns);
    bool fine = true;
    for (size_t i = 0; i < processes; i++)
        costs += delays_location_ns(delays, i);
    for (int kind = 0; kind < WAIT_CAUSED_COUNT; kind++) {
        const struct delay_waits *of = &delays->waits[kind];
        double cost = of->unattributed_ns;
        for (size_t i = 0; i < processes; i++)
            cost += delays->locations[i].short_ns[kind] + delays->locations[i].long_ns[kind];
        fine &= is_near(cost, of->ns);
        fine &= is_near(of->direct_ns + of->indirect_ns, of->ns);
        fine &= is_near(of->propagating_ns + of->terminal_ns, of->ns);
        fine &= of->unattributed_ns >= 0 && of->indirect_ns >= 0 && of->direct_ns >= -1e-9 * of->ns;
        fine &= of->propagating_ns >= 0 && of->terminal_ns >= 0;
    }
    return fine && is_near(costs + lost, waits) && is_near(places_sum(delays) + lost, waits);
}

static void expect_laws(const struct delays *delays, size_t processes, double waits, const char *name)
{
    tap_ok(keeps_laws(delays, processes), "%s: costs are waits", name);
    expect(ALL_OF(delays, ns), waits, name, "all waits");
}

/* Example A1, and its variant where the last process works longer. */
static void test_chain(int64_t last, const char *name, double recv, double bar, double foo, double indirect)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++) {
        moment(&trace, p, 0);
        instant(&trace, p, IRECV, p == 0 ? 60 : p == 2 ? last : 15);
    }
    message(&trace, 0, SEND, 60, 62, 1);
    message(&trace, 1, RECV, 15, 63, 0);
    message(&trace, 1, SEND, 75, 77, 2);
    message(&trace, 2, RECV, last, 78, 1);
    struct delays delays = delayed(&trace, 3);
    double second = (double)(75 - last);
    expect_place(&delays, TIME_FROM_BEGIN, IRECV, 45, foo, name, "foo");
    expect_place(&delays, TIME_IN_CALL, RECV, recv, 0, name, "receive");
    expect_place(&delays, RECV, SEND, bar, 0, name, "bar");
    expect(delays_location_ns(&delays, locations[0]), 45 + foo, name, "cost of process 0");
    expect(delays_location_ns(&delays, locations[1]), recv + bar, name, "cost of process 1");
    expect(delays_location_ns(&delays, locations[2]), 0, name, "cost of process 2");
    expect(delays.locations[locations[0]].short_ns[WAIT_LATE_SENDER], 45, name, "short-term cost in late senders");
    expect(delays.locations[locations[0]].long_ns[WAIT_LATE_SENDER], foo, name, "long-term cost in late senders");
    const struct delay_waits *waits = &delays.waits[WAIT_LATE_SENDER];
    expect(waits->indirect_ns, indirect, name, "indirect waiting");
    expect(waits->direct_ns, 45 + second - indirect, name, "direct waiting");
    expect(waits->propagating_ns, indirect, name, "propagating waiting");
    expect(waits->unattributed_ns, 0, name, "what is not attributed");
    expect_laws(&delays, 3, 45 + second, name);
    delays_clear(&delays);
}

/* Example A2: a late sender feeds a barrier; every waiter has its own interval. */
static void test_late_sender_at_barrier(void)
{
    static const char name[] = "A2";
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++) {
        moment(&trace, p, 0);
        instant(&trace, p, IRECV, p == 0 ? 50 : 20);
    }
    message(&trace, 0, SEND, 50, 51, 1);
    call(&trace, 0, BARRIER, 61, 82);
    message(&trace, 1, RECV, 20, 54, 0);
    call(&trace, 1, BARRIER, 81, 82);
    call(&trace, 2, BARRIER, 20, 82);
    struct delays delays = delayed(&trace, 3);
    expect_place(&delays, TIME_FROM_BEGIN, IRECV, 30, 30, name, "foo");
    expect_place(&delays, TIME_IN_CALL, RECV, 6, 0, name, "receive");
    expect_place(&delays, RECV, BARRIER, 45, 0, name, "bar");
    expect_place(&delays, SEND, BARRIER, 0, 0, name, "qux");
    expect(delays_location_ns(&delays, locations[0]), 60, name, "cost of process 0");
    expect(delays_location_ns(&delays, locations[1]), 51, name, "cost of process 1");
    expect(delays.locations[locations[0]].short_ns[WAIT_LATE_SENDER], 30, name, "foo in late senders, short-term");
    expect(delays.locations[locations[0]].long_ns[WAIT_AT_BARRIER], 30, name, "foo at barriers, long-term");
    expect(delays.waits[WAIT_AT_BARRIER].indirect_ns, 30, name, "indirect waiting at the barrier");
    expect(delays.waits[WAIT_LATE_SENDER].propagating_ns, 30, name, "propagating waiting of the receive");
    expect(ALL_OF(&delays, unattributed_ns), 0, name, "what is not attributed");
    expect_laws(&delays, 3, 111, name);
    delays_clear(&delays);
}

/* Example A3: a barrier, several kinds of work. */
static void test_several_kinds(void)
{
    static const char name[] = "A3";
    static const int64_t work[4][3] = {{10, 0, 0}, {15, 5, 0}, {25, 15, 0}, {15, 0, 15}};
    static const uint32_t ends[3] = {IRECV, PROBE, WAITALL};
    struct trace trace = {0};
    for (uint32_t p = 0; p < 4; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BARRIER, 0, 0);
        int64_t now = 0;
        /* Each kind of work has its own function after it, and comes after a barrier of its own. */
        for (int kind = 0; kind < 3; kind++) {
            now += work[p][kind];
            instant(&trace, p, ends[kind], now);
        }
        call(&trace, p, BARRIER, now, 41);
    }
    struct delays delays = delayed(&trace, 4);
    expect_place(&delays, BARRIER, IRECV, 29, 0, name, "a");
    expect_place(&delays, IRECV, PROBE, 31, 0, name, "b");
    expect_place(&delays, PROBE, WAITALL, 0, 0, name, "c");
    expect(delays.locations[locations[2]].short_ns[WAIT_AT_BARRIER], 60, name, "cost of process 2");
    expect_laws(&delays, 4, 60, name);
    delays_clear(&delays);
}

static void test_balanced(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 4; p++) {
        moment(&trace, p, 0);
        for (int64_t round = 0; round < 5; round++) {
            message(&trace, p, SEND, round * 20 + 5, round * 20 + 6, (int32_t)((p + 1) % 4));
            message(&trace, p, RECV, round * 20 + 7, round * 20 + 8, (int32_t)((p + 3) % 4));
            call(&trace, p, BARRIER, round * 20 + 10, round * 20 + 12);
        }
        call(&trace, p, FINALIZE, 100, 101);
    }
    struct delays delays = delayed(&trace, 4);
    tap_equal_int((long long)delays.place_count, 0, "balanced: no place has a cost");
    expect_laws(&delays, 4, 0, "balanced");
    delays_clear(&delays);
    delays = delayed(&trace, 0);
    expect_laws(&delays, 0, 0, "no events at all");
    delays_clear(&delays);
}

/* Maps equal but in one place: that place has all cost. Long intervals go over the sums. */
static void test_one_place(int rounds, const char *name)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++) {
        int64_t now = 0;
        moment(&trace, p, 0);
        for (int round = 0; round < rounds; round++) {
            instant(&trace, p, IRECV, now);
            call(&trace, p, PROBE, now + 4, now + 6);
            instant(&trace, p, WAITALL, now += p == 1 ? 13 : 11);
        }
        call(&trace, p, BARRIER, now, 20 * rounds);
        call(&trace, p, FINALIZE, 20 * rounds + 10, 20 * rounds + 10);
    }
    struct delays delays = delayed(&trace, 3);
    expect_place(&delays, PROBE, WAITALL, 4.0 * rounds, 0, name, "the work that is longer");
    expect(delays_location_ns(&delays, locations[1]), 4.0 * rounds, name, "cost of process 1");
    tap_equal_int((long long)delays.place_count, 1, "%s: no other place has a cost", name);
    expect_laws(&delays, 3, 4.0 * rounds, name);
    delays_clear(&delays);
}

/* A process that sends ten messages where the others send one is late by its sends. */
static void test_delay_in_mpi(void)
{
    static const char name[] = "delay inside MPI";
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++) {
        int64_t now = 10;
        moment(&trace, p, 0);
        for (int i = 0; i < (p == 0 ? 10 : 1); i++, now += 5)
            call(&trace, p, SEND, now, now + 5);
        call(&trace, p, BARRIER, now, 61);
    }
    struct delays delays = delayed(&trace, 3);
    expect_place(&delays, TIME_IN_CALL, SEND, 90, 0, name, "sends");
    expect(delays.locations[locations[0]].short_ns[WAIT_AT_BARRIER], 90, name, "cost of process 0 at the barrier");
    expect_laws(&delays, 3, 90, name);
    delays_clear(&delays);
}

static void sub_barrier(struct trace *trace, uint32_t process, int64_t enter, int64_t leave)
{
    call(trace, process, BARRIER, enter, leave);
    for (size_t i = 1; i <= 2; i++)
        trace->events[process][trace->count[process] - i].comm = 1;
}

/* A barrier of two ties only these: the third process counts from the world's barrier before. */
static void test_sub_communicator(void)
{
    static const char name[] = "barrier of two";
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BARRIER, 10, 10);
    }
    instant(&trace, 0, IRECV, 20);
    sub_barrier(&trace, 0, 20, 40);
    instant(&trace, 1, IRECV, 40);
    sub_barrier(&trace, 1, 40, 40);
    instant(&trace, 2, IRECV, 15);
    instant(&trace, 0, PROBE, 45);
    instant(&trace, 1, PROBE, 60);
    instant(&trace, 2, PROBE, 15);
    for (uint32_t p = 0; p < 3; p++)
        call(&trace, p, BARRIER, p == 0 ? 45 : p == 1 ? 60 : 15, 61);
    struct delays delays = delayed(&trace, 3);
    /* Process 0 waits 20 in the small barrier, and 15 in the large one for the work after the small one: 20 - 5.
       Process 2 waits 45: for 30 - 5 of one work and 20 of the other. */
    expect_place(&delays, BARRIER, IRECV, 20 + 25, 0, name, "work before");
    expect_place(&delays, BARRIER, PROBE, 15 + 20, 0, name, "work behind");
    expect(delays_location_ns(&delays, locations[0]), 0, name, "cost of process 0");
    expect(delays_location_ns(&delays, locations[1]), 80, name, "cost of process 1");
    expect(delays_location_ns(&delays, locations[2]), 0, name, "cost of process 2");
    expect_laws(&delays, 3, 80, name);
    delays_clear(&delays);
}

static void sendrecv(struct trace *trace, uint32_t process, int64_t enter, int64_t leave, int32_t to, int32_t from)
{
    put(trace, process, EVENT_ENTER, enter, WAITALL);
    struct event *event = put(trace, process, EVENT_SEND, enter, 0);
    event->partner = to;
    event->tag = 0;
    event = put(trace, process, EVENT_RECEIVE, leave, 0);
    event->partner = from;
    event->tag = 0;
    put(trace, process, EVENT_LEAVE, leave, WAITALL);
}

/* Where a call sends and then waits, its wait is not taken for a delay of its own: process 0 is the root of all. */
static void test_send_and_wait(void)
{
    static const char name[] = "calls that send and wait";
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++)
        moment(&trace, p, 0);
    /* 2 waits for 1, which waits for 0; then 2 waits for 1 again. */
    sendrecv(&trace, 0, 50, 51, 1, 7);
    sendrecv(&trace, 1, 20, 52, 2, 0);
    sendrecv(&trace, 2, 10, 22, 7, 1);
    instant(&trace, 1, IRECV, 62);
    message(&trace, 1, SEND, 62, 63, 2);
    instant(&trace, 2, IRECV, 32);
    message(&trace, 2, RECV, 32, 64, 1);
    struct delays delays = delayed(&trace, 3);
    /* The interval begins at 22: of 1 it has 28 of waiting, 2 of the call and 10 of work; 10 of work of 2. */
    expect(delays_location_ns(&delays, locations[0]), 30 + 28, name, "cost of process 0");
    expect(delays_location_ns(&delays, locations[1]), 10 + 2, name, "cost of process 1");
    expect(delays.waits[WAIT_LATE_SENDER].indirect_ns, 28, name, "indirect waiting");
    expect_laws(&delays, 3, 10 + 30 + 30, name);
    delays_clear(&delays);
}

/* All to one: the latest sender delays the root; one to all: the root delays the others. */
static void test_rooted(void)
{
    static const char name[] = "with a root";
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++)
        moment(&trace, p, 0);
    rooted(&trace, 0, REDUCE, 10, 31, 0);
    rooted(&trace, 1, REDUCE, 20, 31, 0);
    rooted(&trace, 2, REDUCE, 30, 31, 0);
    rooted(&trace, 0, BCAST, 61, 62, 0);
    rooted(&trace, 1, BCAST, 41, 62, 0);
    rooted(&trace, 2, BCAST, 70, 71, 0);
    struct delays delays = delayed(&trace, 3);
    expect(delays.waits[WAIT_EARLY_REDUCE].ns, 10, name, "early reduce");
    expect(delays_location_ns(&delays, locations[2]), 10, name, "cost of process 2");
    expect(delays.locations[locations[0]].short_ns[WAIT_LATE_BROADCAST], 20, name, "cost of the root");
    expect_place(&delays, REDUCE, BCAST, 20, 0, name, "its work");
    expect_laws(&delays, 3, 30, name);
    delays_clear(&delays);
}

/* Events against all causality, and missing partners: nothing hangs, and the sums still hold. */
static void test_broken(void)
{
    struct trace trace = {0};
    message(&trace, 0, RECV, 10, 20, 1);
    message(&trace, 1, SEND, 25, 26, 0);
    message(&trace, 1, RECV, 30, 40, 0);
    call(&trace, 0, BARRIER, 50, 60);
    call(&trace, 0, BARRIER, 70, 80);
    call(&trace, 1, BARRIER, 55, 60);
    struct delays delays = delayed(&trace, 2);
    expect_laws(&delays, 2, 15, "received before sent");
    delays_clear(&delays);
    message(&trace, 0, RECV, 0, 5, 1);
    message(&trace, 0, SEND, 6, 7, 1);
    message(&trace, 1, RECV, 0, 5, 0);
    message(&trace, 1, SEND, 6, 7, 0);
    delays = delayed(&trace, 2);
    expect_laws(&delays, 2, 10, "a circle");
    delays_clear(&delays);
}

/* Times at random, and not in order: only the laws are left. */
static void test_random_damage(void)
{
    int kept = 0, runs = 0;
    for (; runs < 300; runs++) {
        struct trace trace = {0};
        uint32_t processes = 2 + (uint32_t)random_below(4);
        int64_t range = runs % 3 == 0 ? 10 : runs % 3 == 1 ? 1000 : INT64_MAX / 2;
        for (int i = 0; i < 200; i++) {
            static const uint32_t states[] = {SEND, RECV, BARRIER, ALLREDUCE, BCAST, REDUCE, SSEND, WAITALL};
            uint32_t p = (uint32_t)random_below(processes), state = states[random_below(8)];
            int64_t enter = random_below(1 << 20) % range * (range / (1 << 20) + 1), leave = enter + random_below(9);
            if (state == BARRIER || state == ALLREDUCE)
                call(&trace, p, state, enter, leave);
            else if (state == BCAST || state == REDUCE)
                rooted(&trace, p, state, enter, leave, (int32_t)random_below(processes));
            else if (state == WAITALL)
                sendrecv(&trace, p, enter, leave, (int32_t)random_below(processes), (int32_t)random_below(processes));
            else
                message(&trace, p, state, enter, leave, (int32_t)random_below(processes));
        }
        struct delays delays = delayed(&trace, processes);
        kept += keeps_laws(&delays, processes);
        delays_clear(&delays);
    }
    tap_equal_int(kept, runs, "random damage: costs are waits");
}

static void test_random(void)
{
    int kept = 0, attributed = 0, together = 0, runs = 0;
    for (uint32_t processes = 2; processes <= LOCATIONS; processes++)
        for (int i = 0; i < 45; i++, runs++) {
            struct trace trace = {0};
            run_make(&trace, processes);
            struct graph *graph = graph_of(&trace, processes);
            double waits = 0;
            for (uint32_t location = 0; location < graph->location_count; location++)
                for (uint32_t c = 0; c < graph->locations[location].count; c++)
                    waits += (double)wait_of(graph, location, c).ns;
            struct delays delays = delays_of(graph);
            kept += keeps_laws(&delays, processes) && waits > 0;
            together += is_near(waits, ALL_OF(&delays, ns));
            attributed += ALL_OF(&delays, unattributed_ns) <= 1e-9 * waits;
            delays_clear(&delays);
            graph_free(graph);
        }
    tap_equal_int(together, runs, "random: the waits are those of wait_of");
    tap_equal_int(kept, runs, "random: costs are waits, and parts are parts");
    tap_equal_int(attributed, runs, "random: everything is attributed");
}

int main(void)
{
    defs_make();
    test_chain(15, "A1", 3, 12, 45, 45);
    test_chain(35, "A1 variant", 2, 8, 30, 30);
    test_late_sender_at_barrier();
    test_several_kinds();
    test_balanced();
    test_one_place(1, "equal but one");
    test_one_place(1000, "equal but one, long");
    test_delay_in_mpi();
    test_sub_communicator();
    test_send_and_wait();
    test_rooted();
    test_broken();
    test_random_damage();
    test_random();
    defs_free(defs);
    return tap_done();
}
