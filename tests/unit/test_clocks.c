/* SPDX-License-Identifier: BSD-3-Clause */
/* Correction of clocks: the controlled logical clock, and whole runs whose clocks were made wrong. Numbers
   of the small cases were computed by hand. */
#include "clocks/clock_lines.h"
#include "clocks/clocks.h"
#include "clocks/logical_clock.h"
#include "convert/record/record_run.h"
#include "graph/match.h"
#include "hand_trace.h"
#include "tap.h"

#include <math.h>

/* A master asked a slave twice: at 1000, which the slave answered at its 5021, and had the answer at 1040; and 100910,
   105021, 100930. The slave's stamp 55021 is the master's 50970. */
static void test_exchange(void)
{
    struct record_clock_line line = {.first_ns = 1020,
                                     .first_offset_ns = 5021 - 1020,
                                     .last_ns = 100920,
                                     .last_offset_ns = 105021 - 100920,
                                     .points = 2};
    tap_ok(record_clock_offset(&line, 1020) == 4001 && record_clock_offset(&line, 100920) == 4101,
           "offsets where they were measured");
    tap_equal_int(50970 + record_clock_offset(&line, 50970), 55021, "between them the offset is on the line");
    tap_equal_int(record_clock_offset(&line, 100920 + 3 * 99900) - 4101, 100, "which goes on as far again, no farther");
    line.points = 1;
    tap_equal_int(record_clock_offset(&line, 50970), 4001, "one measurement: no drift is made up");
}

/* The logical clock: process A sends at 100, B receives at 90. */

enum { PROCESS_A, PROCESS_B, PROCESS_C };

static void add_message(struct causality *causality, int64_t send_ns, uint32_t sender, int64_t receive_ns,
                        uint32_t receiver)
{
    ARRAY_PUSH(causality->messages, causality->message_count, causality->message_capacity,
               (struct causal_message){send_ns, receive_ns, sender, receiver});
}

static void add_event(struct causality *causality, uint32_t timeline, uint32_t index, enum causal_kind kind,
                      uint32_t ordinal)
{
    struct causal_timeline *where = &causality->timelines[timeline];
    ARRAY_PUSH(where->events, where->count, where->capacity, (struct causal_event){index << 2 | kind, ordinal});
}

static struct causality *two_timelines(int64_t begin_ns)
{
    struct causality *causality = memory_new(sizeof *causality);
    for (uint32_t i = 0; i < 3; i++)
        ARRAY_PUSH(causality->timelines, causality->timeline_count, causality->timeline_capacity,
                   (struct causal_timeline){.process = i, .begin_ns = begin_ns, .end_ns = 1000});
    return causality;
}

enum { B_EVENTS = 9 };
static const int64_t b_events[B_EVENTS] = {15, 50, 60, 70, 80, 90, 100, 130, 240};

static bool b_becomes(struct clock_map *map, const struct clock_scale *scale, const int64_t want[B_EVENTS])
{
    bool same = true;
    clock_map_rewind(map);
    for (size_t i = 0; i < B_EVENTS; i++) {
        int64_t got = clock_map_next(map, scale, b_events[i], 1);
        same &= got == want[i];
        if (got != want[i])
            printf("# event at %lld: got %lld, want %lld\n", (long long)b_events[i], (long long)got,
                   (long long)want[i]);
    }
    return same;
}

