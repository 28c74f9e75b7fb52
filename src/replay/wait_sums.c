/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/wait_sums.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/graph_neighbours.h"
#include "graph/sweep.h"
#include "graph/wait_windows.h"

#include <stdlib.h>
#include <string.h>

/* Keeps the instance if it is among the longest; equal ones are ordered by location, then call. `places`: locations and
   calls of the instances kept. */
static void keep_longest(struct wait_sums *sums, uint64_t *places, const struct wait_instance *instance, uint64_t place)
{
    size_t at = sums->longest_count;
    while (at > 0 && (sums->longest[at - 1].ns < instance->ns ||
                      (sums->longest[at - 1].ns == instance->ns && places[at - 1] > place)))
        at--;
    if (at == LONGEST_WAITS)
        return;
    sums->longest_count += sums->longest_count < LONGEST_WAITS;
    for (size_t i = sums->longest_count - 1; i > at; i--) {
        sums->longest[i] = sums->longest[i - 1];
        places[i] = places[i - 1];
    }
    sums->longest[at] = *instance;
    places[at] = place;
}

/* Sums are allocated with the first wait: most kinds do not occur in a run. */
void analyst_add_place(int64_t **sums_ns, size_t count, uint32_t index, int64_t ns)
{
    if (index >= count)
        return;
    if (!*sums_ns)
        *sums_ns = memory_new(count * sizeof **sums_ns);
    time_add(&(*sums_ns)[index], ns);
}

static int by_time(const void *a, const void *b)
{
    const struct wait_place *left = a, *right = b;
    int order = order_by(right->ns, left->ns);
    return order ? order : order_by(left->index, right->index);
}

/* The places that have waits, the longest first. Frees the sums. */
static size_t take_places(int64_t *sums_ns, size_t count, struct wait_place **places)
{
    size_t taken = 0, capacity = 0;
    for (size_t i = 0; sums_ns && i < count; i++)
        if (sums_ns[i] > 0)
            ARRAY_PUSH(*places, taken, capacity, (struct wait_place){(uint32_t)i, sums_ns[i]});
    if (taken > 0)
        qsort(*places, taken, sizeof **places, by_time);
    free(sums_ns);
    return taken;
}

static struct wait_sums *sums_at(struct analysis *analysis, int place)
{
    if (place == CONTENTION)
        return &analysis->contention;
    return place == UNEVEN ? &analysis->uneven : &analysis->waits[place];
}

/* `from_ns`: when it begins. `bin`: course_bin of the call's enter. */
void analyst_add_wait(struct analyst *analyst, int place, uint32_t location, uint32_t index, const struct call *call,
                      const struct wait *wait, int64_t begin_ns, size_t bin)
{
    const struct graph *graph = analyst->graph;
    struct wait_sums *sums = sums_at(analyst->analysis, place);
    struct call cause = graph_call(graph, wait->cause_location, wait->cause_call);
    int64_t from_ns = time_since(analyst->begin_ns, begin_ns);
    course_add(sums->course_ns, &analyst->edges, course_bin(&analyst->edges, bin, from_ns), from_ns,
               from_ns + wait->ns);
    sums->count++;
    time_add(&sums->ns, wait->ns);
    time_add(&sums->victims_ns[analyst->rows[location]], wait->ns);
    time_add(&sums->causes_ns[analyst->rows[wait->cause_location]], wait->ns);
    time_add(&sums->states_ns[graph_state(graph, call)->first_of_name], wait->ns);
    time_add(&sums->cause_states_ns[graph_state(graph, &cause)->first_of_name], wait->ns);
    if (call->site > 0)
        analyst_add_place(&analyst->sites_ns[place], graph->defs->site_count, call->site - 1, wait->ns);
    if (wait->comm >= 0)
        analyst_add_place(&analyst->comms_ns[place], graph->defs->comm_count, (uint32_t)wait->comm, wait->ns);
    keep_longest(sums, analyst->longest[place],
                 &(struct wait_instance){.ns = wait->ns,
                                         .enter_ns = time_since(analyst->begin_ns, call->enter_ns),
                                         .leave_ns = time_since(analyst->begin_ns, call->leave_ns),
                                         .cause_enter_ns = time_since(analyst->begin_ns, cause.enter_ns),
                                         .process = analyst->rows[location],
                                         .cause_process = analyst->rows[wait->cause_location],
                                         .state = call->state,
                                         .cause_state = cause.state},
                 map_pair(location, index));
    sums->longest_ns = larger(sums->longest_ns, wait->ns);
    if (sums->count == 1 || from_ns < sums->from_ns)
        sums->from_ns = from_ns;
    sums->to_ns = larger(sums->to_ns, from_ns + wait->ns);
}

/* True if the trace does not record which location it waits for in the collective: its neighbours, or the other group
   of an inter-communicator. */
