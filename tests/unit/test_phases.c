/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases and iterations across processes: traces made by hand, whose loops and borders are known. */
#include "phases/phases.h"

#include "core/memory.h"
#include "unit/hand_trace.h"
#include "unit/tap.h"

#include <stdlib.h>

/* Feeds the events to a sink of user spans, process by process. */
static struct user_spans *spans_of(const struct trace *trace, uint32_t processes)
{
    struct user_spans_builder *builder = user_spans_builder_new();
    struct sink *sink = user_spans_builder_sink(builder);
    trace_feed(trace, processes, sink);
    return user_spans_builder_end(builder);
}

static struct phases *found(struct trace *trace, uint32_t processes)
{
    struct user_spans *spans = spans_of(trace, processes);
    struct graph *graph = graph_of(trace, processes);
    struct phases *phases = phases_of(graph, spans);
    graph_free(graph);
    user_spans_free(spans);
    return phases;
}

static void expect_phases(const struct phases *phases, const char *want, const char *name)
{
    char got[1000] = "";
    for (size_t i = 0; i < phases->count; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? "|" : "", phases->phase[i].name);
    tap_equal_string(got, want, "%s: phases", name);
}

/* On each process phases begin with its first event, end with its last, and none goes back; each moment has its phase
   and its iteration. */
static void expect_tiles(const struct phases *phases, const char *name)
{
    bool tiled = true, found_again = true;
    for (uint32_t p = 0; p < phases->loops.process_count; p++) {
        for (size_t i = 0; i < phases->count; i++) {
            int64_t begin = phases_begin(phases, p, i), end = phases_begin(phases, p, i + 1);
            tiled &= begin <= end;
            if (begin < end)
                found_again &= phases_at(phases, p, begin) == i && phases_at(phases, p, end - 1) == i;
        }
        uint32_t loop = phases->main_loop;
        for (uint32_t k = 0; loop != PHASE_NONE && k < phases->loops.rows[loop].matched; k++) {
            int64_t begin = common_loops_start(&phases->loops, loop, p, k),
                    end = common_loops_start(&phases->loops, loop, p, k + 1);
            if (begin == INT64_MIN)
                continue;
            tiled &= begin < end;
            found_again &=
                phases_iteration_at(phases, loop, p, begin) == k && phases_iteration_at(phases, loop, p, end - 1) == k;
        }
    }
    tap_ok(tiled, "%s: no gap and no overlap on any process", name);
    tap_ok(found_again, "%s: each moment is found in its phase and iteration", name);
}

/* Ten iterations of computing, a message round the ring and an Allreduce, between 500 of setting up and 300 of ending.
   Rank r computes 50 + 10 r; iterations are therefore not simultaneous before the Allreduce. */
static void make_ring(struct trace *trace, uint32_t processes, uint32_t iterations, uint32_t short_rank)
{
    int64_t period = 200;
    for (uint32_t p = 0; p < processes; p++) {
        int64_t now = 500;
        moment(trace, p, 0);
        call(trace, p, BCAST, 100, 500);
        for (uint32_t k = 0; k < iterations - (p == short_rank); k++, now += period) {
            int64_t at = now + 50 + 10 * p;
            message(trace, p, SEND, at, at + 2, (int32_t)((p + 1) % processes));
            message(trace, p, RECV, at + 2, now + 150, (int32_t)((p + processes - 1) % processes));
            call(trace, p, ALLREDUCE, now + 150, now + period);
        }
        moment(trace, p, 500 + period * iterations + 300);
    }
}

