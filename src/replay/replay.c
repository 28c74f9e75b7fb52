/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "graph/wait_table.h"
#include "graph/wait_windows.h"
#include "graph/window_edges.h"
#include "replay/exact.h"

static bool is_free_call(const struct exact *exact, const struct call *call)
{
    const bool *states = exact->lanes[0].options.free_states;
    return states && states[graph_state(exact->player.graph, call)->first_of_name];
}

static void exact_wake(struct player *player, uint32_t location)
{
    exact_make_ready((struct exact *)player, location);
}

/* The location reaches its next call: its time is that of the enter, and others learn that it has arrived. */
static void enter(struct exact *exact, uint32_t location, const struct call *call)
{
    uint32_t at = exact->player.locations[location].at;
    exact_compute(exact, location, at, graph_left_before_ns(exact->player.graph, location, at), call->enter_ns);
    player_enter(&exact->player, location, call);
}

/* The part of the call's wait that is left without early waits: the late complete after one. -1: nothing changes. */
static int64_t left_of_early_wait(const struct exact *exact, size_t lane, uint32_t location)
{
    const struct graph *graph = exact->player.graph;
    uint32_t index = exact->player.locations[location].at;
    if (!lane_is_in(exact->sets.free[WAIT_EARLY_WAIT], lane) || wait_kind_in(graph, location, index) != WAIT_EARLY_WAIT)
        return -1;
    struct wait wait = wait_of(graph, location, index);
    struct wait_parts parts = wait_parts(graph, location, index, &wait);
    if (parts.count == 1 || lane_is_in(exact->sets.free[WAIT_LATE_COMPLETE], lane))
        return 0;
    return parts.part[1].ns;
}

/* Without early waits, a late complete is what is left of them. */
static void depend_on_edge(struct exact *exact, uint32_t location, const struct call *call,
                           const struct dependency *dependency)
{
    const int64_t *now_ns = player_now(&exact->player, location);
    for (size_t i = 0; i < exact->player.lanes; i++) {
        int64_t left_ns = left_of_early_wait(exact, i, location);
        bool free = left_ns >= 0 && dependency->kind == WAIT_LATE_COMPLETE;
        int64_t ns =
            own_time_end(own_time_in(&exact->changes, i, call, dependency), now_ns[i], dependency->replayed_ns[i],
                         free || lane_is_in(exact->sets.free[dependency->kind], i));
        if (free)
            ns += left_ns;
        exact->end_ns[i] = larger(exact->end_ns[i], ns);
    }
}

/* The same for what the call waits for on its window. */
static bool end_of_edges(struct exact *exact, uint32_t location, const struct call *call, int64_t wait_ns)
{
    const struct player *player = &exact->player;
    uint32_t index = player->locations[location].at;
    for (size_t i = window_edges_of(player->graph, location, index); i < player->graph->edge_count; i++) {
        const struct window_edge *edge = &player->graph->edges[i];
        if (edge->location != location || edge->call != index)
            break;
        if (!player->edges[i].happened) {
            player->edges[i].waits = true;
            return false;
        }
        depend_on_edge(exact, location, call,
                       &(struct dependency){.recorded_ns = window_edge_until_ns(player->graph, edge),
                                            .replayed_ns = player->edge_ns + i * player->lanes,
                                            .kind = (enum wait_kind)edge->kind,
                                            .wait_ns = wait_ns});
    }
    return true;
}

static void depend_on_no_one(struct exact *exact, uint32_t location, const struct call *call, int64_t wait_ns)
{
    exact_depend(exact, location, call,
                 &(struct dependency){.recorded_ns = call->enter_ns,
                                      .replayed_ns = player_now(&exact->player, location),
                                      .wait_ns = wait_ns});
}