static bool collective_is_partnerless(const struct graph *graph, const struct call *call, uint32_t location)
{
    const struct instance *instance = graph_instance(graph, call);
    const struct instance_stream *stream = &graph->streams[instance->stream];
    if (graph_collective_of(graph, instance).shape == SHAPE_NEIGHBOURS)
        return !graph_neighbours_known(graph, call->instance - 1, location);
    return stream->two_groups && (!stream->sided || !instance->complete);
}

/* Non-blocking and persistent collectives: waits that are, or could be, in the calls that complete them. */
static void count_operations(struct analysis *analysis, const struct graph *graph)
{
    uint64_t posted = 0;
    for (size_t i = 0; i < graph->operation_count; i++) {
        struct collective collective = graph_collective_of(graph, &graph->instances[graph->operations[i].instance]);
        if (graph->operations[i].done_location != GRAPH_NONE)
            analysis->waits[collective.wait].calls++;
        else
            analysis->uncompleted++;
        posted += collective.stage == STAGE_POSTED;
    }
    /* Members without a request in the trace have no operation, and complete somewhere unknown. */
    for (size_t i = 0; i < graph->instance_count; i++)
        if (graph_collective_of(graph, &graph->instances[i]).stage == STAGE_POSTED)
            analysis->uncompleted += graph->instances[i].count;
    analysis->uncompleted -= smaller(posted, analysis->uncompleted);
}

/* Calls in which a wait of some kind could be. */
static void count_call(struct analysis *analysis, const struct graph *graph, uint32_t location, const struct call *call)
{
    analysis->calls++;
    analysis->waits[WAIT_IO].calls += graph_state(graph, call)->class == CLASS_IO;
    const struct instance *instance = graph_instance(graph, call);
    bool partnerless = instance && collective_is_partnerless(graph, call, location);
    analysis->partnerless += partnerless;
    /* A call counts for every kind that it could have waited in: shares of calls that wait are per kind. */
    if (!instance) {
        analysis->waits[WAIT_LATE_SENDER].calls += call->received != 0;
        analysis->waits[WAIT_WRONG_ORDER_SAME].calls += call->received != 0;
        analysis->waits[WAIT_WRONG_ORDER_OTHER].calls += call->received != 0;
        analysis->waits[WAIT_LATE_RECEIVER].calls +=
            call->completed || (call->sent && !graph_completes_later(graph, call->sent - 1));
        if (graph_on_window(graph, call) && graph_collective(graph, call).stage == STAGE_EPOCH) {
            enum wait_kind kind = (enum wait_kind)graph_collective(graph, call).wait;
            analysis->waits[kind].calls++;
            analysis->waits[WAIT_LATE_COMPLETE].calls += kind == WAIT_EARLY_WAIT;
            analysis->waits[WAIT_LATE_TARGET].calls +=
                kind == WAIT_LOCK_CONTENTION || strcmp(graph_state(graph, call)->name, "MPI_Win_complete") == 0;
        }
        return;
    }
    struct collective collective = graph_collective(graph, call);
    if (collective.stage != STAGE_BLOCKING || (partnerless && collective.shape == SHAPE_NEIGHBOURS))
        return;
    bool rooted = collective.shape == SHAPE_ONE_TO_ALL || collective.shape == SHAPE_ALL_TO_ONE;
    if (collective.wait != WAIT_NONE)
        analysis->waits[collective.wait].calls++;
    if (collective.completion != WAIT_NONE)
        analysis->waits[collective.completion].calls++;
    if (rooted && instance->root_location == GRAPH_NONE && !instance->root_named) {
        analysis->rootless++;
        time_add(&analysis->rootless_time, time_since(call->enter_ns, call->leave_ns));
    }
}

static bool is_synchronisation(const struct graph *graph, const struct call *call)
{
    struct collective collective = graph_collective(graph, call);
    const struct instance *instance = graph_instance(graph, call);
    bool few = instance->bytes > 0 && instance->bytes <= SYNCHRONISATION_BYTES;
    return collective.stage == STAGE_BLOCKING &&
           (collective.wait == WAIT_AT_BARRIER ||
            (few && (collective.wait == WAIT_AT_NXN || collective.shape == SHAPE_ONE_TO_ALL ||
                     collective.shape == SHAPE_ALL_TO_ONE)));
}

/* Adds the time beyond waiting for late processes; the process computed right before it. */
static void add_synchronisation(struct analyst *analyst, const struct call *call, const struct wait *wait, size_t bin,
                                int64_t computed_ns)
{
    struct analysis *analysis = analyst->analysis;
    int64_t from_ns = time_since(analyst->begin_ns, call->enter_ns) + wait->ns,
            to_ns = time_since(analyst->begin_ns, call->leave_ns);
    analysis->synchronisations++;
    time_add(&analysis->synchronising, time_since(from_ns, to_ns));
    time_add(&analysis->before_synchronising, computed_ns);
    course_add(analysis->synchronising_course_ns, &analyst->edges, course_bin(&analyst->edges, bin, from_ns), from_ns,
               to_ns);
}

