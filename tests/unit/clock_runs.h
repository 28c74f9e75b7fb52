/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TESTS_UNIT_CLOCK_RUNS_H
#define SIGHT_TESTS_UNIT_CLOCK_RUNS_H

#include "clocks/clocks.h"
#include "core/memory.h"
#include "graph/graph.h"
#include "graph/wait.h"

#include <math.h>
#include <stdlib.h>

/* Runs of a machine that is made up, but like one: nodes, latencies with jitter, work that is uneven and noisy; and
   clocks whose offset and rate against true time are known, so that a correction can be compared with the truth.

   A message takes 0.5 us within a node and 2 us between nodes, and longer by an exponentially distributed jitter of 0.2
   and 1 us on average; one of 50 meets other traffic, 20 us on average. A collective is left log2(processes) such
   latencies after the last has entered. Work is even but for 3 % of a process's own and 2 % of each round, a twentieth
   of the rounds has a pause of a tenth somewhere. */

enum run_pattern {
    RUN_GRID,      /* four neighbours on a torus, both ways; an MPI_Allreduce every 20 rounds */
    RUN_CHAIN,     /* from each to the next, one way only */
    RUN_REDUCTIONS /* an MPI_Allreduce a round, nothing else */
};

enum run_clocks {
    CLOCKS_OFFSET, /* off by up to 10 ms */
    CLOCKS_DRIFT,  /* and fast or slow by up to 20 us a second */
    CLOCKS_WOBBLE  /* and that rate changes by up to 1 us a second to and fro, every 40 to 80 s */
};

struct run_plan {
    uint32_t processes, node; /* processes on a node; 0: each process has a clock of its own */
    uint32_t rounds;
    int64_t work_ns; /* of a round */
    enum run_pattern pattern;
    enum run_clocks clocks;
    uint64_t seed;
};

struct run_event {
    int64_t time_ns, true_ns;
    uint32_t process, partner;
    uint8_t kind, state; /* enum event_kind; enum run_state */
};
enum run_state { RUN_SEND, RUN_RECV, RUN_ALLREDUCE, RUN_STATES };

struct run_clock {
    double offset, rate, swing, phase, period_ns; /* offset in ns, the rest per ns */
};

struct clock_run {
    struct run_plan plan;
    struct defs *defs;
    struct run_event *events; /* process by process */
    size_t count;
    struct run_clock *clocks; /* by process */
    uint64_t state;
};

