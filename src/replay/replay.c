/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay.h"

#include "core/memory.h"
#include "replay/graph_windows.h"
#include "replay/player.h"
#include "replay/wait_table.h"
#include "replay/wait_windows.h"

#include <math.h>

int64_t replay_begin_ns(const struct graph *graph)
{
    int64_t begin_ns = INT64_MAX;
    for (size_t i = 0; i < graph->lane_count; i++)
        begin_ns = graph->lanes[i].begin_ns < begin_ns ? graph->lanes[i].begin_ns : begin_ns;
    return graph->lane_count ? begin_ns : 0;
}

int64_t replay_duration_ns(const struct graph *graph)
{
    int64_t end_ns = INT64_MIN;
    for (size_t i = 0; i < graph->lane_count; i++)
        end_ns = graph->lanes[i].end_ns > end_ns ? graph->lanes[i].end_ns : end_ns;
    return graph->lane_count ? time_since(replay_begin_ns(graph), end_ns) : 0;
}

/* Before call `index` of the lane, or after its last. */
static int64_t computing(const struct player *player, uint32_t lane, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    const struct replay_options *options = &player->options;
    int64_t ns = time_since(from_ns, to_ns);
    if (options->pace)
        return options->pace(options->pace_context, lane, index, from_ns, to_ns);
    return options->compute && ns > 0 ? (int64_t)llround((double)ns * options->compute[lane]) : ns;
}

static bool is_free_call(const struct player *player, const struct call *call)
{
    const bool *states = player->options.free_states;
    return states && states[graph_state(player->graph, call)->first_of_name];
}

/* The call is entered, or left: who waits for that on a window may go on. */
static void pass_edges(struct player *player, uint32_t lane, uint32_t index, bool after)
{
    const struct graph *graph = player->graph;
    for (size_t i = window_edges_by(graph, lane, index); i < graph->edge_count; i++) {
        uint32_t at = graph->edges_by_cause[i];
        const struct window_edge *edge = &graph->edges[at];
        if (edge->cause_lane != lane || edge->cause_call != index)
            break;
        if (edge->after != after)
            continue;
        player->edges[at].ns = player->lanes[lane].now_ns;
        if (player->edges[at].waits)
            player_make_ready(player, edge->lane);
        player->edges[at].waits = false;
    }
}

/* The lane reaches its next call: its time is that of the enter, and others learn that it is there. */
static void enter(struct player *player, uint32_t lane, const struct call *call)
{
    const struct graph *graph = player->graph;
    struct lane_play *where = &player->lanes[lane];
    uint32_t index = where->at;
    int64_t before_ns = graph_left_before_ns(graph, lane, index);
    where->now_ns += computing(player, lane, index, before_ns, call->enter_ns);
    where->entered = true;
    for (uint32_t m = call->sent; m; m = graph_next_sent(graph, m - 1))
        player_send_message(player, m - 1, where->now_ns);
    for (uint32_t m = call->received; m; m = graph_next_received(graph, m - 1))
        if (graph->messages[m - 1].receive_call == index) {
            player_wake(player, graph->channels[graph->messages[m - 1].channel].send_lane, m - 1);
            if (graph_completes_later(graph, m - 1) && !graph_posted_before(graph, m - 1))
                player_post_receive(player, m - 1, where->now_ns);
        }
    for (uint32_t m = call->posted; m; m = graph_next_posted(graph, m - 1))
        player_post_receive(player, m - 1, where->now_ns);
    if (call->group)
        player_arrive(player, lane, index, call->gives_nothing, call->group - 1);
    if (call->operates) {
        player_start_operations(player, lane, index);
        pass_edges(player, lane, index, false);
    }
}

/* Without early waits so much of the call's wait is left: what is late complete behind one. -1: nothing changes. */
static int64_t left_of_early_wait(const struct player *player, uint32_t lane)
{
    const struct graph *graph = player->graph;
    uint32_t index = player->lanes[lane].at;
    if (!player_is_free(player, WAIT_EARLY_WAIT) || wait_kind_in(graph, lane, index) != WAIT_EARLY_WAIT)
        return -1;
    struct wait wait = wait_of(graph, lane, index);
    struct wait_parts parts = wait_parts(graph, lane, index, &wait);
    return parts.count == 1 || player_is_free(player, WAIT_LATE_COMPLETE) ? 0 : parts.part[1].ns;
}

