/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/sync_points.h"

#include "core/memory.h"

/* Only clocks that are wrong, or a communicator's number that is used twice, make more steps than one necessary. */
enum { STEPS = 64 };

/* Of more communicators than this the first and the last are looked at. */
enum { COMMS_LOOKED_AT = 64 };

/* Collecting */

/* True if nobody left the collective before the last came. */
static bool synchronises(const struct group *group, struct collective collective)
{
    return (collective.shape == SHAPE_ALL_TO_ALL || collective.shape == SHAPE_ALL_TO_ONE) &&
           collective.stage == STAGE_BLOCKING && group->complete && group->earliest_leave_ns >= group->latest_enter_ns;
}

static void add_wait(struct sync_points *points, uint32_t lane, uint32_t call, const struct wait *wait, bool ties)
{
    struct lane_points *where = &points->lanes[lane];
    const struct wait_point *last = where->wait_count ? &where->waits[where->wait_count - 1] : NULL;
    int64_t order_ns = graph_call(points->graph, wait->cause_lane, wait->cause_call).enter_ns;
    uint32_t previous = 0, index = (uint32_t)where->wait_count + 1;
    if (ties) {
        uint64_t *head = map_put(&points->pairs, map_pair(lane, wait->cause_lane), 0);
        previous = (uint32_t)*head;
        *head = index;
    }
    struct wait_point point = {.order_ns = last && last->order_ns > order_ns ? last->order_ns : order_ns,
                               .ns = (double)wait->ns,
                               .earlier_ns = last ? last->earlier_ns + last->ns : 0,
                               .call = call,
                               .cause_lane = wait->cause_lane,
                               .cause_call = wait->cause_call,
                               .previous = previous,
                               .kind = (uint8_t)wait->kind,
                               .ties = ties};
    ARRAY_PUSH(where->waits, where->wait_count, where->wait_capacity, point);
}

static void add_group(struct sync_points *points, uint32_t lane, uint32_t call, const struct group *group)
{
    struct lane_points *where = &points->lanes[lane];
    int32_t comm = points->graph->streams[group->stream].comm;
    uint64_t track = *map_put(&points->tracks, map_pair(lane, (uint32_t)comm), where->track_count);
    if (track == where->track_count)
        ARRAY_PUSH(where->tracks, where->track_count, where->track_capacity, (struct comm_track){comm, 0});
    ARRAY_PUSH(where->groups, where->group_count, where->group_capacity,
               (struct group_point){call, where->tracks[track].head});
    where->tracks[track].head = (uint32_t)where->group_count;
}

static void collect_lane(struct sync_points *points, uint32_t lane)
{
    const struct graph *graph = points->graph;
    const struct lane *where = &graph->lanes[lane];
    for (uint32_t i = 0; i < where->count; i++) {
        struct call call = graph_call(graph, lane, i);
        if (!call.group && !call.received && !call.sent && !call.operates)
            continue;
        const struct group *group = graph_group(graph, &call);
        bool meets = group && synchronises(group, graph_collective(graph, &call));
        struct wait wait = wait_of(graph, lane, i);
        if (wait.kind != WAIT_NONE)
            add_wait(points, lane, i, &wait,
                     !group || (!meets && graph_collective(graph, &call).shape != SHAPE_ALL_TO_ALL));
        if (meets)
            add_group(points, lane, i, group);
    }
    points->lanes[lane].left = points->lanes[lane].wait_count;
}

struct sync_points sync_points_of(const struct graph *graph)
{
    struct sync_points points = {.graph = graph};
    points.lanes = memory_new(graph->lane_count * sizeof *points.lanes);
    for (uint32_t lane = 0; lane < graph->lane_count; lane++)
        collect_lane(&points, lane);
    return points;
}

void sync_points_clear(struct sync_points *points)
{
    for (size_t i = 0; i < points->graph->lane_count; i++) {
        free(points->lanes[i].waits);
        free(points->lanes[i].groups);
        free(points->lanes[i].tracks);
    }
    free(points->lanes);
    map_clear(&points->pairs);
    map_clear(&points->tracks);
    *points = (struct sync_points){0};
}

/* Looking back */

const struct wait_point *sync_points_take(struct sync_points *points, uint32_t lane)
{
    struct lane_points *where = &points->lanes[lane];
    const struct wait_point *wait = &where->waits[--where->left];
    if (wait->ties)
        *map_put(&points->pairs, map_pair(lane, wait->cause_lane), 0) = wait->previous;
    return wait;
}