static void test_ring(void)
{
    struct trace trace = {0};
    make_ring(&trace, 4, 10, LOCATIONS);
    struct phases *phases = found(&trace, 4);
    expect_phases(phases, "before loop|loop|after loop", "ring");
    tap_ok(phases->source == PHASES_FROM_LOOPS, "ring: cut by its loop");
    expect_tiles(phases, "ring");
    if (tap_ok(phases->main_loop != PHASE_NONE, "ring: a loop")) {
        const struct loop_row *row = &phases->loops.rows[phases->main_loop];
        tap_equal_int(row->most, 10, "ring: ten iterations");
        tap_equal_int(row->processes, 4, "ring: on all processes");
        tap_equal_string(row->name, "MPI_Send, MPI_Recv, MPI_Allreduce", "ring: its body");
        tap_equal_int(row->time_ns, row->computing_ns + row->waiting_ns + row->communicating_ns, "ring: times add up");
        for (uint32_t p = 0; p < 4; p++)
            for (uint32_t k = 0; k <= 10; k += 5)
                tap_equal_int(common_loops_start(&phases->loops, phases->main_loop, p, k), 500 + 200 * (int64_t)k,
                              "ring: process %u, iteration %u begins with its computing", p, k);
        tap_equal_int(phases_iteration_at(phases, phases->main_loop, 2, 499), PHASE_NONE, "ring: before it");
        tap_equal_int(phases_iteration_at(phases, phases->main_loop, 2, 2500), PHASE_NONE, "ring: behind it");
        tap_equal_int(phases_at(phases, 1, -5), 0, "ring: before the first event is the first phase");
        tap_equal_int(phases_at(phases, 1, 99999), 2, "ring: behind the last event is the last phase");
    }
    tap_equal_int(phases->phase[1].begin_ns, 500, "ring: the loop's phase begins");
    tap_equal_int(phases->phase[1].end_ns, 2500, "ring: the loop's phase ends");
    phases_free(phases);
}

/* The computing before the loop is long, that of all iterations is 50: the first does not get more. */
static void test_first_iteration(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 2; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BCAST, 0, 10);
        for (int k = 0; k < 5; k++)
            call(&trace, p, BARRIER, 1000 + 60 * k, 1010 + 60 * k);
    }
    struct phases *phases = found(&trace, 2);
    if (tap_ok(phases->main_loop != PHASE_NONE, "first iteration: a loop")) {
        tap_equal_int(common_loops_start(&phases->loops, phases->main_loop, 0, 0), 950,
                      "first iteration: begins as long before its call as the others");
        tap_equal_int(common_loops_start(&phases->loops, phases->main_loop, 0, 1), 1010, "second: behind the call");
    }
    phases_free(phases);
}

/* One of eight turns once less: seven of eight are too few, so that the world's collectives decide, which the one
   lacks, too: no iteration is common. */
static void test_ragged(void)
{
    struct trace trace = {0};
    make_ring(&trace, 8, 10, 3);
    struct phases *phases = found(&trace, 8);
    tap_ok(phases->main_loop == PHASE_NONE, "ragged: no common iteration");
    expect_phases(phases, "the whole run", "ragged");
    tap_equal_int((long long)phases->loops.role_count, 1, "ragged: the same role all the same");
    if (tap_equal_int((long long)phases->loops.count, 2, "ragged: its loop is reported")) {
        tap_equal_int(phases->loops.rows[1].least, 9, "ragged: turns of the one");
        tap_equal_int(phases->loops.rows[1].most, 10, "ragged: turns of the others");
        tap_equal_int(phases->loops.rows[1].processes, 8, "ragged: on all");
    }
    phases_free(phases);
}

/* A recording that was cut: of 200 iterations one process has 199. */
static void test_cut(void)
{
    struct trace trace = {0};
    make_ring(&trace, 4, 200, 2);
    struct phases *phases = found(&trace, 4);
    if (tap_ok(phases->main_loop != PHASE_NONE, "cut: iterations"))
        tap_equal_int(phases->loops.rows[phases->main_loop].matched, 199, "cut: those that all have");
    expect_tiles(phases, "cut");
    phases_free(phases);
}

