/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/analyse.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "graph/graph_neighbours.h"
#include "graph/sweep.h"
#include "graph/wait_windows.h"
#include "replay/analyst.h"
#include "replay/call_sites.h"
#include "replay/concurrency.h"
#include "replay/hub.h"
#include "replay/replay.h"
#include "waits/critical_path.h"
#include "waits/delay.h"
#include "waits/endpoints.h"
#include "waits/impact.h"
#include "waits/uneven.h"

#include <math.h>
#include <string.h>

/* Queueing for less than this part of the run is not reported for a wait. */
enum { QUEUED_LEAST = 1000000 };

static int by_number(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return order_by(*left, *right);
}

/* Rows of the locations' processes, by rank: threads of a process share one. Returns how many there are. */
static size_t find_rows(const struct graph *graph, uint32_t *rows)
{
    size_t count = 0;
    uint32_t *ranks = memory_new(graph->location_count * sizeof *ranks);
    for (size_t i = 0; i < graph->location_count; i++)
        ranks[i] = graph->locations[i].process;
    if (graph->location_count > 0)
        qsort(ranks, graph->location_count, sizeof *ranks, by_number);
    for (size_t i = 0; i < graph->location_count; i++)
        if (i == 0 || ranks[i] != ranks[count - 1])
            ranks[count++] = ranks[i];
    for (size_t i = 0; i < graph->location_count; i++) {
        const uint32_t *row = bsearch(&graph->locations[i].process, ranks, count, sizeof *ranks, by_number);
        rows[i] = (uint32_t)(row - ranks);
    }
    free(ranks);
    return count;
}

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
static void add_place(int64_t **sums_ns, size_t count, uint32_t index, int64_t ns)
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
static void add_wait(struct analyst *analyst, int place, uint32_t location, uint32_t index, const struct call *call,
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
        add_place(&analyst->sites_ns[place], graph->defs->site_count, call->site - 1, wait->ns);
    if (wait->comm >= 0)
        add_place(&analyst->comms_ns[place], graph->defs->comm_count, (uint32_t)wait->comm, wait->ns);
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
    if (rooted && instance->root_location == GRAPH_NONE) {
        analysis->rootless++;
        time_add(&analysis->rootless_time, time_since(call->enter_ns, call->leave_ns));
    }
}

/* Collectives with so few bytes only synchronise the processes: a flag, a sum or a maximum of a few numbers. */
enum { SYNCHRONISATION_BYTES = 64 };

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
    for (size_t i = 0; i < parts.count; from_ns += parts.part[i++].ns)
        add_wait(analyst, (int)parts.part[i].kind, location, index, call, &parts.part[i], from_ns, bin);
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
        add_wait(analyst, (int)completion.kind, location, index, call, &completion, completion.until_ns - completion.ns,
                 bin);
    /* What is left between the two is the call's own time. */
    int64_t from_ns = time_since(analyst->begin_ns, call->enter_ns) + wait.ns,
            to_ns = time_since(analyst->begin_ns, call->leave_ns) - completion.ns;
    /* Inside a reduction the rest of the call comes after it. */
    if (completion.kind == WAIT_IN_REDUCTION) {
        to_ns += completion.ns;
        from_ns = time_since(analyst->begin_ns, completion.until_ns);
    }
    held_calls_add(&analyst->held, graph, call, &wait);
    if (call->instance && is_synchronisation(graph, call))
        add_synchronisation(analyst, call, &wait, bin, computed_ns);
    if (to_ns > from_ns)
        course_add(analysis_own_course(analyst->analysis, state->first_of_name), &analyst->edges,
                   course_bin(&analyst->edges, bin, from_ns), from_ns, to_ns);
}