/* Message 0 from A to B; message 1, if it is `sent`, leaves B at 50 and reaches C at 58. */
static bool example(double gamma, double slope, bool sent, const int64_t want[B_EVENTS])
{
    struct causality *causality = two_timelines(15);
    struct clock_map maps[3] = {0};
    struct clock_scale scale = {.back = 1 - gamma};
    add_message(causality, 100, PROCESS_A, 90, PROCESS_B);
    add_event(causality, PROCESS_A, 0, CAUSAL_SEND, 0);
    if (sent) {
        add_message(causality, 50, PROCESS_B, 58, PROCESS_C);
        add_event(causality, PROCESS_B, 1, CAUSAL_SEND, 1);
        add_event(causality, PROCESS_C, 1, CAUSAL_RECEIVE, 0);
    }
    add_event(causality, PROCESS_B, 0, CAUSAL_RECEIVE, 5);
    uint64_t left =
        logical_clock_run(causality, maps, &scale, (struct logical_clock_options){.latency_ns = 5, .slope = slope});
    bool same = left == 0 && b_becomes(&maps[PROCESS_B], &scale, want);
    for (size_t i = 0; i < 3; i++)
        clock_map_clear(&maps[i]);
    causality_free(causality);
    return same;
}

static void test_logical_clock(void)
{
    tap_ok(example(1, 0, false, (int64_t[]){15, 50, 60, 70, 80, 105, 115, 145, 255}),
           "gamma 1: what follows a jump stays moved");
    tap_ok(example(0.9, 0, false, (int64_t[]){15, 50, 60, 70, 80, 105, 114, 141, 240}), "gamma 0.9: it comes back");
    tap_ok(example(0.5, 0, false, (int64_t[]){15, 50, 60, 70, 80, 105, 110, 130, 240}), "gamma 0.5: sooner");
    tap_ok(example(0.5, 0.01, false, (int64_t[]){15, 57, 69, 81, 93, 105, 110, 130, 240}),
           "ramp 0.01: from the first event on");
    tap_ok(example(0.5, 0.01, true, (int64_t[]){15, 53, 66, 79, 92, 105, 110, 130, 240}),
           "a send that may move by 3 only: steeper behind it");
    tap_ok(example(0.5, 0.25, false, (int64_t[]){15, 55, 68, 80, 93, 105, 110, 130, 240}),
           "ramp 0.25: from 30 on, rounded to whole ns");
}

static void test_left_piece(void)
{
    /* Events of B between its first and the send lie on the line with the slope 3/35. */
    struct causality *causality = two_timelines(15);
    struct clock_map maps[3] = {0};
    struct clock_scale scale = {.back = 0.5};
    add_message(causality, 100, PROCESS_A, 90, PROCESS_B);
    add_message(causality, 50, PROCESS_B, 58, PROCESS_C);
    add_event(causality, PROCESS_A, 0, CAUSAL_SEND, 0);
    add_event(causality, PROCESS_B, 1, CAUSAL_SEND, 2);
    add_event(causality, PROCESS_C, 1, CAUSAL_RECEIVE, 0);
    add_event(causality, PROCESS_B, 0, CAUSAL_RECEIVE, 3);
    (void)logical_clock_run(causality, maps, &scale, (struct logical_clock_options){.latency_ns = 5, .slope = 0.01});
    struct clock_map *map = &maps[PROCESS_B];
    tap_equal_int(clock_map_next(map, &scale, 15, 1), 15, "a process's first event stays");
    tap_equal_int(clock_map_next(map, &scale, 38, 1), 40, "left of the send the ramp is flatter: 23 * 3/35");
    tap_equal_int(clock_map_next(map, &scale, 50, 1), 53, "the send is moved as far as it may");
    for (size_t i = 0; i < 3; i++)
        clock_map_clear(&maps[i]);
    causality_free(causality);
}

