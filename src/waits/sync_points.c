/* SPDX-License-Identifier: BSD-3-Clause */
#include "waits/sync_points.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/sweep.h"

/* More than one step is needed only if clocks are wrong or a communicator's number is used twice. */
enum { STEPS = 64 };

/* With more communicators than this, only the first and the last are examined. */
enum { COMMS_LOOKED_AT = 64 };

/* Collecting */

/* True if no process left the collective before the last one arrived. */
static bool synchronises(const struct graph *graph, const struct instance *instance)
{
    if (instance->last_wait != WAIT_NONE)
        return instance->earliest_leave_ns >= instance->latest_enter_ns;
    struct collective collective = graph_collective_of(graph, instance);
    return (collective.shape == SHAPE_ALL_TO_ALL || collective.shape == SHAPE_ALL_TO_ONE) &&
           (collective.stage == STAGE_BLOCKING || (collective.stage == STAGE_SPLIT && !instance->waits_at_end)) &&
           instance->complete && instance->earliest_leave_ns >= instance->latest_enter_ns;
}

/* True for waits for messages, and for collectives that not all members leave together. */
static bool is_tie(const struct graph *graph, const struct call *call)
{
    const struct instance *instance = graph_instance(graph, call);
    if (!instance)
        return true;
    if (instance->last_wait != WAIT_NONE)
        return false;
    bool of_all = graph_collective(graph, call).shape == SHAPE_ALL_TO_ALL && !graph->streams[instance->stream].sided;
    return !of_all && !synchronises(graph, instance);
}

/* The location's waits for the same other location form a chain, the latest first. */
static void add_tie(struct sync_points *points, uint32_t location, uint32_t call, size_t index, struct wait_cause cause)
{
    struct location_points *where = &points->locations[location];
    uint64_t *head = map_put(&points->pairs, map_pair(location, cause.location), 0);
    if (!where->ties)
        where->ties = memory_new(points->graph->waits[location].count * sizeof *where->ties);
    where->ties[index] = (struct tie){(uint32_t)*head, cause};
    *head = call + UINT64_C(1);
}

static void add_instance(struct sync_points *points, uint32_t location, uint32_t call, const struct instance *instance)
{
    struct location_points *where = &points->locations[location];
    int32_t comm = points->graph->streams[instance->stream].comm;
    uint64_t at = *map_put(&points->tracks, map_pair(location, (uint32_t)comm), where->track_count);
    if (at == where->track_count)
        ARRAY_PUSH(where->tracks, where->track_count, where->track_capacity, (struct comm_track){.comm = comm});
    struct comm_track *track = &where->tracks[at];
    ARRAY_PUSH(track->calls, track->count, track->capacity, call);
}

static int64_t order_of(const struct graph *graph, const struct wait_cause *cause)
{
    return graph_call(graph, cause->location, cause->call).enter_ns;
}

static struct wait_cause cause_of(const struct graph *graph, uint32_t location, uint32_t call)
{
    struct wait wait = wait_of(graph, location, call);
    return (struct wait_cause){wait.cause_location, wait.cause_call};
}

/* Calls [from, to) of a location; `latest_ns`: the latest order so far. */
static void collect_range(struct sync_points *points, uint32_t location, uint32_t from, uint32_t to, int64_t *latest_ns)
{
    const struct graph *graph = points->graph;
    size_t *index = &points->locations[location].left;
    for (uint32_t i = from; i < to; i++) {
        struct call call = graph_call(graph, location, i);
        const struct instance *instance = graph_instance(graph, &call);
        if (instance && synchronises(graph, instance))
            add_instance(points, location, i, instance);
        if (!wait_table_marks(graph, location, i))
            continue;
        struct wait_cause cause = cause_of(graph, location, i);
        int64_t order_ns = order_of(graph, &cause);
        if (order_ns < *latest_ns)
            map_put(&points->held, map_pair(location, i), (uint64_t)*latest_ns);
        else
            *latest_ns = order_ns;
        if (is_tie(graph, &call))
            add_tie(points, location, i, *index, cause);
        ++*index;
    }
}