static void sum_waits(struct analyst *analyst)
{
    const struct graph *graph = analyst->graph;
    struct sweep sweep = sweep_begin(graph);
    uint32_t location, from, to;
    size_t bin = 0;
    analyst->held = held_calls_begin(graph);
    /* Calls of all locations of about the same time together: what they wait for is then in the cache (sweep.h). */
    while (sweep_next(&sweep, &location, &from, &to)) {
        int64_t before_ns = graph_left_before_ns(graph, location, from);
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
    count_operations(analyst->analysis, graph);
    for (size_t i = 0; i < graph->instance_count; i++)
        /* Their waits are not counted: reports say how many there are. */
        analyst->analysis->incomplete += !graph->instances[i].complete;
}

/* A damaged trace can have absurdly large costs. */
static int64_t rounded(double ns)
{
    if (!(ns < 9e18)) /* or NaN */
        return INT64_MAX;
    return (int64_t)llround(ns);
}

/* The state of an activity: calls of it, or computing before them. -1: computing at the end of a location. */
static int64_t activity_state(const struct graph *graph, size_t activity, bool *before)
{
    size_t states = graph->defs->state_count;
    *before = activity >= states;
    if (activity >= 2 * states)
        return -1;
    return (int64_t)(activity % states);
}

static void take_impact(struct analyst *analyst, const struct critical_path *path)
{
    struct analysis *analysis = analyst->analysis;
    struct impact impact = impact_of(analyst->graph, path);
    double *process_ns = memory_new(analysis->process_count * sizeof *process_ns);
    analysis->impact_activity = rounded(impact.activity_ns);
    analysis->impact_other = rounded(impact.other_ns);
    analysis->impact_imbalance = rounded(impact.imbalance_ns);
    analysis->impact_inter = rounded(impact.inter_ns);
    for (size_t i = 0; i < impact.activities; i++) {
        bool before;
        int64_t state = activity_state(analyst->graph, i, &before);
        if (state < 0)
            continue;
        int64_t impact_ns = rounded(impact.by_activity[i]), excess_ns = rounded(impact_excess_ns(&impact, i));
        if (before) {
            analysis->path_before_ns[state] = path->activities_ns[i];
            analysis->impact_before_ns[state] = impact_ns;
            analysis->excess_before_ns[state] = excess_ns;
        } else {
            analysis->path_states_ns[state] = path->activities_ns[i];
            analysis->impact_states_ns[state] = impact_ns;
            analysis->excess_states_ns[state] = excess_ns;
        }
    }
    /* An activity's impact belongs to the locations that have it on the path, in proportion (diagnosis_rules 2.2). */
    for (size_t i = 0; i < path->part_count; i++) {
        const struct path_part *part = &path->parts[i];
        process_ns[analyst->rows[part->location]] +=
            impact.by_activity[part->activity] * (double)part->ns / (double)path->activities_ns[part->activity];
    }
    for (size_t i = 0; i < analysis->process_count; i++)
        analysis->impact_ns[i] = rounded(process_ns[i]);
    free(process_ns);
    impact_clear(&impact);
}

static void take_path(struct analyst *analyst)
{
    struct analysis *analysis = analyst->analysis;
    struct critical_path path = critical_path_of(analyst->graph);
    analysis->path = path.length_ns;
    for (size_t i = 0; i < analyst->graph->location_count; i++) {
        analysis->path_compute_ns[analyst->rows[i]] += path.locations[i].compute_ns;
        analysis->path_mpi_ns[analyst->rows[i]] += path.locations[i].mpi_ns;
    }
    take_impact(analyst, &path);
    critical_path_clear(&path);
}

static void take_delays(struct analyst *analyst)
{
    struct analysis *analysis = analyst->analysis;
    struct delays delays = delays_of(analyst->graph);
    double *process_ns = memory_new(analysis->process_count * sizeof *process_ns);
    double *states_ns[2] = {memory_new(analysis->state_count * sizeof **states_ns),
                            memory_new(analysis->state_count * sizeof **states_ns)};
    for (size_t i = 0; i < analyst->graph->location_count; i++)
        process_ns[analyst->rows[i]] += delays_location_ns(&delays, i);
    for (size_t i = 0; i < delays.place_count; i++) {
        const struct delay_place *place = &delays.places[i];
        states_ns[place->label.before != TIME_IN_CALL][place->label.state] += place->short_ns + place->long_ns;
    }
    for (size_t i = 0; i < analysis->process_count; i++)
        analysis->delay_ns[i] = rounded(process_ns[i]);
    double unattributed_ns = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++)
        unattributed_ns += delays.waits[kind].unattributed_ns;
    analysis->unattributed = rounded(unattributed_ns);
    for (size_t i = 0; i < analysis->state_count; i++) {
        analysis->delay_states_ns[i] = rounded(states_ns[0][i]);
        analysis->delay_before_ns[i] = rounded(states_ns[1][i]);
    }
    free(process_ns);
    free(states_ns[0]);
    free(states_ns[1]);
    delays_clear(&delays);
}