/* The same for what the call waits for on its window. */
static int64_t end_of_edges(struct player *player, uint32_t lane, const struct call *call, int64_t wait_ns,
                            int64_t end_ns)
{
    const struct graph *graph = player->graph;
    uint32_t index = player->lanes[lane].at;
    int64_t left_ns = left_of_early_wait(player, lane);
    for (size_t i = window_edges_of(graph, lane, index); i < graph->edge_count; i++) {
        const struct window_edge *edge = &graph->edges[i];
        if (edge->lane != lane || edge->call != index)
            break;
        if (player->edges[i].ns == NOT_YET) {
            player->edges[i].waits = true;
            return NOT_YET;
        }
        struct dependency dependency = {.recorded_ns = window_edge_until_ns(graph, edge),
                                        .replayed_ns = player->edges[i].ns,
                                        .kind = (enum wait_kind)edge->kind,
                                        .free = left_ns >= 0 && edge->kind == WAIT_LATE_COMPLETE};
        int64_t ns = player_end_after(player, call, player->lanes[lane].now_ns, &dependency, wait_ns);
        ns += dependency.free ? left_ns : 0;
        end_ns = ns > end_ns ? ns : end_ns;
    }
    return end_ns;
}

static int64_t end_with_messages(struct player *player, uint32_t lane, const struct call *call)
{
    const struct graph *graph = player->graph;
    const struct lane_play *where = &player->lanes[lane];
    struct dependency none = {.recorded_ns = call->enter_ns, .replayed_ns = where->now_ns};
    int64_t end_ns = NOT_YET, wait_ns = wait_ns_in(graph, lane, where->at);
    if (call->received && (end_ns = player_end_of_receives(player, lane, call, wait_ns)) == NOT_YET && where->message)
        return NOT_YET;
    bool sends = call->sent || call->completed;
    if (sends && wait_kind_in(graph, lane, where->at) == WAIT_LATE_RECEIVER &&
        (end_ns = player_end_of_sends(player, lane, call, wait_ns, end_ns)) == NOT_YET)
        return NOT_YET;
    if (end_ns == NOT_YET)
        end_ns = player_end_after(player, call, where->now_ns, &none, wait_ns);
    if (call->operates && graph_state(graph, call)->class == CLASS_RMA)
        return end_of_edges(player, lane, call, wait_ns, end_ns);
    return call->operates ? player_end_of_operations(player, lane, call, wait_ns, end_ns) : end_ns;
}

static void end_call(struct player *player, uint32_t lane, const struct call *call, int64_t end_ns)
{
    struct lane_play *where = &player->lanes[lane];
    player_receive_messages(player, where->at, call, where->now_ns);
    where->now_ns = end_ns;
    where->entered = false;
    if (call->operates)
        pass_edges(player, lane, where->at, true);
    where->at++;
}

/* Plays a lane until it must wait or is done. */
static void play(struct player *player, uint32_t lane)
{
    const struct lane_play *where = &player->lanes[lane];
    while (where->at < player->graph->lanes[lane].count) {
        struct call call = graph_call(player->graph, lane, where->at);
        if (!where->entered && call.enter_ns > player->until_ns) {
            player->later[player->later_count++] = lane;
            return;
        }
        if (!where->entered)
            enter(player, lane, &call);
        if (player->options.free_waits >> WAIT_CAUSED_COUNT) {
            struct wait completion = wait_completion_of(player->graph, lane, where->at);
            call.leave_ns -= player_is_free(player, completion.kind) ? completion.ns : 0;
        }
        int64_t end_ns = is_free_call(player, &call) ? where->now_ns
                         : call.group                ? player_end_in_group(player, lane, &call)
                                                     : end_with_messages(player, lane, &call);
        if (end_ns == NOT_YET)
            return;
        end_call(player, lane, &call, end_ns);
    }
}

/* Nothing can go on: a partner that a damaged trace does not have, or a circle. The call that was entered first in the
   record goes on alone. False if all lanes are done. */
static bool force(struct player *player)
{
    const struct graph *graph = player->graph;
    uint32_t first = player_first_lane(player);
    if (first == GRAPH_NONE)
        return false;
    struct lane_play *where = &player->lanes[first];
    struct call call = graph_call(graph, first, where->at);
    struct dependency none = {.recorded_ns = call.enter_ns, .replayed_ns = where->now_ns};
    player_leave_list(player, first);
    where->message = 0;
    end_call(player, first, &call, player_end_after(player, &call, where->now_ns, &none, 0));
    player_went_on(player, first);
    player->forced++;
    player_make_ready(player, first);
    return true;
}

/* The collective by which the lane's process starts; GRAPH_NONE: it has none, or does something else before. */
static uint32_t start_of(const struct graph *graph, uint32_t lane)
{
    if (graph->lanes[lane].count == 0)
        return GRAPH_NONE;
    struct call first = graph_call(graph, lane, 0);
    return first.group && graph_collective(graph, &first).wait == WAIT_AT_INIT ? first.group - 1 : GRAPH_NONE;
}