static void test_barrier(void)
{
    struct causality *causality = two_timelines(0);
    struct clock_map maps[3] = {0};
    struct clock_scale scale = {.back = 0};
    static const int64_t enters[] = {100, 120, 90}, leaves[] = {121, 122, 118};
    ARRAY_PUSH(causality->gates, causality->gate_count, causality->gate_capacity, (struct causal_gate){0});
    causality->call_count = 1;
    for (uint32_t i = 0; i < 3; i++) {
        ARRAY_PUSH(causality->points, causality->point_count, causality->point_capacity,
                   (struct causal_point){.time_ns = enters[i], .timeline = i});
        ARRAY_PUSH(causality->points, causality->point_count, causality->point_capacity,
                   (struct causal_point){.time_ns = leaves[i], .timeline = i, .leaves = true});
        add_event(causality, i, 2 * i, CAUSAL_ENTER, 0);
        add_event(causality, i, 2 * i + 1, CAUSAL_LEAVE, 1);
    }
    struct clock_errors errors = causality_errors(causality, NULL);
    tap_ok(errors.instances == 1 && errors.torn == 1 && errors.worst_instance_ns == 2,
           "a barrier left before all are in");
    (void)logical_clock_run(causality, maps, &scale, (struct logical_clock_options){.latency_ns = 1});
    tap_ok(causality->points[1].time_ns == 121 && causality->points[3].time_ns == 122 &&
               causality->points[5].time_ns == 121,
           "its leaves become 121, 122, 121");
    for (size_t i = 0; i < 3; i++)
        clock_map_clear(&maps[i]);
    causality_free(causality);
}

static void test_circle(void)
{
    /* Each receives before it sends what the other waits for: no run was like that. */
    struct causality *causality = two_timelines(0);
    struct clock_map maps[3] = {0};
    struct clock_scale scale = {.back = 0};
    add_message(causality, 20, PROCESS_A, 10, PROCESS_B);
    add_message(causality, 20, PROCESS_B, 10, PROCESS_A);
    add_event(causality, PROCESS_A, 1, CAUSAL_RECEIVE, 0);
    add_event(causality, PROCESS_A, 0, CAUSAL_SEND, 1);
    add_event(causality, PROCESS_B, 0, CAUSAL_RECEIVE, 0);
    add_event(causality, PROCESS_B, 1, CAUSAL_SEND, 1);
    uint64_t left = logical_clock_run(causality, maps, &scale, (struct logical_clock_options){.slope = 0.01});
    tap_equal_int((long long)left, 1, "a circle of waiting is left open at one place");
    tap_ok(causality->messages[0].send_ns <= causality->messages[0].receive_ns, "the rest is in order");
    for (size_t i = 0; i < 3; i++)
        clock_map_clear(&maps[i]);
    causality_free(causality);
}

/* Whole runs: events of all processes in one row, process by process. */

struct run {
    struct event *events;
    size_t count, capacity;
    uint32_t processes;
};

static struct run run_of(struct trace *trace, uint32_t processes)
{
    struct run run = {.processes = processes};
    for (uint32_t p = processes; p-- > 0;) {
        for (size_t i = 0; i < trace->count[p]; i++)
            ARRAY_PUSH(run.events, run.count, run.capacity, trace->events[p][i]);
        free(trace->events[p]);
    }
    *trace = (struct trace){0};
    return run;
}

/* Neighbours in a ring that may be large, with barriers; messages take 3 to 12, sends 2. */
static struct run ring_of(uint32_t processes, int rounds, bool barriers)
{
    struct run run = {.processes = processes};
    struct trace one;
    int64_t *now = memory_new(processes * sizeof *now), *sent = memory_new(processes * sizeof *sent);
    struct {
        int64_t send, enter, leave, barrier;
    } *at = memory_new((size_t)rounds * processes * sizeof *at);
    for (int round = 0; round < rounds; round++) {
        int64_t latest = 0;
        for (uint32_t p = 0; p < processes; p++) {
            now[p] += 1000 + random_below(1000);
            sent[p] = at[(size_t)round * processes + p].send = now[p];
            now[p] += 2 + random_below(300);
        }
        for (uint32_t p = 0; p < processes; p++) {
            uint32_t from = (p + (round % 2 ? 1 : processes - 1)) % processes;
            int64_t there = sent[from] + 3 + random_below(10);
            at[(size_t)round * processes + p].enter = now[p];
            now[p] = at[(size_t)round * processes + p].leave = (there > now[p] ? there : now[p]) + 1;
            latest = now[p] > latest ? now[p] : latest;
        }
        for (uint32_t p = 0; barriers && p < processes; p++) {
            at[(size_t)round * processes + p].barrier = now[p];
            now[p] = latest + 1 + random_below(5);
        }
    }
    for (uint32_t p = 0; p < processes; p++) {
        one = (struct trace){0};
        for (int round = 0; round < rounds; round++) {
            uint32_t back = (p + processes - 1) % processes, on = (p + 1) % processes;
            size_t i = (size_t)round * processes + p;
            message(&one, 0, SEND, at[i].send, at[i].send + 2, (int32_t)(round % 2 ? back : on));
            message(&one, 0, RECV, at[i].enter, at[i].leave, (int32_t)(round % 2 ? on : back));
            if (barriers && round + 1 < rounds)
                call(&one, 0, BARRIER, at[i].barrier, at[i + processes].send - 1000);
        }
        for (size_t i = 0; i < one.count[0]; i++) {
            one.events[0][i].process = p;
            ARRAY_PUSH(run.events, run.count, run.capacity, one.events[0][i]);
        }
        free(one.events[0]);
    }
    free(now);
    free(sent);
    free(at);
    return run;
}