static void collect(struct sync_points *points)
{
    const struct graph *graph = points->graph;
    int64_t *latest_ns = memory_new(graph->location_count * sizeof *latest_ns);
    struct sweep sweep = sweep_begin(graph);
    uint32_t location, from, to;
    for (location = 0; location < graph->location_count; location++)
        latest_ns[location] = INT64_MIN;
    while (sweep_next(&sweep, &location, &from, &to))
        collect_range(points, location, from, to, &latest_ns[location]);
    free(latest_ns);
}

/* Makes the location's last wait before the call the current one. */
static void find_latest(struct sync_points *points, uint32_t location, size_t before)
{
    const struct graph *graph = points->graph;
    uint32_t call = waiting_call_before(graph, location, before);
    if (call == GRAPH_NONE)
        return;
    struct call waiting = graph_call(graph, location, call);
    struct location_points *where = &points->locations[location];
    bool ties = is_tie(graph, &waiting);
    struct wait_cause cause = ties ? where->ties[where->left - 1].cause : cause_of(graph, location, call);
    const uint64_t *held = points->held.count ? map_find(&points->held, map_pair(location, call)) : NULL;
    where->latest = (struct wait_point){.order_ns = held ? (int64_t)*held : order_of(graph, &cause),
                                        .ns = (double)wait_ns(graph, location, where->left - 1),
                                        .call = call,
                                        .cause_location = cause.location,
                                        .cause_call = cause.call,
                                        .kind = graph->waits[location].kinds[where->left - 1],
                                        .ties = ties};
}

struct sync_points sync_points_of(const struct graph *graph)
{
    struct sync_points points = {.graph = graph};
    points.locations = memory_new(graph->location_count * sizeof *points.locations);
    collect(&points);
    for (uint32_t location = 0; location < graph->location_count; location++)
        find_latest(&points, location, graph->locations[location].count);
    return points;
}

void sync_points_clear(struct sync_points *points)
{
    for (size_t i = 0; i < points->graph->location_count; i++) {
        struct location_points *location = &points->locations[i];
        for (size_t t = 0; t < location->track_count; t++)
            free(location->tracks[t].calls);
        free(location->tracks);
        free(location->ties);
    }
    free(points->locations);
    map_clear(&points->pairs);
    map_clear(&points->tracks);
    map_clear(&points->held);
    *points = (struct sync_points){0};
}

/* Looking back */

struct wait_point sync_points_take(struct sync_points *points, uint32_t location)
{
    struct location_points *where = &points->locations[location];
    struct wait_point wait = where->latest;
    where->left--;
    if (wait.ties)
        *map_put(&points->pairs, map_pair(location, wait.cause_location), 0) = where->ties[where->left].previous;
    find_latest(points, location, wait.call);
    return wait;
}

/* Time of the call after an instant. */
static double rest_after(const struct call *call, int64_t ns)
{
    int64_t rest_ns = time_since(ns, call->leave_ns), all_ns = time_since(call->enter_ns, call->leave_ns);
    return (double)smaller(rest_ns, all_ns);
}

/* The two locations of a question, the waiter first, and the best answer so far. */
struct search {
    struct sync_points *points;
    uint32_t locations[2], calls[2];
    struct opening found[2];
};

static bool is_later(const struct search *search, uint32_t waiter_call, uint32_t delayer_call)
{
    if (delayer_call != search->found[1].call)
        return delayer_call > search->found[1].call;
    return waiter_call > search->found[0].call;
}

