/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "replay/loops.h"
#include "replay/wait.h"

#include <math.h>
#include <string.h>

/* A first iteration is one of warming up beyond so many median distances from the median. */
static const double WARM_UP_MADS = 5;

/* The calls of a lane that loops are looked for in, as a sequence. */
struct reading {
    uint32_t *calls; /* indices in the lane */
    uint32_t *symbols;
    bool *ends;
    int64_t *enter_ns, *leave_ns;
    size_t count;
};

/* Calls that may or may not be made in an iteration that is otherwise the same. */
static bool is_left_out(const struct state_def *state, const struct call *call)
{
    if (state->class == CLASS_LOCAL)
        return true;
    bool asks = state->class == CLASS_PROBE || (state->class == CLASS_WAIT && strncmp(state->name, "MPI_Test", 8) == 0);
    return asks && !call->received && !call->sent;
}

/* All partners of the call, relative to the process, in whatever order their messages came. */
static uint64_t partners_of(const struct graph *graph, uint32_t lane, const struct call *call)
{
    uint64_t sum = 0;
    uint32_t process = graph->lanes[lane].process;
    for (uint32_t at = call->sent; at; at = graph->messages[at - 1].next_sent) {
        uint32_t other = graph->messages[at - 1].receive_lane;
        sum += map_hash(2 * (other == GRAPH_NONE ? UINT64_MAX / 4 : graph->lanes[other].process - process) + 1);
    }
    for (uint32_t at = call->received; at; at = graph->messages[at - 1].next_received) {
        uint32_t other = graph->messages[at - 1].send_lane;
        sum += map_hash(2 * (other == GRAPH_NONE ? UINT64_MAX / 4 : graph->lanes[other].process - process));
    }
    return sum;
}

/* What is the same in calls of the same symbol: function, communicator and root of a collective, partners. */
static uint64_t call_key(const struct graph *graph, uint32_t lane, const struct call *call, bool partners)
{
    uint64_t key = map_hash(graph_state(graph, call)->first_of_name + UINT64_C(1));
    if (call->group) {
        const struct group *group = &graph->groups[call->group - 1];
        key = map_hash(key + (uint32_t)graph->streams[group->stream].comm);
        key += group->root_lane == lane;
    }
    if (partners)
        key = map_hash(key) + partners_of(graph, lane, call);
    return map_hash(key) >> 1;
}

/* A collective in which the whole run takes part. */
static bool is_of_world(const struct graph *graph, const struct call *call)
{
    if (!call->group)
        return false;
    const struct group *group = &graph->groups[call->group - 1];
    int32_t comm = graph->streams[group->stream].comm;
    if (comm != EVENT_UNKNOWN)
        return graph->defs->comms[comm].world;
    return group->count == graph->defs->processes;
}

static struct reading read_lane(const struct graph *graph, uint32_t lane, bool partners)
{
    const struct lane *from = &graph->lanes[lane];
    struct map known = {0};
    struct reading reading = {.calls = memory_new(from->count * sizeof *reading.calls),
                              .symbols = memory_new(from->count * sizeof *reading.symbols),
                              .ends = memory_new(from->count * sizeof *reading.ends),
                              .enter_ns = memory_new(from->count * sizeof *reading.enter_ns),
                              .leave_ns = memory_new(from->count * sizeof *reading.leave_ns)};
    for (size_t i = 0; i < from->count; i++) {
        const struct call *call = &from->calls[i];
        if (is_left_out(graph_state(graph, call), call))
            continue;
        size_t at = reading.count++;
        reading.calls[at] = (uint32_t)i;
        reading.symbols[at] = (uint32_t)*map_put(&known, call_key(graph, lane, call, partners), known.count);
        reading.ends[at] = is_of_world(graph, call);
        reading.enter_ns[at] = call->enter_ns;
        reading.leave_ns[at] = call->leave_ns;
    }
    map_clear(&known);
    return reading;
}

static void reading_clear(struct reading *reading)
{
    free(reading->calls);
    free(reading->symbols);
    free(reading->ends);
    free(reading->enter_ns);
    free(reading->leave_ns);
}

/* Time in calls and waiting in them, of all calls before each: what lies between two is a difference. */
struct passed {
    int64_t *calls_ns, *waits_ns;
};

static struct passed passed_of(const struct graph *graph, uint32_t lane)
{
    const struct lane *from = &graph->lanes[lane];
    struct passed passed = {.calls_ns = memory_new((from->count + 1) * sizeof *passed.calls_ns),
                            .waits_ns = memory_new((from->count + 1) * sizeof *passed.waits_ns)};
    for (size_t i = 0; i < from->count; i++) {
        passed.calls_ns[i + 1] = passed.calls_ns[i];
        passed.waits_ns[i + 1] = passed.waits_ns[i];
        time_add(&passed.calls_ns[i + 1], time_since(from->calls[i].enter_ns, from->calls[i].leave_ns));
        time_add(&passed.waits_ns[i + 1], wait_of(graph, lane, (uint32_t)i).ns);
    }
    return passed;
}