static void feed(const struct run *run, struct sink *sink)
{
    struct batch *batch = memory_new(sizeof *batch);
    struct error err = {0};
    defs->processes = run->processes;
    bool fine = !sink->begin || sink->begin(sink, defs, &err) == STATUS_OK;
    for (size_t i = 0; i < run->count; i++) {
        batch->events[batch->count++] = run->events[i];
        if (batch->count == BATCH_EVENTS || i + 1 == run->count) {
            fine &= sink->events(sink, batch, &err) == STATUS_OK;
            batch_clear(batch);
        }
    }
    fine &= !sink->end || sink->end(sink, &(struct trace_end){.complete = true}, &err) == STATUS_OK;
    if (!fine)
        abort();
    free(batch);
}

/* Reads the run, corrects its events in place. */
static struct clocks *fix(struct run *run)
{
    struct causality_builder *builder = causality_builder_new();
    feed(run, causality_builder_sink(builder));
    struct clocks *clocks = clocks_of(causality_builder_end(builder));
    struct batch *batch = memory_new(sizeof *batch);
    for (size_t i = 0; i < run->count; i += batch->count) {
        batch->count = run->count - i < BATCH_EVENTS ? run->count - i : BATCH_EVENTS;
        memcpy(batch->events, run->events + i, batch->count * sizeof *batch->events);
        clocks_correct(clocks, batch);
        memcpy(run->events + i, batch->events, batch->count * sizeof *batch->events);
    }
    free(batch);
    return clocks;
}

static struct run copy_of(const struct run *run)
{
    struct run copy = *run;
    copy.events = memory_new(run->capacity * sizeof *copy.events);
    memcpy(copy.events, run->events, run->count * sizeof *copy.events);
    return copy;
}

static struct match_counts matches(const struct run *run)
{
    struct matcher *matcher = matcher_new();
    feed(run, matcher_sink(matcher));
    struct match_counts counts = matcher_counts(matcher);
    matcher_free(matcher);
    return counts;
}

static uint64_t torn(const struct run *run)
{
    struct causality_builder *builder = causality_builder_new();
    feed(run, causality_builder_sink(builder));
    struct causality *causality = causality_builder_end(builder);
    struct clock_errors errors = causality_errors(causality, NULL);
    causality_free(causality);
    return errors.torn;
}

/* Events of a process that lie before their predecessor. */
static size_t disorder(const struct run *run)
{
    size_t wrong = 0;
    for (size_t i = 1; i < run->count; i++)
        wrong +=
            run->events[i].process == run->events[i - 1].process && run->events[i].time_ns < run->events[i - 1].time_ns;
    return wrong;
}

/* Process p's clock shows time * (1 + drift) + offset. */
static void break_clock(struct run *run, uint32_t process, double offset, double drift)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->events[i].process == process)
            run->events[i].time_ns += llrint(offset + drift * (double)run->events[i].time_ns);
}