static double run_random(struct clock_run *run)
{
    uint64_t z = run->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double run_between(struct clock_run *run, double most)
{
    return (2 * run_random(run) - 1) * most;
}

static double run_exponential(struct clock_run *run, double mean)
{
    return -mean * log(1 - run_random(run));
}

static int64_t run_latency(struct clock_run *run, uint32_t from, uint32_t to)
{
    uint32_t node = run->plan.node ? run->plan.node : 1;
    bool near = from / node == to / node;
    double ns = near ? 500 + run_exponential(run, 200) : 2000 + run_exponential(run, 1000);
    if (run_random(run) < 0.02)
        ns += run_exponential(run, 20000);
    return llrint(ns);
}

/* How far the process's clock is ahead. */
static double run_clock_error(const struct clock_run *run, uint32_t process, int64_t true_ns)
{
    const struct run_clock *clock = &run->clocks[process];
    double t = (double)true_ns, turn = 2 * acos(-1) / clock->period_ns;
    return clock->offset + clock->rate * t + clock->swing / turn * (sin(turn * t + clock->phase) - sin(clock->phase));
}

static void run_set_clocks(struct clock_run *run)
{
    uint32_t node = run->plan.node ? run->plan.node : 1;
    run->clocks = memory_new(run->plan.processes * sizeof *run->clocks);
    for (uint32_t p = 0; p < run->plan.processes; p++) {
        struct run_clock *clock = &run->clocks[p];
        *clock = (struct run_clock){.period_ns = 6e10};
        if (p % node != 0) {
            *clock = run->clocks[p - p % node];
            continue;
        }
        clock->offset = run_between(run, 1e7);
        if (run->plan.clocks >= CLOCKS_DRIFT)
            clock->rate = run_between(run, 20e-6);
        if (run->plan.clocks >= CLOCKS_WOBBLE) {
            clock->swing = run_between(run, 1e-6);
            clock->phase = run_between(run, 3);
            clock->period_ns = 6e10 + run_between(run, 2e10);
        }
    }
}

/* A process's events so far. */
struct run_location {
    struct run_event *events;
    size_t count, capacity;
    int64_t now_ns;
    double own; /* how much more work it has */
};

static void run_put(struct run_location *location, uint32_t process, enum event_kind kind, enum run_state state,
                    int64_t true_ns, uint32_t partner)
{
    ARRAY_PUSH(location->events, location->count, location->capacity,
               (struct run_event){true_ns, true_ns, process, partner, (uint8_t)kind, (uint8_t)state});
}

static void run_send(struct run_location *location, uint32_t process, uint32_t partner)
{
    run_put(location, process, EVENT_ENTER, RUN_SEND, location->now_ns, 0);
    run_put(location, process, EVENT_SEND, RUN_SEND, location->now_ns + 50, partner);
    location->now_ns += 400;
    run_put(location, process, EVENT_LEAVE, RUN_SEND, location->now_ns, 0);
}

static void run_receive(struct clock_run *run, struct run_location *location, uint32_t process, uint32_t partner,
                        int64_t sent_ns)
{
    int64_t there_ns = sent_ns + run_latency(run, partner, process);
    run_put(location, process, EVENT_ENTER, RUN_RECV, location->now_ns, 0);
    location->now_ns = (there_ns > location->now_ns ? there_ns : location->now_ns) + 300;
    run_put(location, process, EVENT_RECEIVE, RUN_RECV, location->now_ns, partner);
    location->now_ns += 50;
    run_put(location, process, EVENT_LEAVE, RUN_RECV, location->now_ns, 0);
}

static void run_work(struct clock_run *run, struct run_location *location)
{
    double work = (double)run->plan.work_ns * (1 + location->own + run_between(run, 0.02));
    if (run_random(run) < 0.05)
        work *= 1.1;
    location->now_ns += llrint(work);
}

static void run_reduce(struct clock_run *run, struct run_location *locations)
{
    int64_t latest_ns = 0;
    double depth = ceil(log2(run->plan.processes));
    for (uint32_t p = 0; p < run->plan.processes; p++) {
        run_put(&locations[p], p, EVENT_ENTER, RUN_ALLREDUCE, locations[p].now_ns, 0);
        latest_ns = locations[p].now_ns > latest_ns ? locations[p].now_ns : latest_ns;
    }
    for (uint32_t p = 0; p < run->plan.processes; p++) {
        locations[p].now_ns = latest_ns + llrint(depth * (double)run_latency(run, p, 0));
        run_put(&locations[p], p, EVENT_LEAVE, RUN_ALLREDUCE, locations[p].now_ns, 0);
    }
}

/* The neighbours of a process on a torus that is as square as can be; of two processes the other. */
static uint32_t run_neighbours(uint32_t processes, uint32_t process, uint32_t neighbours[4])
{
    uint32_t columns = (uint32_t)sqrt(processes);
    while (processes % columns != 0)
        columns--;
    uint32_t rows = processes / columns, x = process % columns, y = process / columns, count = 0;
    uint32_t all[] = {y * columns + (x + 1) % columns, y * columns + (x + columns - 1) % columns,
                      (y + 1) % rows * columns + x, (y + rows - 1) % rows * columns + x};
    for (uint32_t i = 0; i < 4; i++) {
        bool known = all[i] == process;
        for (uint32_t k = 0; k < count; k++)
            known |= neighbours[k] == all[i];
        if (!known)
            neighbours[count++] = all[i];
    }
    return count;
}

static void run_grid_round(struct clock_run *run, struct run_location *locations)
{
    uint32_t neighbours[4], theirs[4];
    int64_t(*sent)[4] = memory_new(run->plan.processes * sizeof *sent);
    for (uint32_t p = 0; p < run->plan.processes; p++) {
        run_work(run, &locations[p]);
        uint32_t count = run_neighbours(run->plan.processes, p, neighbours);
        for (uint32_t i = 0; i < count; i++) {
            sent[p][i] = locations[p].now_ns + 50;
            run_send(&locations[p], p, neighbours[i]);
        }
    }
    for (uint32_t p = 0; p < run->plan.processes; p++) {
        uint32_t count = run_neighbours(run->plan.processes, p, neighbours);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t from = neighbours[i], others = run_neighbours(run->plan.processes, from, theirs), k = 0;
            while (k < others && theirs[k] != p)
                k++;
            run_receive(run, &locations[p], p, from, sent[from][k]);
        }
    }
    free(sent);
}

static void run_chain_round(struct clock_run *run, struct run_location *locations)
{
    int64_t sent_ns = 0;
    for (uint32_t p = 0; p < run->plan.processes; p++) {
        if (p > 0)
            run_receive(run, &locations[p], p, p - 1, sent_ns);
        run_work(run, &locations[p]);
        sent_ns = locations[p].now_ns + 50;
        if (p + 1 < run->plan.processes)
            run_send(&locations[p], p, p + 1);
    }
}

static struct defs *run_defs(uint32_t processes)
{
    static const char *const names[RUN_STATES] = {"MPI_Send", "MPI_Recv", "MPI_Allreduce"};
    struct defs *result = defs_new();
    for (size_t i = 0; i < RUN_STATES; i++)
        defs_add_state(result, &(struct state_def){.name = (char *)(uintptr_t)names[i]});
    int32_t world = defs_comm(result, 0);
    result->comms[world].world = true;
    result->processes = processes;
    return result;
}