/* Waits of one of the locations for the other. */
static void search_waits(struct search *search, int waiter)
{
    const struct sync_points *points = search->points;
    const struct graph *graph = points->graph;
    uint32_t location = search->locations[waiter], other = search->locations[!waiter], index = 0;
    const uint64_t *head = map_find(&points->pairs, map_pair(location, other));
    uint32_t at = head ? (uint32_t)*head : 0, cause_call = 0;
    int kind = WAIT_NONE;
    for (int step = 0; at && step < STEPS && kind == WAIT_NONE; step++) {
        index = at - 1;
        uint32_t wait = waits_before(graph, location, index);
        const struct tie *tie = &points->locations[location].ties[wait];
        cause_call = tie->cause.call;
        at = tie->previous;
        if (index < search->calls[waiter] && cause_call < search->calls[!waiter])
            kind = graph->waits[location].kinds[wait];
    }
    if (kind == WAIT_NONE)
        return;
    uint32_t waiter_call = waiter ? cause_call : index, delayer_call = waiter ? index : cause_call;
    if (!is_later(search, waiter_call, delayer_call))
        return;
    struct call call = graph_call(graph, location, index), cause = graph_call(graph, other, cause_call);
    /* For messages, which are the first kinds; it is not known when data of a root have arrived. */
    bool known = kind <= WAIT_LATE_RECEIVER;
    search->found[waiter] = (struct opening){index, known ? rest_after(&call, cause.leave_ns) : 0};
    search->found[!waiter] = (struct opening){cause_call, known ? rest_after(&cause, call.leave_ns) : 0};
}

/* How many of the track's calls are before this one: later ones are never queried again. */
static size_t track_left(struct comm_track *track, uint32_t call)
{
    while (track->count > 0 && track->calls[track->count - 1] >= call)
        track->count--;
    return track->count;
}

/* Without decoding the call, which is in a collective. */
static const struct instance *instance_of(const struct graph *graph, uint32_t location, uint32_t index)
{
    return &graph->instances[location_packed(&graph->locations[location], index)->link - 1];
}

static void take_instance(struct search *search, const struct instance *instance, const uint32_t indices[2])
{
    for (int i = 0; i < 2; i++) {
        struct call call = graph_call(search->points->graph, search->locations[i], indices[i]);
        search->found[i] = (struct opening){indices[i], rest_after(&call, instance->earliest_leave_ns)};
    }
}

/* Collectives of a communicator of the waiter, by its track. */
static void search_track(struct search *search, struct comm_track *track)
{
    const struct graph *graph = search->points->graph;
    const uint64_t *other = map_find(&search->points->tracks, map_pair(search->locations[1], (uint32_t)track->comm));
    if (!other)
        return;
    struct comm_track *tracks[2] = {track, &search->points->locations[search->locations[1]].tracks[*other]};
    size_t left[2] = {track_left(tracks[0], search->calls[0]), track_left(tracks[1], search->calls[1])};
    for (int step = 0; left[0] && left[1] && step < STEPS; step++) {
        uint32_t indices[2];
        const struct instance *instances[2];
        for (int i = 0; i < 2; i++) {
            indices[i] = tracks[i]->calls[left[i] - 1];
            instances[i] = instance_of(graph, search->locations[i], indices[i]);
        }
        if (instances[0] != instances[1])
            left[instances[1]->latest_enter_ns > instances[0]->latest_enter_ns]--;
        else if (is_later(search, indices[0], indices[1]))
            take_instance(search, instances[0], indices);
        if (instances[0] == instances[1])
            return;
    }
}

struct common_point common_point_before(struct sync_points *points, uint32_t waiter, uint32_t waiter_call,
                                        uint32_t delayer, uint32_t delayer_call)
{
    struct search search = {points, {waiter, delayer}, {waiter_call, delayer_call}, {{-1, 0}, {-1, 0}}};
    search_waits(&search, 0);
    search_waits(&search, 1);
    struct location_points *where = &points->locations[waiter];
    for (size_t i = where->track_count, looked_at = 0; i-- > 0 && looked_at < COMMS_LOOKED_AT; looked_at++)
        search_track(&search, &where->tracks[i]);
    if (where->track_count > COMMS_LOOKED_AT)
        search_track(&search, &where->tracks[0]);
    return (struct common_point){search.found[0], search.found[1]};
}