static bool same_times(const struct run *a, const struct run *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->events[i].time_ns != b->events[i].time_ns)
            return false;
    return true;
}

/* Largest difference of an event's time from the truth. */
static int64_t farthest(const struct run *a, const struct run *b)
{
    int64_t most = 0;
    for (size_t i = 0; i < a->count; i++) {
        int64_t away = llabs(a->events[i].time_ns - b->events[i].time_ns);
        most = away > most ? away : most;
    }
    return most;
}

static void test_clean(void)
{
    struct trace trace = {0};
    run_make(&trace, 5);
    struct run run = run_of(&trace, 5), truth = copy_of(&run);
    struct clocks *clocks = fix(&run);
    tap_ok(!clocks->corrected && clocks->recorded.messages == 150 && clocks->recorded.early == 0,
           "a clean run: nothing to correct");
    tap_ok(same_times(&run, &truth), "and no time changes");
    clocks_free(clocks);
    free(run.events);
    free(truth.events);
}

static void test_offsets(uint32_t processes, bool barriers)
{
    struct run truth = ring_of(processes, 40, barriers), run = copy_of(&truth);
    tap_ok(matches(&truth).received_before_sent == 0 && torn(&truth) == 0 && disorder(&truth) == 0,
           "%u processes, barriers %d: the run itself is fine", processes, barriers);
    for (uint32_t p = 1; p < processes; p++)
        break_clock(&run, p, (double)(random_below(2000000) - 1000000), 0);
    tap_ok(matches(&run).received_before_sent > 10, "with clocks wrong by up to 1 ms it is not");
    struct clocks *clocks = fix(&run);
    tap_ok(clocks->aligned.worst_ns <= 20, "offsets put messages in order: %lld ns left",
           (long long)clocks->aligned.worst_ns);
    tap_ok(matches(&run).received_before_sent == 0 && torn(&run) == 0, "nothing is out of order after that");
    tap_equal_int((long long)disorder(&run), 0, "no process's events are");
    /* A hop of the ring is known to some 300, the time between entering a receive and the send that it waits for. */
    tap_ok(farthest(&run, &truth) < 350 * (int64_t)processes / 2, "times are near the truth again: %lld",
           (long long)farthest(&run, &truth));
    clocks_free(clocks);
    free(run.events);
    free(truth.events);
}

static void test_drifts(uint32_t processes)
{
    struct run truth = ring_of(processes, 400, true), run = copy_of(&truth);
    for (uint32_t p = 1; p < processes; p++)
        break_clock(&run, p, (double)(random_below(2000000) - 1000000), (double)(random_below(20000) - 10000) * 1e-6);
    int64_t before = matches(&run).worst_ns;
    struct clocks *clocks = fix(&run);
    tap_ok(clocks->aligned.worst_ns < before / 100, "%u processes: drifts up to 1 %% are found (%lld ns left of %lld)",
           processes, (long long)clocks->aligned.worst_ns, (long long)before);
    tap_ok(matches(&run).received_before_sent == 0 && torn(&run) == 0 && disorder(&run) == 0,
           "what is left the logical clock puts in order");
    tap_ok(farthest(&run, &truth) < 400 * (int64_t)processes / 2, "times are near the truth again: %lld",
           (long long)farthest(&run, &truth));
    clocks_free(clocks);
    free(run.events);
    free(truth.events);
}

/* Only one process's clock is wrong: only that one is moved, also if it is process 0. */
static void test_one_wrong(uint32_t wrong)
{
    struct run truth = ring_of(8, 40, false), run = copy_of(&truth);
    break_clock(&run, wrong, 5e6, 0);
    struct clocks *clocks = fix(&run);
    bool others = false;
    for (size_t i = 0; i < clocks->count; i++)
        others |= clocks->rows[i].process != wrong && clocks->rows[i].largest_ns != 0;
    tap_ok(!others && llabs(clocks->rows[wrong].offset_ns + 5000000) < 500, "only process %u is moved, by 5 ms", wrong);
    clocks_free(clocks);
    free(run.events);
    free(truth.events);
}