static bool end_with_messages(struct exact *exact, uint32_t location, const struct call *call)
{
    const struct graph *graph = exact->player.graph;
    const struct location_play *where = &exact->player.locations[location];
    int64_t wait_ns = wait_ns_in(graph, location, where->at);
    if (call->received && !exact_end_of_receives(exact, location, call, wait_ns))
        return false;
    bool sends = call->sent || call->completed;
    if (sends && wait_kind_in(graph, location, where->at) == WAIT_LATE_RECEIVER &&
        !exact_end_of_sends(exact, location, call, wait_ns))
        return false;
    /* Its own time only. */
    if (exact->end_ns[0] == NOT_YET)
        depend_on_no_one(exact, location, call, wait_ns);
    if (!call->operates)
        return true;
    if (!end_of_edges(exact, location, call, wait_ns))
        return false;
    return exact_end_of_operations(exact, location, call, wait_ns);
}

/* In replays in which the call at hand is free it ends when it is entered, whatever the others wait for. */
static void end_free(struct exact *exact, uint32_t location)
{
    for (size_t i = 0; i < exact->player.lanes; i++)
        if (lane_is_in(exact->changes.free, i))
            exact->end_ns[i] = player_now(&exact->player, location)[i];
}

static void end_call(struct exact *exact, uint32_t location, const struct call *call, const int64_t *end_ns)
{
    /* Before player_leave, which moves on to the next call: receivers of its messages need the enter. */
    exact_end_messages(exact, location, call);
    player_leave(&exact->player, location, call, end_ns);
}

/* In a replay alone, what the call waits for may be others than in the record (see is_alone()): then the call itself is
   shortened. */
static void change_call(struct exact *exact, uint32_t location, struct call *call)
{
    exact_change_call(exact, location, call);
    if (exact->player.lanes > 1)
        return;
    call->leave_ns -= exact->changes.shorter_ns[0];
    exact->changes.shorter_ns[0] = exact->changes.shorter = 0;
}

/* Plays a location until it must wait or has finished. */
static void play(struct exact *exact, uint32_t location)
{
    const struct location_play *where = &exact->player.locations[location];
    while (where->at < exact->player.graph->locations[location].count) {
        struct call call = graph_call(exact->player.graph, location, where->at);
        /* Not beyond the window: the others' calls of the same time are still in the cache (sweep.h). */
        if (!where->entered && call.enter_ns > exact->until_ns) {
            exact->later[exact->later_count++] = location;
            return;
        }
        if (!where->entered)
            enter(exact, location, &call);
        if (!call.instance || exact->player.lanes == 1)
            change_call(exact, location, &call);
        const int64_t *end_ns = exact->end_ns;
        exact_end_is_unknown(exact);
        if (is_free_call(exact, &call))
            end_ns = player_now(&exact->player, location);
        else if (call.instance ? !exact_end_in_instance(exact, location, &call)
                               : !end_with_messages(exact, location, &call))
            return;
        if (exact->changes.free)
            end_free(exact, location);
        end_call(exact, location, &call, end_ns);
    }
}

/* Deadlock: ends one call alone. False if all locations have finished. */
static bool force(struct exact *exact)
{
    uint32_t first = player_force(&exact->player);
    if (first == GRAPH_NONE)
        return false;
    struct call call = graph_call(exact->player.graph, first, exact->player.locations[first].at);
    exact_change_call(exact, first, &call);
    exact->changes = (struct call_changes){.quick = exact->changes.quick};
    exact_end_is_unknown(exact);
    depend_on_no_one(exact, first, &call, 0);
    end_call(exact, first, &call, exact->end_ns);
    player_went_on(&exact->player, first);
    exact_make_ready(exact, first);
    return true;
}

/* The collective by which the location's process starts; GRAPH_NONE: none, or it does something else first. */
static uint32_t start_of(const struct graph *graph, uint32_t location)
{
    if (graph->locations[location].count == 0)
        return GRAPH_NONE;
    struct call first = graph_call(graph, location, 0);
    if (!first.instance || graph_collective(graph, &first).wait != WAIT_AT_INIT)
        return GRAPH_NONE;
    return first.instance - 1;
}