/* Long setting up, then iterations of many barriers and an Allreduce: the barriers are the inner loop. */
static void test_inner(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++) {
        call(&trace, p, BCAST, 0, 10000);
        int64_t now = 10000;
        for (int k = 0; k < 5; k++) {
            for (int i = 0; i < 20; i++, now += 10)
                call(&trace, p, BARRIER, now + 5, now + 10);
            call(&trace, p, ALLREDUCE, now + 40, now + 50);
            now += 50;
        }
    }
    struct phases *phases = found(&trace, 3);
    if (tap_ok(phases->main_loop != PHASE_NONE, "inner: a loop")) {
        const struct loop_row *row = &phases->loops.rows[phases->main_loop];
        tap_equal_int(row->matched, 5, "inner: five iterations, not a hundred");
        tap_equal_string(row->name, "(MPI_Barrier), MPI_Allreduce", "inner: with a loop inside");
        tap_equal_int(phases->loops.rows[phases->main_loop + 1].most, 100, "inner: that turns a hundred times in all");
    }
    phases_free(phases);
}

/* Two inner loops of the same function: it is named once, and the second leaves no empty brackets. */
static void test_inner_twice(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++) {
        int64_t now = 0;
        for (int k = 0; k < 5; k++)
            for (int i = 0; i < 42; i++, now += 10)
                call(&trace, p, i == 20 ? BCAST : i == 41 ? ALLREDUCE : BARRIER, now + 5, now + 10);
    }
    struct phases *phases = found(&trace, 3);
    if (tap_ok(phases->main_loop != PHASE_NONE, "inner twice: a loop"))
        tap_equal_string(phases->loops.rows[phases->main_loop].name, "(MPI_Barrier), MPI_Bcast, MPI_Allreduce",
                         "inner twice: no empty brackets");
    phases_free(phases);
}

/* Between two Allreduces each process makes another number of exchanges: only the Allreduces are common. */
static void test_world(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 4; p++) {
        moment(&trace, p, 0);
        for (int k = 0; k < 6; k++) {
            int64_t now = 1000 * (int64_t)k;
            for (int i = 0; i < 1 + (int)((p * 7 + (uint32_t)(k * k)) % 5); i++)
                call(&trace, p, (k + (int)p) % 2 ? PROBE : IRECV, now + 10 * i, now + 10 * i + 1);
            rooted(&trace, p, (k * (int)p) % 3 ? REDUCE : ALLREDUCE, now + 500, now + 510, 0);
            call(&trace, p, BARRIER, now + 900, now + 1000);
        }
    }
    struct phases *phases = found(&trace, 4);
    tap_ok(phases->loops.by_world == (phases->main_loop != PHASE_NONE), "world: said");
    if (phases->main_loop != PHASE_NONE) {
        tap_equal_int(phases->loops.rows[phases->main_loop].most, 6, "world: six iterations");
        tap_equal_int(common_loops_start(&phases->loops, phases->main_loop, 3, 2), 2000, "world: cut at barriers");
    }
    expect_tiles(phases, "world");
    phases_free(phases);
}

/* A master answers three workers, which ask as often as they like. */
static void test_master(void)
{
    struct trace trace = {0};
    int64_t now = 10;
    moment(&trace, 0, 0);
    for (const char *worker = "1231321121331213212113113221"; *worker; worker++, now += 20) {
        int32_t w = *worker - '0';
        message(&trace, 0, RECV, now, now + 10, w);
        message(&trace, 0, SEND, now + 10, now + 12, w);
        message(&trace, (uint32_t)w, SEND, now + 4, now + 6, 0);
        message(&trace, (uint32_t)w, RECV, now + 6, now + 14, 0);
    }
    for (uint32_t p = 0; p < 4; p++)
        moment(&trace, p, now);
    struct phases *phases = found(&trace, 4);
    tap_ok(phases->main_loop == PHASE_NONE, "master: no common iteration");
    tap_equal_int((long long)phases->loops.role_count, 2, "master: two roles");
    tap_ok(phases->loops.roles[1] == phases->loops.roles[2] && phases->loops.roles[2] == phases->loops.roles[3] &&
               phases->loops.roles[0] != phases->loops.roles[1],
           "master: the workers are one of them");
    for (size_t i = 0; i < phases->loops.count; i++) {
        const struct loop_row *row = &phases->loops.rows[i];
        if (row->depth != 1)
            continue;
        bool master = row->role == phases->loops.roles[0];
        tap_equal_int(row->processes, master ? 1 : 3, "master: processes of a role");
        tap_equal_int(row->least, master ? 28 : 7, "master: fewest turns");
        tap_equal_int(row->most, master ? 28 : 13, "master: most turns");
    }
    phases_free(phases);
}