/* A clock that steps in the middle of the run: no line fits. */
static void test_step(void)
{
    struct run truth = ring_of(4, 200, true), run = copy_of(&truth);
    for (size_t i = 0; i < run.count; i++)
        if (run.events[i].process == 2 && run.events[i].time_ns > 200000)
            run.events[i].time_ns += 3000;
    struct clocks *clocks = fix(&run);
    tap_ok(clocks->recorded.early > 0 && clocks->aligned.early > 0, "a clock that steps is not corrected by a line");
    tap_ok(matches(&run).received_before_sent == 0 && torn(&run) == 0 && disorder(&run) == 0,
           "but by the logical clock");
    clocks_free(clocks);
    free(run.events);
    free(truth.events);
}

static void test_alone(void)
{
    struct trace trace = {0};
    message(&trace, 0, SEND, 100, 110, 1);
    message(&trace, 1, RECV, 20, 60, 0);
    call(&trace, 2, IRECV, 10, 20);
    struct run run = run_of(&trace, 3);
    struct clocks *clocks = fix(&run);
    const struct clock_row *rows[3];
    for (size_t i = 0; i < 3; i++)
        rows[clocks->rows[i].process] = &clocks->rows[i];
    tap_ok(rows[2]->alone && rows[2]->largest_ns == 0,
           "a process without partners is left alone, and that is reported");
    tap_ok(rows[1]->loose && rows[0]->reference && rows[1]->offset_ns == 40 && rows[1]->drift == 0,
           "one message, one way: its receiver is put forward until it fits");
    clocks_free(clocks);
    free(run.events);
    call(&trace, 0, IRECV, 10, 20);
    call(&trace, 1, IRECV, 10, 20);
    run = run_of(&trace, 2);
    clocks = fix(&run);
    tap_ok(!clocks->corrected && clocks->recorded.messages == 0 && clocks->recorded.instances == 0,
           "no messages at all: nothing to correct by");
    clocks_free(clocks);
    free(run.events);
}

/* A part of the processes talks among itself, on a communicator of its own. */
static void test_parts(void)
{
    struct run first = ring_of(4, 40, true), second = ring_of(4, 40, true);
    for (size_t i = 0; i < second.count; i++) {
        struct event event = second.events[i];
        event.process += 4;
        event.comm = event.partner_comm = 1;
        event.partner += event.kind == EVENT_SEND || event.kind == EVENT_RECEIVE ? 4 : 0;
        ARRAY_PUSH(first.events, first.count, first.capacity, event);
    }
    free(second.events);
    first.processes = 8;
    struct run truth = copy_of(&first);
    break_clock(&first, 6, 7e6, 0);
    struct clocks *clocks = fix(&first);
    tap_ok(matches(&first).received_before_sent == 0 && torn(&first) == 0, "two parts: all in order");
    size_t references = 0, moved = 0;
    for (size_t i = 0; i < clocks->count; i++) {
        references += clocks->rows[i].reference;
        moved += clocks->rows[i].largest_ns > 0;
    }
    tap_ok(references == 2 && moved == 1, "each part has its reference; one process is moved");
    clocks_free(clocks);
    free(first.events);
    free(truth.events);
}

/* Only barriers: their bounds must do. */
static void test_barriers_only(void)
{
    struct trace trace = {0};
    int64_t now = 0;
    for (int round = 0; round < 50; round++, now += 2000)
        for (uint32_t p = 0; p < 4; p++)
            call(&trace, p, BARRIER, now + random_below(500), now + 501 + random_below(5));
    struct run run = run_of(&trace, 4);
    break_clock(&run, 1, 100000, 0);
    tap_ok(torn(&run) == 50, "barriers that a clock tears apart");
    struct clocks *clocks = fix(&run);
    tap_ok(clocks->aligned.worst_instance_ns < 20 && torn(&run) == 0 && disorder(&run) == 0, "are put together again");
    tap_ok(llabs(clocks->rows[1].offset_ns + 100000) < 300, "and show the offset");
    clocks_free(clocks);
    free(run.events);
}