/* Without waiting for late starts, all processes that start together begin with the first of them. */
static void begin_together(struct player *player, size_t lane)
{
    const struct graph *graph = player->graph;
    struct map begins = {0}; /* start -> when the first location of it begins */
    for (uint32_t location = 0; location < graph->location_count; location++) {
        uint32_t start = start_of(graph, location);
        uint64_t *begin_ns;
        if (start == GRAPH_NONE)
            continue;
        /* The map's values are unsigned: times go in and out by a cast. */
        begin_ns = map_put(&begins, start, (uint64_t)player_now(player, location)[lane]);
        if (player_now(player, location)[lane] < (int64_t)*begin_ns)
            *begin_ns = (uint64_t)player_now(player, location)[lane];
    }
    for (uint32_t location = 0; location < graph->location_count; location++) {
        const uint64_t *begin_ns = map_find(&begins, start_of(graph, location));
        if (begin_ns)
            player_now(player, location)[lane] = (int64_t)*begin_ns;
    }
    map_clear(&begins);
}

/* All locations are at the end of the window, or wait: the next one begins. False if none can continue in it. */
static bool go_on_later(struct exact *exact)
{
    if (exact->later_count == 0)
        return false;
    exact->until_ns = window_end_ns(&exact->windows, ++exact->window);
    while (exact->later_count > 0)
        exact_make_ready(exact, exact->later[--exact->later_count]);
    return true;
}

static const struct player_rules EXACT_RULES = {exact_send, exact_receive, exact_post, exact_wake, false};

static void lane_begin(struct exact *exact, size_t index, const struct replay_options *options)
{
    struct lane *lane = &exact->lanes[index];
    *lane = (struct lane){.options = *options};
    exact->special |= options->free_channels || options->queues || options->queued_for;
    if (options->queues)
        lane->queue_at = queues_by_location(options->queues, exact->player.graph->location_count);
    exact_add_changes(exact, index);
    if (lane_is_in(exact->sets.free[WAIT_AT_INIT], index))
        begin_together(&exact->player, index);
}

static void exact_begin(struct exact *exact, const struct graph *graph, const struct replay_options *const *options,
                        size_t lanes)
{
    size_t locations = graph->location_count;
    *exact = (struct exact){.windows = windows_of(graph), .rows.lanes = lanes, .instead = options[0]->instead};
    player_begin(&exact->player, graph, &EXACT_RULES, lanes);
    exact->until_ns = window_end_ns(&exact->windows, 0);
    exact->later = memory_new(locations * sizeof *exact->later);
    exact->ready = memory_new(locations * sizeof *exact->ready);
    exact->message_rows = memory_new(graph->message_count * sizeof *exact->message_rows);
    exact->posts = memory_new(graph->link_count * sizeof *exact->posts);
    for (size_t i = 0; i < lanes; i++)
        lane_begin(exact, i, options[i]);
    for (uint32_t location = 0; location < locations; location++)
        exact_make_ready(exact, location);
}

static void exact_clear(struct exact *exact)
{
    for (size_t i = 0; i < exact->player.lanes; i++)
        free(exact->lanes[i].queue_at);
    exact_clear_changes(exact);
    player_clear(&exact->player);
    time_rows_clear(&exact->rows);
    free(exact->ready);
    free(exact->later);
    free(exact->message_rows);
    free(exact->posts);
}

/* From the end of its last call to its last event a location computes. */
static void end_location(struct exact *exact, uint32_t location)
{
    const struct location *where = &exact->player.graph->locations[location];
    int64_t last_ns = graph_left_before_ns(exact->player.graph, location, where->count);
    exact_compute(exact, location, (uint32_t)where->count, last_ns, where->end_ns);
}

