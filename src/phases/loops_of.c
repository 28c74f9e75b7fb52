/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "core/numbers.h"
#include "graph/wait_table.h"
#include "phases/location_loops.h"

#include <math.h>
#include <string.h>

/* A first iteration belongs to warming up beyond this many median distances from the median. */
static const double WARM_UP_MADS = 5;

/* Calls that may or may not be made in an iteration that is otherwise the same. */
static bool is_left_out(const struct state_def *state, const struct call *call)
{
    /* Local calls (MPI_Comm_rank, MPI_Wtime) wait for no one, and programs make them when they like. */
    if (state->class == CLASS_LOCAL)
        return true;
    /* A test that finds nothing is made as often as there is time: its number says nothing about the iteration. */
    bool asks = state->class == CLASS_PROBE || (state->class == CLASS_WAIT && strncmp(state->name, "MPI_Test", 8) == 0);
    return asks && !call->received && !call->sent;
}

/* The process of a location, relative to another one; a number that no process has if it is not known. */
static uint64_t relative_of(const struct graph *graph, uint32_t process, uint32_t location)
{
    if (location == GRAPH_NONE)
        return UINT64_MAX / 4;
    return graph->locations[location].process - process;
}

/* All partners of the call, relative to the process, in whatever order their messages came: a sum of hashes does not
   depend on the order. Sends and receives differ in the lowest bit. */