/* The parts of a wait are consecutive. */
static void add_parts(struct analyst *analyst, uint32_t location, uint32_t index, const struct call *call,
                      const struct wait *wait, size_t bin)
{
    struct wait_parts parts = wait_parts(analyst->graph, location, index, wait);
    int64_t from_ns = call->enter_ns;
    for (size_t i = 0; i < parts.count; from_ns += parts.part[i++].ns) {
        const struct wait *part = &parts.part[i];
        analyst_add_wait(analyst, (int)part->kind, location, index, call, part, from_ns, bin);
        uint32_t late = analyst->rows[part->cause_location];
        if (late != analyst->rows[location] && part->kind < WAIT_CAUSED_COUNT && part->kind != WAIT_AT_INIT &&
            part->kind != WAIT_AT_FINALIZE)
            waited_for_add(&analyst->waited_for, late, from_ns, part->ns);
    }
}

/* Adds a call's waiting, and its time beyond that. */
static void sum_call(struct analyst *analyst, uint32_t location, uint32_t index, const struct call *call, size_t bin,
                     int64_t computed_ns)
{
    const struct graph *graph = analyst->graph;
    const struct state_def *state = graph_state(graph, call);
    struct wait wait = wait_of(graph, location, index), completion = {0};
    if (wait.kind != WAIT_NONE)
        add_parts(analyst, location, index, call, &wait, bin);
    if (call->instance || state->class == CLASS_IO)
        completion = wait_completion_of(graph, location, index);
    if (completion.kind != WAIT_NONE)
        analyst_add_wait(analyst, (int)completion.kind, location, index, call, &completion,
                         completion.until_ns - completion.ns, bin);
    /* What nobody else causes is the call's own time, completion included. */
    int64_t from_ns = time_since(analyst->begin_ns, call->enter_ns) + wait.ns,
            to_ns = time_since(analyst->begin_ns, call->leave_ns);
    held_calls_add(&analyst->held, graph, call, &wait);
    if (call->instance && is_synchronisation(graph, call))
        add_synchronisation(analyst, call, &wait, bin, computed_ns);
    if (to_ns > from_ns)
        course_add(analysis_own_course(analyst->analysis, state->first_of_name), &analyst->edges,
                   course_bin(&analyst->edges, bin, from_ns), from_ns, to_ns);
}

void analyst_sum_waits(struct analyst *analyst)
{
    const struct graph *graph = analyst->graph;
    struct sweep sweep = sweep_begin(graph);
    uint32_t location, from, to;
    size_t bin = 0;
    analyst->held = held_calls_begin(graph);
    analyst->waited_for = waited_for_begin(graph, analyst->analysis);
    /* Calls of all locations of about the same time together: what they wait for is then in the cache (sweep.h). */
    while (sweep_next(&sweep, &location, &from, &to)) {
        int64_t before_ns = graph_left_before_ns(graph, location, from);
        waited_for_reach(&analyst->waited_for, sweep.window);
        for (uint32_t i = from; i < to; i++) {
            struct call call = graph_call(graph, location, i);
            int64_t computed_ns = time_since(before_ns, call.enter_ns);
            analyst->overlapping |= call.enter_ns < before_ns;
            analyst->compute_ns[location] += computed_ns;
            before_ns = call.leave_ns;
            count_call(analyst->analysis, graph, location, &call);
            bin = course_bin(&analyst->edges, bin, time_since(analyst->begin_ns, call.enter_ns));
            sum_call(analyst, location, i, &call, bin, computed_ns);
        }
    }
    /* From the last call to the end of each location. */
    for (location = 0; location < graph->location_count; location++)
        analyst->compute_ns[location] += time_since(
            graph_left_before_ns(graph, location, graph->locations[location].count), graph->locations[location].end_ns);
    held_calls_end(&analyst->held, analyst->analysis);
    waited_for_end(&analyst->waited_for);
    count_operations(analyst->analysis, graph);
    for (size_t i = 0; i < graph->instance_count; i++)
        /* Their waits are not counted: reports say how many there are. */
        analyst->analysis->incomplete += !graph->instances[i].complete;
}

void analyst_take_places(struct analyst *analyst)
{
    const struct defs *defs = analyst->graph->defs;
    for (int place = 0; place < SUMS; place++) {
        struct wait_sums *sums = sums_at(analyst->analysis, place);
        sums->site_count = take_places(analyst->sites_ns[place], defs->site_count, &sums->sites);
        sums->comm_count = take_places(analyst->comms_ns[place], defs->comm_count, &sums->comms);
    }
}