/* Plays as many replays as `lanes` at once. */
static void replay_lanes(const struct graph *graph, const struct replay_options *const *options, size_t lanes,
                         struct replay *const *replays)
{
    struct exact exact;
    exact_begin(&exact, graph, options, lanes);
    do {
        while (exact.ready_count > 0) {
            uint32_t location = exact.ready[--exact.ready_count];
            exact.player.locations[location].is_ready = false;
            play(&exact, location);
            player_went_on(&exact.player, location);
        }
        /* First the next window, and only if none is left a deadlock: a location that waits for one of a later window
           is no deadlock. */
    } while (go_on_later(&exact) || force(&exact));
    for (size_t lane = 0; lane < lanes; lane++)
        *replays[lane] = (struct replay){.forced = exact.player.forced};
    for (uint32_t location = 0; location < graph->location_count; location++) {
        end_location(&exact, location);
        for (size_t lane = 0; lane < lanes; lane++)
            replays[lane]->end_ns = larger(replays[lane]->end_ns, player_now(&exact.player, location)[lane]);
    }
    exact_clear(&exact);
}

/* Bytes that a replay with others may take for each call: no more than some of its own. */
enum { LANE_BYTES = 16 };

/* So many replays at once, for times that are kept to the end. */
static size_t lanes_of(const struct graph *graph)
{
    size_t calls = 0, bytes = player_lane_bytes(graph) + graph->unmatched * sizeof(int64_t);
    for (size_t i = 0; i < graph->location_count; i++)
        calls += graph->locations[i].count;
    return smaller((size_t)EXACT_LANES, 1 + LANE_BYTES * calls / (bytes + 1));
}

/* Reductions are trees in the record, and none on an ideal network (exact_instances.c). */
static bool has_trees(const struct graph *graph)
{
    for (size_t i = 0; i < graph->stream_count; i++)
        if (graph->collectives[graph->streams[i].state].shape == SHAPE_ALL_TO_ONE)
            return true;
    return false;
}

/* In such a replay calls wait for others than in the record. */
static bool is_alone(const struct graph *graph, const struct replay_options *options)
{
    return (options->ideal && has_trees(graph)) || options->free_states || options->instead ||
           options->free_waits >> WAIT_IN_REDUCTION & 1;
}

/* Replays that go through the graph together. */
struct group {
    const struct replay_options *options[EXACT_LANES];
    struct replay *results[EXACT_LANES];
    size_t lanes;
};
struct groups {
    const struct graph *graph;
    struct group *group;
    size_t count;
};

static void replay_group(void *context, size_t index)
{
    const struct groups *groups = context;
    const struct group *group = &groups->group[index];
    replay_lanes(groups->graph, group->options, group->lanes, group->results);
}

static void group_add(struct group *group, const struct replay_options *options, struct replay *result)
{
    group->options[group->lanes] = options;
    group->results[group->lanes++] = result;
}

void replay_run_all(const struct graph *graph, const struct replay_options *options, size_t count, unsigned threads,
                    struct replay *replays)
{
    struct groups groups = {graph, memory_new(count * sizeof *groups.group), 0};
    size_t together = 0, most = lanes_of(graph);
    for (size_t i = 0; i < count; i++)
        if (is_alone(graph, &options[i]))
            group_add(&groups.group[groups.count++], &options[i], &replays[i]);
        else
            together++;
    struct group *shared = groups.group + groups.count;
    size_t shared_count = larger((together + most - 1) / most, smaller((size_t)threads, together)), next = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_alone(graph, &options[i]))
            group_add(&shared[next++ % shared_count], &options[i], &replays[i]);
    groups.count += shared_count;
    parallel_run(threads, groups.count, replay_group, &groups);
    free(groups.group);
}

struct replay replay_run(const struct graph *graph, struct replay_options options)
{
    struct replay replay;
    replay_run_all(graph, &options, 1, 1, &replay);
    return replay;
}

int64_t replay_saved(const struct graph *graph, const struct replay *changed)
{
    int64_t recorded_ns = graph_duration_ns(graph);
    /* Forced calls make every replay shorter: then the record is replayed with the same calls forced. */
    if (changed->forced)
        recorded_ns = replay_run(graph, (struct replay_options){0}).end_ns;
    return time_since(changed->end_ns, recorded_ns);
}

int64_t replay_saving(const struct graph *graph, struct replay_options options)
{
    struct replay changed = replay_run(graph, options);
    return replay_saved(graph, &changed);
}