static uint64_t partners_of(const struct graph *graph, uint32_t location, const struct call *call)
{
    uint64_t sum = 0;
    uint32_t process = graph->locations[location].process;
    struct message m;
    for (uint32_t at = call->sent; at; at = graph_next_sent(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        sum += map_hash(2 * relative_of(graph, process, m.receive_location) + 1);
    }
    for (uint32_t at = call->received; at; at = graph_next_received(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        sum += map_hash(2 * relative_of(graph, process, m.send_location));
    }
    return sum;
}

/* Numbers communicators in the order in which a location uses them: other locations have others at the same place. */
struct comm_order {
    int32_t comms[64]; /* later ones keep their own numbers */
    uint32_t count, last;
};

static uint32_t comm_number(struct comm_order *order, int32_t comm)
{
    if (order->last < order->count && order->comms[order->last] == comm)
        return order->last;
    for (order->last = 0; order->last < order->count; order->last++)
        if (order->comms[order->last] == comm)
            return order->last;
    if (order->count == sizeof order->comms / sizeof *order->comms)
        return (uint32_t)comm | 1u << 31;
    order->comms[order->count++] = comm;
    return order->last;
}

/* The properties that calls of the same symbol share: function, communicator and root of a collective, partners. */
static uint64_t call_key(const struct graph *graph, uint32_t location, const struct call *call,
                         enum location_calls which, struct comm_order *order)
{
    uint64_t key = map_hash(graph_state(graph, call)->first_of_name + UINT64_C(1));
    if (call->instance) {
        const struct instance *instance = &graph->instances[call->instance - 1];
        key = map_hash(key + comm_number(order, graph->streams[instance->stream].comm));
        /* Whether the process is the root is part of the call, not who is: others would be different at each
           process. */
        key += which != LOCATION_WORLD && instance->root_location == location;
    }
    if (which == LOCATION_PARTNERS)
        key = map_hash(key) + partners_of(graph, location, call);
    return map_hash(key) >> 1;
}

/* A collective in which the whole run takes part. */
static bool is_of_world(const struct graph *graph, const struct call *call)
{
    if (!call->instance)
        return false;
    const struct instance *instance = &graph->instances[call->instance - 1];
    int32_t comm = graph->streams[instance->stream].comm;
    /* Without communicators a collective of all processes is taken to be one of the world. */
    if (comm != EVENT_UNKNOWN)
        return graph->defs->comms[comm].world;
    return instance->count == graph->defs->processes && graph_collective_of(graph, instance).shape != SHAPE_NEIGHBOURS;
}

/* Room for so many calls. What is there need not be kept. */
static void reading_reserve(struct location_reading *reading, size_t count, enum location_detail detail)
{
    if (count > reading->capacity) {
        location_reading_clear(reading);
        reading->capacity = count;
    }
    if (!reading->calls) {
        reading->calls = memory_resize(NULL, reading->capacity * sizeof *reading->calls);
        reading->enter_ns = memory_resize(NULL, reading->capacity * sizeof *reading->enter_ns);
        reading->leave_ns = memory_resize(NULL, reading->capacity * sizeof *reading->leave_ns);
    }
    if (detail == LOCATION_SYMBOLS && !reading->symbols) {
        reading->symbols = memory_resize(NULL, reading->capacity * sizeof *reading->symbols);
        reading->ends = memory_resize(NULL, reading->capacity * sizeof *reading->ends);
    }
}

void location_read(const struct graph *graph, uint32_t location, enum location_calls which, enum location_detail detail,
                   struct location_reading *reading)
{
    const struct location *from = &graph->locations[location];
    struct map known = {0};
    struct comm_order order = {0};
    reading_reserve(reading, from->count, detail);
    reading->count = 0;
    for (size_t i = 0; i < from->count; i++) {
        struct call call = graph_call(graph, location, (uint32_t)i);
        if (is_left_out(graph_state(graph, &call), &call) || (which == LOCATION_WORLD && !is_of_world(graph, &call)))
            continue;
        size_t at = reading->count++;
        reading->calls[at] = (uint32_t)i;
        reading->enter_ns[at] = call.enter_ns;
        reading->leave_ns[at] = call.leave_ns;
        if (detail != LOCATION_SYMBOLS)
            continue;
        uint64_t key = call_key(graph, location, &call, which, &order);
        reading->symbols[at] = (uint32_t)*map_put(&known, key, known.count);
        reading->ends[at] = is_of_world(graph, &call);
    }
    map_clear(&known);
}

void location_reading_clear(struct location_reading *reading)
{
    free(reading->calls);
    free(reading->symbols);
    free(reading->ends);
    free(reading->enter_ns);
    free(reading->leave_ns);
    *reading = (struct location_reading){0};
}

struct location_signature location_signature_of(const struct graph *graph, uint32_t location)
{
    const struct location *from = &graph->locations[location];
    struct location_signature signature = {0};
    struct comm_order order = {0}, world_order = {0};
    for (size_t i = 0; i < from->count; i++) {
        struct call call = graph_call(graph, location, (uint32_t)i);
        if (is_left_out(graph_state(graph, &call), &call))
            continue;
        signature.calls = map_hash(signature.calls + call_key(graph, location, &call, LOCATION_CALLS, &order));
        if (is_of_world(graph, &call)) {
            signature.world =
                map_hash(signature.world + call_key(graph, location, &call, LOCATION_WORLD, &world_order));
            signature.world_count++;
        }
    }
    signature.calls >>= 1;
    return signature;
}

static void passed_fill(struct location_passed *passed, const struct graph *graph, uint32_t location)
{
    const struct location *from = &graph->locations[location];
    if (from->count >= passed->capacity) {
        location_passed_clear(passed);
        passed->capacity = from->count + 1;
        passed->calls_ns = memory_resize(NULL, passed->capacity * sizeof *passed->calls_ns);
        passed->waits_ns = memory_resize(NULL, passed->capacity * sizeof *passed->waits_ns);
    }
    int64_t calls_ns = passed->calls_ns[0] = 0, waits_ns = passed->waits_ns[0] = 0;
    for (size_t i = 0; i < from->count; i++) {
        struct call call = graph_call(graph, location, (uint32_t)i);
        time_add(&calls_ns, time_since(call.enter_ns, call.leave_ns));
        time_add(&waits_ns, wait_ns_in(graph, location, i));
        passed->calls_ns[i + 1] = calls_ns;
        passed->waits_ns[i + 1] = waits_ns;
    }
}

void location_passed_clear(struct location_passed *passed)
{
    free(passed->calls_ns);
    free(passed->waits_ns);
    *passed = (struct location_passed){0};
}

/* Iterations by calls of the location, with their times. */
static void time_iterations(struct loop_tree *tree, const struct location_reading *reading, const struct graph *graph,
                            uint32_t location)
{
    for (size_t i = 0; i < tree->iteration_count; i++) {
        struct loop_iteration *iteration = &tree->iterations[i];
        iteration->begin = reading->calls[iteration->begin];
        iteration->end = reading->calls[iteration->end - 1] + 1;
        iteration->begin_ns = graph_call(graph, location, iteration->begin).enter_ns;
        iteration->end_ns = graph_call(graph, location, iteration->end - 1).leave_ns;
    }
    for (size_t l = 0; l < tree->count; l++) {
        struct loop_iteration *of = tree->iterations + tree->loops[l].iteration;
        for (size_t i = 0; i + 1 < tree->loops[l].count; i++)
            if (of[i].entry == of[i + 1].entry)
                /* Iterations of one entry have no gap between them: what is computed before the next belongs to this
                   one. */
                of[i].end_ns = of[i + 1].begin_ns;
    }
    for (size_t i = 0; i < tree->item_count; i++)
        tree->items[i].at = reading->calls[tree->items[i].at];
}

static int by_number(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return order_by(*left, *right);
}

double loop_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_number);
    if (count % 2)
        return values[count / 2];
    return (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* How many of the first iterations are of warming up: those beyond the median by some median distances, which a few
   slow iterations do not move (a mean and standard deviation would). */
static uint32_t warm_up_of(const struct loop_iteration *iterations, uint32_t count)
{
    double *times = memory_new(count * sizeof *times);
    for (uint32_t i = 0; i < count; i++)
        times[i] = (double)time_since(iterations[i].begin_ns, iterations[i].end_ns);
    double middle = loop_median(times, count);
    for (uint32_t i = 0; i < count; i++)
        times[i] = fabs(times[i] - middle);
    double most = middle + WARM_UP_MADS * loop_median(times, count);
    uint32_t first = 0;
    while (first < count && (double)time_since(iterations[first].begin_ns, iterations[first].end_ns) > most)
        first++;
    free(times);
    /* All are: then none is special. */
    if (first == count)
        return 0;
    return first;
}

static void classify(struct loop *loop, int64_t calls_ns, int64_t waits_ns)
{
    loop->computing_ns = time_since(calls_ns, loop->time_ns);
    loop->waiting_ns = waits_ns;
    loop->communicating_ns = time_since(waits_ns, calls_ns);
    loop->kind = LOOP_COMPUTING;
    if (loop->waiting_ns > loop->computing_ns)
        loop->kind = LOOP_WAITING;
    if (loop->communicating_ns > loop->computing_ns && loop->communicating_ns > loop->waiting_ns)
        loop->kind = LOOP_COMMUNICATING;
}

/* Sums over a loop's entries, each of which is a range of calls. */
static void time_loop(struct loop *loop, const struct loop_iteration *of, const struct location_passed *passed)
{
    int64_t calls_ns = 0, waits_ns = 0;
    for (uint32_t i = 0; i < loop->count; i++) {
        if (i > 0 && of[i].entry == of[i - 1].entry)
            continue;
        uint32_t last = i;
        while (last + 1 < loop->count && of[last + 1].entry == of[i].entry)
            last++;
        time_add(&loop->time_ns, time_since(of[i].begin_ns, of[last].end_ns));
        time_add(&calls_ns, passed->calls_ns[of[last].end] - passed->calls_ns[of[i].begin]);
        time_add(&waits_ns, passed->waits_ns[of[last].end] - passed->waits_ns[of[i].begin]);
    }
    classify(loop, calls_ns, waits_ns);
}

static double share_of(int64_t part, int64_t whole)
{
    return ratio_of((double)part, (double)whole);
}

static void time_loops(struct loop_tree *tree, const struct graph *graph, uint32_t location,
                       const struct location_passed *passed)
{
    const struct location *from = &graph->locations[location];
    struct loop *whole = &tree->loops[0];
    whole->time_ns = time_since(from->begin_ns, from->end_ns);
    whole->share = whole->share_of_all = 1;
    classify(whole, passed->calls_ns[from->count], passed->waits_ns[from->count]);
    for (size_t i = 1; i < tree->count; i++) {
        struct loop *loop = &tree->loops[i];
        time_loop(loop, tree->iterations + loop->iteration, passed);
        loop->share = share_of(loop->time_ns, tree->loops[loop->parent].time_ns);
        loop->share_of_all = share_of(loop->time_ns, whole->time_ns);
    }
}

void loop_tree_warm_up(struct loop_tree *tree)
{
    for (size_t i = 1; i < tree->count; i++)
        tree->loops[i].warm_up = warm_up_of(tree->iterations + tree->loops[i].iteration, tree->loops[i].count);
}

void loop_tree_mark(struct loop_tree *tree, double share)
{
    for (size_t i = 1; i < tree->count; i++)
        tree->loops[i].bottleneck =
            loop_is_bottleneck(tree->loops[i].time_ns, tree->loops[tree->loops[i].parent].time_ns, share);
}

/* Loops, and of the outermost ones the longest: how much of the time from the first call to the last it takes. */
struct found {
    struct loop_tree tree;
    double longest;
    uint32_t count;
    bool exact;
};

static void find_longest(struct found *found, const struct location_reading *reading)
{
    const struct loop_tree *tree = &found->tree;
    for (size_t i = 1; i < tree->count; i++) {
        const struct loop *loop = &tree->loops[i];
        const struct loop_iteration *of = tree->iterations + loop->iteration;
        int64_t begin_ns = reading->enter_ns[of[0].begin], end_ns = reading->leave_ns[of[loop->count - 1].end - 1],
                all_ns = time_since(reading->enter_ns[0], reading->leave_ns[reading->count - 1]);
        double share = share_of(time_since(begin_ns, end_ns), all_ns);
        if (loop->depth == 1 && share > found->longest) {
            found->longest = share;
            found->count = loop->count;
            found->exact = loop->similarity >= 1;
        }
    }
}

static struct found find_in_location(const struct graph *graph, uint32_t location, enum location_calls which)
{
    struct location_reading reading = {0};
    location_read(graph, location, which, LOCATION_SYMBOLS, &reading);
    struct loop_sequence sequence = {reading.symbols, reading.count, reading.ends, reading.enter_ns, reading.leave_ns};
    struct found found = {.tree = loops_in(&sequence)};
    find_longest(&found, &reading);
    location_reading_clear(&reading);
    return found;
}

/* True if loops found without partners are the better answer. */
static bool any_is_better(const struct found *chosen, const struct found *any)
{
    /* Without a loop that takes most of the time, anything that finds one is better; with one, only more iterations
       of equal ones. */
    if (chosen->longest < LOOP_DOMINATES)
        return any->longest >= LOOP_DOMINATES || chosen->tree.count < 2;
    return any->longest >= LOOP_DOMINATES && any->exact && any->count > chosen->count;
}

struct loop_tree location_loops_find(const struct graph *graph, uint32_t location, enum location_calls which)
{
    struct found chosen = find_in_location(graph, location, which);
    if (which != LOCATION_PARTNERS || (chosen.longest >= LOOP_DOMINATES && chosen.exact))
        return chosen.tree;
    struct found any = find_in_location(graph, location, LOCATION_CALLS);
    bool better = any_is_better(&chosen, &any);
    struct loop_tree found = chosen.tree, other = any.tree;
    if (better) {
        found = any.tree;
        other = chosen.tree;
    }
    loop_tree_clear(&other);
    return found;
}

void location_loops_time(struct loop_tree *tree, const struct graph *graph, uint32_t location,
                         const struct location_reading *reading, struct location_passed *passed)
{
    passed_fill(passed, graph, location);
    time_iterations(tree, reading, graph, location);
    time_loops(tree, graph, location, passed);
    loop_tree_mark(tree, LOOP_BOTTLENECK_SHARE);
}

struct loop_tree loops_of(const struct graph *graph, uint32_t location)
{
    struct loop_tree tree = location_loops_find(graph, location, LOCATION_PARTNERS);
    struct location_reading reading = {0};
    struct location_passed passed = {0};
    location_read(graph, location, LOCATION_CALLS, LOCATION_TIMES, &reading);
    location_loops_time(&tree, graph, location, &reading, &passed);
    loop_tree_warm_up(&tree);
    location_passed_clear(&passed);
    location_reading_clear(&reading);
    return tree;
}