/* Iterations by calls of the lane, with their times. */
static void time_iterations(struct loop_tree *tree, const struct reading *reading, const struct lane *lane)
{
    for (size_t i = 0; i < tree->iteration_count; i++) {
        struct loop_iteration *iteration = &tree->iterations[i];
        iteration->begin = reading->calls[iteration->begin];
        iteration->end = reading->calls[iteration->end - 1] + 1;
        iteration->begin_ns = lane->calls[iteration->begin].enter_ns;
        iteration->end_ns = lane->calls[iteration->end - 1].leave_ns;
    }
    for (size_t l = 0; l < tree->count; l++) {
        struct loop_iteration *of = tree->iterations + tree->loops[l].iteration;
        for (size_t i = 0; i + 1 < tree->loops[l].count; i++)
            if (of[i].entry == of[i + 1].entry)
                of[i].end_ns = of[i + 1].begin_ns;
    }
    for (size_t i = 0; i < tree->item_count; i++)
        tree->items[i].at = reading->calls[tree->items[i].at];
}

static int by_number(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_number);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* How many of the first iterations are of warming up. */
static uint32_t warm_up_of(const struct loop_iteration *iterations, uint32_t count)
{
    double *times = memory_new(count * sizeof *times);
    for (uint32_t i = 0; i < count; i++)
        times[i] = (double)time_since(iterations[i].begin_ns, iterations[i].end_ns);
    double middle = median(times, count);
    for (uint32_t i = 0; i < count; i++)
        times[i] = fabs(times[i] - middle);
    double most = middle + WARM_UP_MADS * median(times, count);
    uint32_t first = 0;
    while (first < count && (double)time_since(iterations[first].begin_ns, iterations[first].end_ns) > most)
        first++;
    free(times);
    return first < count ? first : 0;
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
static void time_loop(struct loop *loop, const struct loop_iteration *of, const struct passed *passed)
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
    return whole > 0 ? (double)part / (double)whole : 0;
}

static void time_loops(struct loop_tree *tree, const struct graph *graph, uint32_t lane)
{
    const struct lane *from = &graph->lanes[lane];
    struct passed passed = passed_of(graph, lane);
    struct loop *whole = &tree->loops[0];
    whole->time_ns = time_since(from->begin_ns, from->end_ns);
    whole->share = whole->share_of_all = 1;
    classify(whole, passed.calls_ns[from->count], passed.waits_ns[from->count]);
    for (size_t i = 1; i < tree->count; i++) {
        struct loop *loop = &tree->loops[i];
        time_loop(loop, tree->iterations + loop->iteration, &passed);
        loop->share = share_of(loop->time_ns, tree->loops[loop->parent].time_ns);
        loop->share_of_all = share_of(loop->time_ns, whole->time_ns);
        loop->warm_up = warm_up_of(tree->iterations + loop->iteration, loop->count);
    }
    free(passed.calls_ns);
    free(passed.waits_ns);
}

void loop_tree_mark(struct loop_tree *tree, double share)
{
    for (size_t i = 1; i < tree->count; i++)
        tree->loops[i].bottleneck =
            loop_is_bottleneck(tree->loops[i].time_ns, tree->loops[tree->loops[i].parent].time_ns, share);
}

/* Loops of the lane's calls, told apart by their partners or not. `longest` is how much of the time from the first call
   to the last the longest outermost loop takes. */
static struct loop_tree find_in_lane(const struct graph *graph, uint32_t lane, bool partners, double *longest)
{
    struct reading reading = read_lane(graph, lane, partners);
    struct loop_sequence sequence = {reading.symbols, reading.count, reading.ends, reading.enter_ns, reading.leave_ns};
    struct loop_tree tree = loops_in(&sequence);
    time_iterations(&tree, &reading, &graph->lanes[lane]);
    *longest = 0;
    for (size_t i = 1; i < tree.count; i++) {
        const struct loop_iteration *of = tree.iterations + tree.loops[i].iteration;
        double share = share_of(time_since(of[0].begin_ns, of[tree.loops[i].count - 1].end_ns),
                                time_since(tree.iterations[0].begin_ns, tree.iterations[0].end_ns));
        if (tree.loops[i].depth == 1 && share > *longest)
            *longest = share;
    }
    reading_clear(&reading);
    return tree;
}

struct loop_tree loops_of(const struct graph *graph, uint32_t lane)
{
    double longest, longest_any;
    struct loop_tree tree = find_in_lane(graph, lane, true, &longest);
    if (longest < LOOP_DOMINATES) {
        struct loop_tree any = find_in_lane(graph, lane, false, &longest_any);
        bool better = longest_any >= LOOP_DOMINATES || tree.count < 2;
        loop_tree_clear(better ? &tree : &any);
        if (better)
            tree = any;
    }
    time_loops(&tree, graph, lane);
    loop_tree_mark(&tree, LOOP_BOTTLENECK_SHARE);
    return tree;
}