/* Two pairs of processes (nodes, say) that talk among themselves only; all meet in barriers. The second pair's clocks
   are ahead. */
static void test_tied_by_barriers(void)
{
    struct trace trace = {0};
    int64_t now = 0;
    for (int round = 0; round < 50; round++, now += 4000)
        for (uint32_t p = 0; p < 4; p++) {
            uint32_t other = p ^ 1;
            if (p % 2 == 0)
                message(&trace, p, SEND, now + 1000, now + 1002, (int32_t)other);
            else
                message(&trace, p, RECV, now + 900, now + 1010 + random_below(20), (int32_t)other);
            call(&trace, p, BARRIER, now + 1500 + random_below(300), now + 1801 + random_below(5));
        }
    struct run run = run_of(&trace, 4);
    break_clock(&run, 2, 100000, 0);
    break_clock(&run, 3, 100000, 0);
    tap_ok(matches(&run).received_before_sent == 0 && torn(&run) == 50,
           "no message shows that two nodes' clocks differ: barriers do");
    struct clocks *clocks = fix(&run);
    tap_ok(torn(&run) == 0 && matches(&run).received_before_sent == 0 && disorder(&run) == 0, "all is in order again");
    tap_ok(clocks->rows[0].largest_ns == 0 && clocks->rows[1].largest_ns == 0 &&
               llabs(clocks->rows[2].offset_ns + 100000) < 300 && llabs(clocks->rows[3].offset_ns + 100000) < 300,
           "the second node is moved, the first is not");
    tap_ok(clocks->rows[3].width_ns >= 0 && clocks->rows[3].width_ns < 1500 && !clocks->rows[3].loose,
           "and what the barriers leave open is reported: %lld ns", (long long)clocks->rows[3].width_ns);
    clocks_free(clocks);
    free(run.events);
}

/* Rooted collectives bind to and from the root only, and only where bytes move. */
static void test_rooted(void)
{
    struct trace trace = {0};
    rooted(&trace, 0, BCAST, 500, 510, 0);
    rooted(&trace, 1, BCAST, 100, 400, 0); /* left before the root came */
    rooted(&trace, 2, BCAST, 300, 600, 0);
    struct run run = run_of(&trace, 3);
    tap_equal_int((long long)torn(&run), 1, "a broadcast left before its root came");
    run.events[run.count - 2].bytes_sent = 0; /* of process 0, which comes last */
    tap_equal_int((long long)torn(&run), 0, "not where the root gives nothing");
    free(run.events);
    rooted(&trace, 0, REDUCE, 100, 400, 0); /* the root left before process 1 came */
    rooted(&trace, 1, REDUCE, 500, 510, 0);
    rooted(&trace, 2, REDUCE, 300, 310, 0);
    run = run_of(&trace, 3);
    tap_equal_int((long long)torn(&run), 1, "a reduction that the root left too early");
    clocks_free(fix(&run));
    tap_ok(torn(&run) == 0 && disorder(&run) == 0, "is repaired");
    free(run.events);
    call(&trace, 0, FINALIZE, 500, 510);
    call(&trace, 1, FINALIZE, 100, 110);
    run = run_of(&trace, 2);
    tap_equal_int((long long)torn(&run), 0, "MPI_Finalize need not wait for anybody");
    free(run.events);
}