/* No call comes again: nothing is found, and said. With calls of the world far apart there are phases. */
static void test_none(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BCAST, 1, 2);
        call(&trace, p, PROBE, 3, 4);
        call(&trace, p, IRECV, 5, 6);
        moment(&trace, p, 10000);
    }
    struct phases *phases = found(&trace, 3);
    tap_ok(phases->main_loop == PHASE_NONE && phases->source == PHASES_FROM_NONE, "none: no iteration found");
    expect_phases(phases, "the whole run", "none");
    tap_equal_int((long long)phases->loops.count, 1, "none: no loop");
    expect_tiles(phases, "none");
    phases_free(phases);
    for (uint32_t p = 0; p < 3; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BCAST, 2990, 3000);
        call(&trace, p, BARRIER, 3010, 3020);
        call(&trace, p, ALLREDUCE, 6990, 7000);
        moment(&trace, p, 10000);
    }
    phases = found(&trace, 3);
    tap_ok(phases->source == PHASES_FROM_SYNCHRONISATIONS, "synchronisations: cut by them");
    expect_phases(phases, "phase 1|phase 2|phase 3", "synchronisations");
    tap_equal_int(phases_begin(phases, 2, 1), 3000, "synchronisations: at the end of the first");
    tap_equal_int(phases_begin(phases, 2, 2), 7000, "synchronisations: at the end of the last");
    expect_tiles(phases, "synchronisations");
    phases_free(phases);
    phases = found(&trace, 0);
    tap_ok(phases->count == 0 && phases->loops.count == 0, "nothing: no process, no phase");
    phases_free(phases);
}

static uint32_t user_state(const char *name)
{
    return defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t)name});
}

/* C21: cut points at 0, 3 and 10; a state that reaches over 3 is split there. States of the program, and events. */
static void test_user(void)
{
    struct trace trace = {0};
    uint32_t solve = user_state("solve"), output = user_state("output"), main_state = user_state("main");
    for (uint32_t p = 0; p < 2; p++) {
        call(&trace, p, solve, 0, 3);
        call(&trace, p, output, 3, 10);
    }
    struct phases *phases = found(&trace, 2);
    tap_ok(phases->source == PHASES_FROM_USER, "user: cut by the program");
    expect_phases(phases, "solve|output", "user");
    tap_equal_int(phases_begin(phases, 1, 1), 3, "user: cut");
    tap_equal_int(phases_at(phases, 0, 2), 0, "user: before the cut");
    tap_equal_int(phases_at(phases, 0, 3), 1, "user: at the cut");
    phases_free(phases);
    /* The same inside a state that is the program, with gaps; one process has a state of its own, too. */
    for (uint32_t p = 0; p < 2; p++) {
        put(&trace, p, EVENT_ENTER, 0, main_state);
        call(&trace, p, solve, 1000, 4000 + 100 * p);
        call(&trace, p, solve, 4200, 5000);
        if (p == 1)
            call(&trace, p, user_state("extra"), 5100, 5200);
        call(&trace, p, output, 6000, 7000);
        put(&trace, p, EVENT_LEAVE, 10000, main_state);
    }
    phases = found(&trace, 2);
    expect_phases(phases, "before solve|solve|after solve|output|after output", "user states inside main");
    tap_equal_int(phases_begin(phases, 1, 1), 1000, "user states: begin");
    tap_equal_int(phases_begin(phases, 1, 2), 5000, "user states: two that follow each other are one");
    expect_tiles(phases, "user states");
    phases_free(phases);
    uint32_t mark = defs_add_mark(defs, &(struct mark_def){.name = (char *)(uintptr_t) "refined"});
    for (uint32_t p = 0; p < 2; p++) {
        call(&trace, p, BCAST, 0, 10);
        put(&trace, p, EVENT_MARK, 400 + p, mark);
        call(&trace, p, BARRIER, 990, 1000);
    }
    phases = found(&trace, 2);
    expect_phases(phases, "before refined|refined", "user events");
    tap_equal_int(phases_begin(phases, 1, 1), 401, "user events: cut");
    phases_free(phases);
    /* A repeated part is a loop, recognised by its calls. */
    for (uint32_t p = 0; p < 2; p++)
        for (int k = 0; k < 6; k++) {
            call(&trace, p, solve, 1000 * k, 1000 * k + 500);
            call(&trace, p, output, 1000 * k + 500, 1000 * k + 900);
            call(&trace, p, BARRIER, 1000 * k + 900, 1000 * k + 1000);
        }
    phases = found(&trace, 2);
    tap_ok(phases->source == PHASES_FROM_LOOPS, "user: states of a loop's body are no phases");
    phases_free(phases);
    /* Parts in a different order on some processes are not phases of the run. */
    for (uint32_t p = 0; p < 2; p++) {
        call(&trace, p, p ? solve : output, 0, 3);
        call(&trace, p, p ? output : solve, 3, 10);
    }
    phases = found(&trace, 2);
    tap_ok(phases->source == PHASES_FROM_NONE, "user: not in the same order");
    phases_free(phases);
}