/* Where nobody waits for who starts late, all begin with the first of those that start together. */
static void begin_together(struct player *player)
{
    const struct graph *graph = player->graph;
    struct map begins = {0}; /* start -> when the first lane of it begins */
    for (uint32_t lane = 0; lane < graph->lane_count; lane++) {
        uint32_t start = start_of(graph, lane);
        uint64_t *begin_ns;
        if (start == GRAPH_NONE)
            continue;
        begin_ns = map_put(&begins, start, (uint64_t)player->lanes[lane].now_ns);
        if (player->lanes[lane].now_ns < (int64_t)*begin_ns)
            *begin_ns = (uint64_t)player->lanes[lane].now_ns;
    }
    for (uint32_t lane = 0; lane < graph->lane_count; lane++) {
        const uint64_t *begin_ns = map_find(&begins, start_of(graph, lane));
        if (begin_ns)
            player->lanes[lane].now_ns = (int64_t)*begin_ns;
    }
    map_clear(&begins);
}

/* All lanes are at the end of the window, or wait: the next one begins. False if none can go on in it. */
static bool go_on_later(struct player *player)
{
    if (player->later_count == 0)
        return false;
    player->until_ns = window_end_ns(&player->windows, ++player->window);
    while (player->later_count > 0)
        player_make_ready(player, player->later[--player->later_count]);
    return true;
}

static void player_begin(struct player *player, const struct graph *graph, struct replay_options options)
{
    size_t lanes = graph->lane_count;
    *player = (struct player){.graph = graph, .options = options, .begin_ns = replay_begin_ns(graph)};
    player->windows = windows_of(graph);
    player->until_ns = window_end_ns(&player->windows, 0);
    player->later = memory_new(lanes * sizeof *player->later);
    player->lanes = memory_new(lanes * sizeof *player->lanes);
    player->ready = memory_new(lanes * sizeof *player->ready);
    player->message_ns = memory_new(graph->message_count * sizeof *player->message_ns);
    player->posted_ns = memory_new(graph->link_count * sizeof *player->posted_ns);
    for (size_t i = 0; i < graph->link_count; i++)
        player->posted_ns[i] = NOT_YET;
    player->groups = memory_new(graph->group_count * sizeof *player->groups);
    for (size_t i = 0; i < graph->group_count; i++)
        player->groups[i] = (struct group_play){NOT_YET, NOT_YET, NOT_YET, 0, 0, 0};
    player->prefix_ns = memory_new(graph->prefix_count * sizeof *player->prefix_ns);
    for (size_t i = 0; i < graph->prefix_count; i++)
        player->prefix_ns[i] = NOT_YET;
    player->sides = memory_new(graph->side_count * sizeof *player->sides);
    for (size_t i = 0; i < graph->side_count; i++)
        player->sides[i][0] = player->sides[i][1] = (struct side_play){NOT_YET, 0};
    player->neighbours = memory_new(graph->neighbour_count * sizeof *player->neighbours);
    for (size_t i = 0; i < graph->neighbour_count; i++)
        player->neighbours[i].enter_ns = NOT_YET;
    player->edges = memory_new(graph->edge_count * sizeof *player->edges);
    for (size_t i = 0; i < graph->edge_count; i++)
        player->edges[i].ns = NOT_YET;
    if (options.queues)
        player->queue_at = queues_by_lane(options.queues, lanes);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        player->lanes[lane].now_ns = time_since(player->begin_ns, graph->lanes[lane].begin_ns);
        player_make_ready(player, lane);
    }
    if (player_is_free(player, WAIT_AT_INIT))
        begin_together(player);
}

static void player_clear(struct player *player)
{
    free(player->lanes);
    free(player->ready);
    free(player->later);
    free(player->message_ns);
    free(player->posted_ns);
    free(player->sides);
    free(player->neighbours);
    free(player->edges);
    free(player->groups);
    free(player->prefix_ns);
    free(player->queue_at);
    free(player->winners);
}

/* From the end of its last call to its last event a lane computes. */
static int64_t lane_end(const struct player *player, uint32_t lane)
{
    const struct lane *where = &player->graph->lanes[lane];
    int64_t last_ns = graph_left_before_ns(player->graph, lane, where->count);
    return player->lanes[lane].now_ns + computing(player, lane, (uint32_t)where->count, last_ns, where->end_ns);
}

struct replay replay_run(const struct graph *graph, struct replay_options options)
{
    struct player player;
    struct replay replay = {0};
    player_begin(&player, graph, options);
    do {
        while (player.ready_count > 0) {
            uint32_t lane = player.ready[--player.ready_count];
            player.lanes[lane].is_ready = false;
            play(&player, lane);
            player_went_on(&player, lane);
        }
    } while (go_on_later(&player) || force(&player));
    for (uint32_t lane = 0; lane < graph->lane_count; lane++) {
        int64_t end_ns = lane_end(&player, lane);
        replay.end_ns = end_ns > replay.end_ns ? end_ns : replay.end_ns;
    }
    replay.forced = player.forced;
    player_clear(&player);
    return replay;
}

int64_t replay_saving(const struct graph *graph, struct replay_options options)
{
    struct replay changed = replay_run(graph, options);
    int64_t recorded_ns =
        changed.forced ? replay_run(graph, (struct replay_options){0}).end_ns : replay_duration_ns(graph);
    return time_since(changed.end_ns, recorded_ns);
}