/* Waiting for messages of the process in a row, or for it to receive theirs. */
static double endpoint_ns(const struct analysis *analysis, uint32_t row)
{
    double ns = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        if (ENDPOINT_KINDS >> kind & 1)
            ns += (double)analysis->waits[kind].causes_ns[row];
    return ns;
}

/* Finds locations that keep others waiting for messages long enough to matter. */
static bool *find_endpoints(const struct analyst *analyst)
{
    const struct analysis *analysis = analyst->analysis;
    bool *endpoints = memory_new(analyst->graph->location_count);
    double least_ns = REPLAY_SHARE * (double)analysis->duration;
    for (size_t location = 0; location < analyst->graph->location_count; location++)
        endpoints[location] = endpoint_ns(analysis, analyst->rows[location]) >= least_ns;
    return endpoints;
}

/* From this part of the waiting for a process on, queues are what is waited for there. Then the rest follows from them:
   a process that waits its turn elsewhere is late where others wait for it. */
static const double QUEUES_PREVAIL = 1.0 / 3;

static void keep_queued_for(const struct analyst *analyst, bool *endpoints)
{
    const struct analysis *analysis = analyst->analysis;
    for (size_t location = 0; location < analyst->graph->location_count; location++) {
        uint32_t row = analyst->rows[location];
        double queued_ns = (double)analysis->contention.causes_ns[row];
        endpoints[location] &= queued_ns > 0 && queued_ns >= QUEUES_PREVAIL * endpoint_ns(analysis, row);
    }
}

/* Elsewhere only what is proven to be spent in queues counts. */
static void keep_proven(struct queues *queues, const bool *queued_for)
{
    for (size_t i = 0; i < queues->count; i++)
        if (!queued_for[queues->queued[i].cause_location])
            queues->queued[i].behind_ns = queues->queued[i].ns;
}

/* Finds where processes queue for one, and replays the run without queues. */
static void take_contention(struct analyst *analyst)
{
    const struct graph *graph = analyst->graph;
    struct analysis *analysis = analyst->analysis;
    struct wait_sums *sums = &analysis->contention;
    double all_ns = (double)analysis->duration * (double)analysis->process_count;
    sums->calls = analysis->waits[WAIT_LATE_SENDER].calls + analysis->waits[WAIT_LATE_RECEIVER].calls;
    /* Searching the queues costs more than all other steps: not if even all these waits together are too little. */
    if (analyst_waits_ns(analysis, ENDPOINT_KINDS) < REPLAY_SHARE * all_ns)
        return;
    bool *endpoints = find_endpoints(analyst);
    if (!analyst->overlapping && !queues_possible(graph, endpoints)) {
        free(endpoints);
        return;
    }
    struct queues queues = queues_of(graph, endpoints, analysis->duration / QUEUED_LEAST);
    for (size_t i = 0; i < queues.count; i++) {
        const struct queued *queued = &queues.queued[i];
        if (queued->ns == 0)
            continue;
        struct call call = graph_call(graph, queued->location, queued->call);
        struct wait wait = wait_of(graph, queued->location, queued->call);
        int64_t begin_ns = call.enter_ns + wait.ns - queued->ns;
        wait.ns = queued->ns;
        add_wait(analyst, CONTENTION, queued->location, queued->call, &call, &wait, begin_ns,
                 course_bin(&analyst->edges, 0, time_since(analyst->begin_ns, begin_ns)));
    }
    if ((double)sums->ns >= REPLAY_SHARE * all_ns) {
        keep_queued_for(analyst, endpoints);
        keep_proven(&queues, endpoints);
        analyst->unqueued = true;
        analyst->unqueued_ns =
            replay_run(graph, (struct replay_options){.queues = &queues, .queued_for = endpoints}).end_ns;
    }
    queues_clear(&queues);
    free(endpoints);
}