size_t waits_before(const struct lane_points *lane, int64_t call)
{
    /* All before `low` are before the call, none from `high` on is. */
    size_t low = lane->left, high = lane->left, step = 1;
    while (low > 0 && lane->waits[low - 1].call >= call) {
        high = low - 1;
        low = low > step ? low - step : 0;
        step *= 2;
    }
    while (high < lane->wait_count && lane->waits[high].call < call) {
        low = high + 1;
        high = lane->wait_count - high > step ? high + step : lane->wait_count;
        step *= 2;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lane->waits[middle].call < call)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Time of the call after an instant. */
static double rest_after(const struct call *call, int64_t ns)
{
    int64_t rest_ns = time_since(ns, call->leave_ns), all_ns = time_since(call->enter_ns, call->leave_ns);
    return (double)(rest_ns < all_ns ? rest_ns : all_ns);
}

/* The two lanes of a question, the waiter first, and the best answer so far. */
struct search {
    struct sync_points *points;
    uint32_t lanes[2], calls[2];
    struct opening found[2];
};

static bool is_later(const struct search *search, uint32_t waiter_call, uint32_t delayer_call)
{
    if (delayer_call != search->found[1].call)
        return delayer_call > search->found[1].call;
    return waiter_call > search->found[0].call;
}

/* Waits of one of the lanes for the other. */
static void search_waits(struct search *search, int waiter)
{
    struct sync_points *points = search->points;
    uint32_t lane = search->lanes[waiter], other = search->lanes[!waiter];
    const uint64_t *head = map_find(&points->pairs, map_pair(lane, other));
    uint32_t at = head ? (uint32_t)*head : 0;
    const struct wait_point *wait = NULL;
    for (int step = 0; at && step < STEPS; step++) {
        wait = &points->lanes[lane].waits[at - 1];
        if (wait->call < search->calls[waiter] && wait->cause_call < search->calls[!waiter])
            break;
        at = wait->previous;
        wait = NULL;
    }
    if (!wait || !is_later(search, waiter ? wait->cause_call : wait->call, waiter ? wait->call : wait->cause_call))
        return;
    struct call call = graph_call(points->graph, lane, wait->call),
                cause = graph_call(points->graph, other, wait->cause_call);
    /* Of messages, which are the first kinds; when data of a root are through is not known. */
    bool known = wait->kind <= WAIT_LATE_RECEIVER;
    search->found[waiter] = (struct opening){wait->call, known ? rest_after(&call, cause.leave_ns) : 0};
    search->found[!waiter] = (struct opening){wait->cause_call, known ? rest_after(&cause, call.leave_ns) : 0};
}

/* The track's latest point before the call: those behind it are never asked for again. */
static uint32_t track_head(const struct lane_points *lane, struct comm_track *track, uint32_t call)
{
    while (track->head && lane->groups[track->head - 1].call >= call)
        track->head = lane->groups[track->head - 1].previous;
    return track->head;
}

/* Collectives of a communicator of the waiter, by its track. */
static void search_track(struct search *search, struct comm_track *track)
{
    const struct graph *graph = search->points->graph;
    struct lane_points *lanes[2] = {&search->points->lanes[search->lanes[0]], &search->points->lanes[search->lanes[1]]};
    const uint64_t *other = map_find(&search->points->tracks, map_pair(search->lanes[1], (uint32_t)track->comm));
    if (!other)
        return;
    uint32_t at[2] = {track_head(lanes[0], track, search->calls[0]),
                      track_head(lanes[1], &lanes[1]->tracks[*other], search->calls[1])};
    for (int step = 0; at[0] && at[1] && step < STEPS; step++) {
        const struct group_point *group_points[2] = {&lanes[0]->groups[at[0] - 1], &lanes[1]->groups[at[1] - 1]};
        struct call calls[2];
        for (int i = 0; i < 2; i++)
            calls[i] = graph_call(graph, search->lanes[i], group_points[i]->call);
        const struct group *groups[2] = {graph_group(graph, &calls[0]), graph_group(graph, &calls[1])};
        if (groups[0] != groups[1]) {
            int later = groups[1]->latest_enter_ns > groups[0]->latest_enter_ns;
            at[later] = group_points[later]->previous;
            continue;
        }
        if (is_later(search, group_points[0]->call, group_points[1]->call))
            for (int i = 0; i < 2; i++)
                search->found[i] =
                    (struct opening){group_points[i]->call, rest_after(&calls[i], groups[0]->earliest_leave_ns)};
        return;
    }
}

struct common_point common_point_before(struct sync_points *points, uint32_t waiter, uint32_t waiter_call,
                                        uint32_t delayer, uint32_t delayer_call)
{
    struct search search = {points, {waiter, delayer}, {waiter_call, delayer_call}, {{-1, 0}, {-1, 0}}};
    search_waits(&search, 0);
    search_waits(&search, 1);
    struct lane_points *where = &points->lanes[waiter];
    for (size_t i = where->track_count, looked_at = 0; i-- > 0 && looked_at < COMMS_LOOKED_AT; looked_at++)
        search_track(&search, &where->tracks[i]);
    if (where->track_count > COMMS_LOOKED_AT)
        search_track(&search, &where->tracks[0]);
    return (struct common_point){search.found[0], search.found[1]};
}