/* Times that no clock shows, and clocks that run backwards, end in something; order is kept where there was one. */
static void test_hostile(void)
{
    struct trace trace = {0};
    static const int64_t far = INT64_C(9000000000000000000);
    message(&trace, 0, SEND, far - 1, far, 1);
    message(&trace, 1, RECV, -far, 1 - far, 0);
    message(&trace, 1, SEND, 2 - far, 3 - far, 0);
    message(&trace, 0, RECV, far, far, 1);
    struct run run = run_of(&trace, 2);
    clocks_free(fix(&run));
    tap_ok(matches(&run).received_before_sent == 0 && disorder(&run) == 0, "times at both ends of what there is");
    free(run.events);
    for (int i = 0; i < 2000; i++) {
        uint32_t p = (uint32_t)random_below(4);
        message(&trace, p, i % 2 ? SEND : RECV, random_below(2) ? random_below(1000) : far - random_below(1000),
                random_below(1000), (int32_t)random_below(4));
        call(&trace, p, BARRIER, -random_below(1000), random_below(100));
    }
    run = run_of(&trace, 4);
    struct clocks *clocks = fix(&run);
    bool inside = true;
    for (size_t i = 0; i < run.count; i++)
        inside &= run.events[i].time_ns >= -far && run.events[i].time_ns <= far;
    tap_ok(inside && clocks->count == 4, "times without any order: all stay within what there is");
    clocks_free(clocks);
    free(run.events);
}

/* Clocks that no machine has (drifts of any size, times from one end of what there is to the other) and messages
   without sense: each process's events are in order before, and must be so afterwards. */
static void test_order_stays(void)
{
    size_t wrong = 0;
    for (int round = 0; round < 400; round++) {
        struct trace trace = {0};
        uint32_t processes = 2 + (uint32_t)random_below(3);
        for (uint32_t p = 0; p < processes; p++) {
            int64_t step = INT64_C(1) << random_below(58), now = -random_below(2) * step * 20;
            for (int i = 0; i < 30; i++) {
                int64_t begin = now + random_below(1000) * (step / 1000 + 1),
                        end = begin + random_below(4) * (step / 8);
                now = random_below(8) == 0 ? end + 1 : end + step / 10;
                int kind = (int)random_below(3);
                if (kind == 2)
                    call(&trace, p, BARRIER, begin, end);
                else
                    message(&trace, p, kind ? SEND : RECV, begin, end, (int32_t)random_below(processes));
            }
        }
        struct run run = run_of(&trace, processes);
        size_t before = disorder(&run);
        clocks_free(fix(&run));
        wrong += before == 0 ? disorder(&run) : 1;
        free(run.events);
    }
    tap_equal_int((long long)wrong, 0, "clocks that no machine has: no event gets before its predecessor");
}

/* Clocks of low resolution: several events of a process have the same time. */
static void test_ties(void)
{
    struct trace trace = {0};
    message(&trace, 0, SEND, 0, 1000, 1);
    message(&trace, 0, SEND, 2000, 3000, 1);
    moment(&trace, 1, 0);
    message(&trace, 1, SEND, 1000, 1000, 0); /* must be received at 1000 at the latest */
    message(&trace, 1, RECV, 1000, 1000, 0);
    message(&trace, 1, RECV, 1000, 1000, 0); /* cannot be before 2000 */
    moment(&trace, 1, 1000);
    message(&trace, 0, RECV, 900, 1000, 1);
    struct run run = run_of(&trace, 2);
    clocks_free(fix(&run));
    tap_ok(matches(&run).received_before_sent == 0, "of events with the same time only those after the receive jump");
    free(run.events);
}

int main(void)
{
    defs_make();
    test_exchange();
    test_logical_clock();
    test_left_piece();
    test_barrier();
    test_circle();
    test_clean();
    test_offsets(2, false);
    test_offsets(8, true);
    test_offsets(64, false);
    test_offsets(64, true);
    test_drifts(2);
    test_drifts(8);
    test_drifts(64);
    test_one_wrong(0);
    test_one_wrong(5);
    test_step();
    test_alone();
    test_parts();
    test_barriers_only();
    test_tied_by_barriers();
    test_rooted();
    test_hostile();
    test_order_stays();
    test_ties();
    defs_free(defs);
    return tap_done();
}