/* Finds where the process that computes most, the lowest if equal, computes longer than the mean. */
static void take_uneven(struct analyst *analyst)
{
    struct analysis *analysis = analyst->analysis;
    struct wait_sums *sums = &analysis->uneven;
    int64_t *compute_ns = memory_new(analysis->process_count * sizeof *compute_ns), sum_ns = 0;
    uint32_t most = 0;
    for (size_t i = 0; i < analyst->graph->location_count; i++) {
        time_add(&compute_ns[analyst->rows[i]], analyst->compute_ns[i]);
        time_add(&sum_ns, analyst->compute_ns[i]);
    }
    for (uint32_t i = 0; i < analysis->process_count; i++)
        if (compute_ns[i] > compute_ns[most])
            most = i;
    /* An excess that is small for the run is not worth naming. */
    double mean_ns = (double)sum_ns / (double)analysis->process_count;
    bool uneven = sum_ns > 0 && (double)compute_ns[most] - mean_ns > BALANCED_SHARE * (double)analysis->duration;
    free(compute_ns);
    if (!uneven)
        return;
    struct uneven places = uneven_of(analyst->graph, analyst->rows, analysis->process_count, most);
    analysis->once = places.piece_ns;
    analysis->once_from = time_since(analyst->begin_ns, places.piece_from_ns);
    sums->calls = 1;
    sums->ns = sums->causes_ns[most] = places.ns;
    memcpy(sums->states_ns, places.states_ns, analysis->state_count * sizeof *sums->states_ns);
    for (uint32_t i = 0; i < analyst->graph->defs->site_count; i++)
        if (places.sites_ns[i] > 0)
            add_place(&analyst->sites_ns[UNEVEN], analyst->graph->defs->site_count, i, places.sites_ns[i]);
    uneven_clear(&places);
}

static void take_call_sites(struct analyst *analyst)
{
    call_sites_take(analyst->analysis, analyst->graph);
}

static void take_polling(struct analyst *analyst)
{
    for (size_t i = 0; i < analyst->graph->location_count; i++)
        time_add(&analyst->analysis->polled_ns[analyst->rows[i]], analyst->graph->locations[i].polled_ns);
}

/* The first steps need only the graph, and later ones need their results: which replays matter follows from the sums of
   waits and the critical path. Steps of one group write different parts of the analysis, so that they can run in
   parallel. */
enum { FIRST_STEPS = 2, LATER_STEPS = 6 };

/* By bit of enum analyse_step. Those made apart need nothing but the graph, and nothing needs them. */
enum { OPTIONAL_STEPS = ANALYSE_APART_COUNT + 1 };
static void (*const optional[OPTIONAL_STEPS])(struct analyst *) = {take_delays, concurrency_take, take_call_sites};

static void first_step(void *context, size_t index)
{
    static void (*const steps[FIRST_STEPS])(struct analyst *) = {sum_waits, take_path};
    steps[index](context);
}

static void later_step(void *context, size_t index)
{
    /* The longest first: threads take them in this order. */
    static void (*const steps[LATER_STEPS])(struct analyst *) = {save_all,    take_delays,     take_contention,
                                                                 take_uneven, take_call_sites, concurrency_take};
    struct analyst *analyst = context;
    for (size_t i = 0; i < OPTIONAL_STEPS; i++)
        if (steps[index] == optional[i] && (analyst->without >> i & 1))
            return;
    /* Only savings tell. */
    if (steps[index] != take_delays || analyst->delays_from_ns == 0)
        steps[index](analyst);
}

/* Savings are differences to a replay that save_all() knows. */
static void save_queues(struct analyst *analyst)
{
    struct analysis *analysis = analyst->analysis;
    if (analyst->unqueued)
        analysis->contention.saving_ns = time_since(analyst->unqueued_ns, analysis->replay);
}