static struct clock_run run_new(struct run_plan plan)
{
    struct clock_run run = {.plan = plan, .defs = run_defs(plan.processes), .state = plan.seed};
    struct run_location *locations = memory_new(plan.processes * sizeof *locations);
    run_set_clocks(&run);
    for (uint32_t p = 0; p < plan.processes; p++)
        locations[p].own = run_between(&run, 0.03);
    for (uint32_t round = 0; round < plan.rounds; round++) {
        if (plan.pattern == RUN_GRID)
            run_grid_round(&run, locations);
        if (plan.pattern == RUN_CHAIN)
            run_chain_round(&run, locations);
        for (uint32_t p = 0; plan.pattern == RUN_REDUCTIONS && p < plan.processes; p++)
            run_work(&run, &locations[p]);
        if (plan.pattern == RUN_REDUCTIONS || (plan.pattern == RUN_GRID && round % 20 == 19))
            run_reduce(&run, locations);
    }
    for (uint32_t p = 0; p < plan.processes; p++)
        run.count += locations[p].count;
    run.events = memory_new(run.count * sizeof *run.events);
    size_t at = 0;
    for (uint32_t p = 0; p < plan.processes; p++) {
        for (size_t i = 0; i < locations[p].count; i++)
            run.events[at++] = locations[p].events[i];
        free(locations[p].events);
    }
    free(locations);
    return run;
}

static void run_free(struct clock_run *run)
{
    defs_free(run->defs);
    free(run->events);
    free(run->clocks);
}

/* The times that the processes' clocks show. */
static void run_break(struct clock_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        struct run_event *event = &run->events[i];
        event->time_ns = event->true_ns + llrint(run_clock_error(run, event->process, event->true_ns));
    }
}

static void run_expand(const struct run_event *from, struct event *event)
{
    *event = EVENT_NOTHING;
    event->kind = from->kind;
    event->process = from->process;
    event->state = from->state;
    event->time_ns = from->time_ns;
    event->comm = event->partner_comm = 0;
    if (from->kind == EVENT_SEND || from->kind == EVENT_RECEIVE) {
        event->partner = (int32_t)from->partner;
        event->tag = 0;
    }
}

static void run_feed(const struct clock_run *run, struct sink *sink)
{
    struct batch *batch = memory_new(sizeof *batch);
    struct error err = {0};
    bool fine = !sink->begin || sink->begin(sink, run->defs, &err) == STATUS_OK;
    for (size_t i = 0; i < run->count; i++) {
        run_expand(&run->events[i], &batch->events[batch->count++]);
        if (batch->count == BATCH_EVENTS || i + 1 == run->count) {
            fine &= sink->events(sink, batch, &err) == STATUS_OK;
            batch_clear(batch);
        }
    }
    if (!fine)
        abort();
    free(batch);
}

static struct clock_errors run_errors(const struct clock_run *run)
{
    struct causality_builder *builder = causality_builder_new();
    run_feed(run, causality_builder_sink(builder));
    struct causality *causality = causality_builder_end(builder);
    struct clock_errors errors = causality_errors(causality, NULL);
    causality_free(causality);
    return errors;
}

static struct clocks *run_fix(struct clock_run *run)
{
    struct causality_builder *builder = causality_builder_new();
    run_feed(run, causality_builder_sink(builder));
    struct clocks *clocks = clocks_of(causality_builder_end(builder));
    struct batch *batch = memory_new(sizeof *batch);
    for (size_t i = 0; i < run->count; i++) {
        run_expand(&run->events[i], &batch->events[0]);
        batch->count = 1;
        clocks_correct(clocks, batch);
        run->events[i].time_ns = batch->events[0].time_ns;
    }
    free(batch);
    return clocks;
}

/* Waiting for late senders and for the last of collectives, of all. */
static int64_t run_waits_ns(const struct clock_run *run)
{
    struct graph_builder *builder = graph_builder_new();
    int64_t sum = 0;
    run_feed(run, graph_builder_sink(builder));
    struct graph *graph = graph_builder_end(builder);
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            struct wait wait = wait_of(graph, location, i);
            if (wait.kind == WAIT_LATE_SENDER || wait.kind == WAIT_AT_NXN)
                sum += wait.ns;
        }
    graph_free(graph);
    return sum;
}

/* How far the times are from the truth, as the clock of `reference` shows it: the root of the mean square, and the
   most. */
struct run_distance {
    double typical_ns, most_ns;
};

static struct run_distance run_distance(const struct clock_run *run, uint32_t reference)
{
    struct run_distance distance = {0, 0};
    for (size_t i = 0; i < run->count; i++) {
        const struct run_event *event = &run->events[i];
        double right = (double)event->true_ns + run_clock_error(run, reference, event->true_ns);
        double away = (double)event->time_ns - right;
        distance.typical_ns += away * away / (double)run->count;
        distance.most_ns = fmax(distance.most_ns, fabs(away));
    }
    distance.typical_ns = sqrt(distance.typical_ns);
    return distance;
}

static uint32_t run_reference(const struct clocks *clocks)
{
    for (size_t i = 0; i < clocks->count; i++)
        if (clocks->rows[i].reference)
            return clocks->rows[i].process;
    return 0;
}

#endif