/* C4: A and B entered, A left with B open: B ends then. X left without enter: counted from the begin. */
static void test_exits(void)
{
    struct trace trace = {0};
    uint32_t a = user_state("A"), b = user_state("B"), x = user_state("X");
    moment(&trace, 0, 0);
    put(&trace, 0, EVENT_LEAVE, 50, x);
    put(&trace, 0, EVENT_ENTER, 100, a);
    put(&trace, 0, EVENT_ENTER, 120, b);
    put(&trace, 0, EVENT_LEAVE, 150, a);
    put(&trace, 0, EVENT_ENTER, 200, b);
    put(&trace, 0, EVENT_MARK, 300, 0);
    struct user_spans *spans = spans_of(&trace, 1);
    const struct user_process *process = user_spans_of(spans, 0);
    if (tap_equal_int((long long)process->states[0].count, 3, "exits: X, A and B outermost")) {
        const struct user_span *span = process->states[0].spans;
        tap_ok(span[0].name == x && span[0].begin_ns == 0 && span[0].end_ns == 50, "exits: X from the begin");
        tap_ok(span[1].name == a && span[1].begin_ns == 100 && span[1].end_ns == 150, "exits: A");
        tap_ok(span[2].name == b && span[2].begin_ns == 200 && span[2].end_ns == 300, "exits: B to the last event");
    }
    const struct user_span *inner = process->states[1].spans;
    tap_ok(process->states[1].count == 1 && inner->name == b && inner->begin_ns == 120 && inner->end_ns == 150,
           "exits: the B inside ends with A");
    tap_equal_int((long long)process->crossing, 1, "exits: flagged as left with another open");
    tap_equal_int((long long)process->stray, 1, "exits: flagged as left without enter");
    tap_equal_int((long long)process->unclosed, 1, "exits: flagged as never left");
    user_spans_free(spans);
    free(trace.events[0]);
    trace = (struct trace){0};
    for (int i = 0; i < 2 * USER_SPANS_MOST; i++)
        call(&trace, 0, i % 2 ? a : b, 10 * i, 10 * i + 5);
    spans = spans_of(&trace, 1);
    tap_ok(user_spans_of(spans, 0)->states[0].overflow && user_spans_of(spans, 0)->states[0].count == 0,
           "too many to be phases: none is kept");
    user_spans_free(spans);
    free(trace.events[0]);
}

int main(void)
{
    defs_make();
    defs_add_mark(defs, &(struct mark_def){.name = (char *)(uintptr_t) "moment"});
    test_ring();
    test_first_iteration();
    test_ragged();
    test_cut();
    test_inner();
    test_inner_twice();
    test_world();
    test_master();
    test_none();
    test_user();
    test_exits();
    defs_free(defs);
    return tap_done();
}