static bool saves_from(const struct analysis *analysis, int64_t from_ns)
{
    bool saves = analysis->contention.saving_ns > from_ns;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        saves |= analysis->waits[kind].saving_ns > from_ns;
    return saves;
}

static void last_step(void *context, size_t index)
{
    struct analyst *analyst = context;
    bool delays = analyst->delays_from_ns > 0 && !(analyst->without & ANALYSE_DELAYS);
    if (index != WAIT_NONE)
        save_beside_even_work(analyst, (enum wait_kind)index);
    else if (delays && saves_from(analyst->analysis, analyst->delays_from_ns))
        take_delays(analyst);
}

static void take_all_places(struct analyst *analyst)
{
    const struct defs *defs = analyst->graph->defs;
    for (int place = 0; place < SUMS; place++) {
        struct wait_sums *sums = sums_at(analyst->analysis, place);
        sums->site_count = take_places(analyst->sites_ns[place], defs->site_count, &sums->sites);
        sums->comm_count = take_places(analyst->comms_ns[place], defs->comm_count, &sums->comms);
    }
}

/* The analysis is to be filled. Free with analyst_end. */
static struct analyst analyst_begin(const struct graph *graph)
{
    struct analyst analyst = {.graph = graph, .begin_ns = graph_begin_ns(graph)};
    analyst.rows = memory_new(graph->location_count * sizeof *analyst.rows);
    analyst.compute_ns = memory_new(graph->location_count * sizeof *analyst.compute_ns);
    size_t processes = find_rows(graph, analyst.rows);
    analyst.analysis = analysis_new(processes, graph->defs->state_count);
    analyst.analysis->duration = graph_duration_ns(graph);
    analyst.edges = course_edges_of(analyst.analysis->duration);
    return analyst;
}

static struct analysis *analyst_end(struct analyst *analyst)
{
    free(analyst->rows);
    free(analyst->compute_ns);
    return analyst->analysis;
}

struct analysis *analyse_in_parallel(const struct graph *graph, struct analyse_how how)
{
    struct analyst analyst = analyst_begin(graph);
    struct analysis *analysis = analyst.analysis;
    analyst.without = how.without;
    analyst.delays_from_ns = how.delays_from_ns;
    analysis->messages = graph->message_count - graph->unmatched;
    analysis->collectives = graph->instance_count;
    analysis->unmatched = graph->unmatched;
    analysis->early = graph->early;
    analysis->clock_error = graph->clock_error_ns;
    take_polling(&analyst);
    hub_take(analysis, graph);
    parallel_run(how.threads, FIRST_STEPS, first_step, &analyst);
    parallel_run(how.threads, LATER_STEPS, later_step, &analyst);
    save_queues(&analyst);
    parallel_run(how.threads, WAIT_KIND_COUNT, last_step, &analyst);
    take_all_places(&analyst);
    return analyst_end(&analyst);
}

struct analysis *analyse(const struct graph *graph)
{
    return analyse_in_parallel(graph, (struct analyse_how){.threads = 1});
}

struct analysis *analyse_apart(const struct graph *graph, unsigned steps)
{
    struct analyst analyst = analyst_begin(graph);
    for (size_t i = 0; i < ANALYSE_APART_COUNT; i++)
        if (steps >> i & 1)
            optional[i](&analyst);
    return analyst_end(&analyst);
}

static void take_times(int64_t *to, const int64_t *from, size_t count)
{
    memcpy(to, from, count * sizeof *to);
}

void analyse_take_apart(struct analysis *analysis, const struct analysis *from, unsigned steps)
{
    size_t processes = analysis->process_count, states = analysis->state_count;
    if (steps & ANALYSE_DELAYS) {
        analysis->unattributed = from->unattributed;
        take_times(analysis->delay_ns, from->delay_ns, processes);
        take_times(analysis->delay_states_ns, from->delay_states_ns, states);
        take_times(analysis->delay_before_ns, from->delay_before_ns, states);
    }
    if (steps & ANALYSE_CONCURRENCY) {
        take_times(analysis->concurrency_ns, from->concurrency_ns, processes);
        take_times(analysis->computing_course_ns, from->computing_course_ns, COURSE_BINS);
    }
}
