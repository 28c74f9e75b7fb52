/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/wait_table.h"
#include "graph/wait_windows.h"
#include "graph/window_edges.h"
#include "replay/exact.h"

/* Before call `index` of the location, or after its last. */
static int64_t computing(const struct exact *exact, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    const struct replay_options *options = &exact->options;
    int64_t ns = time_since(from_ns, to_ns);
    if (options->pace)
        return options->pace(options->pace_context, location, index, from_ns, to_ns);
    if (!options->compute || ns <= 0)
        return ns;
    return nearest_int((double)ns * options->compute[location]);
}

static bool is_free_call(const struct exact *exact, const struct call *call)
{
    const bool *states = exact->options.free_states;
    return states && states[graph_state(exact->player.graph, call)->first_of_name];
}

static void exact_wake(struct player *player, uint32_t location)
{
    exact_make_ready((struct exact *)player, location);
}

/* The location reaches its next call: its time is that of the enter, and others learn that it has arrived. */
static void enter(struct exact *exact, uint32_t location, const struct call *call)
{
    struct location_play *where = &exact->player.locations[location];
    int64_t before_ns = graph_left_before_ns(exact->player.graph, location, where->at);
    where->now_ns += computing(exact, location, where->at, before_ns, call->enter_ns);
    player_enter(&exact->player, location, call);
}

/* The part of the call's wait that is left without early waits: the late complete after one. -1: nothing changes. */
static int64_t left_of_early_wait(const struct exact *exact, uint32_t location)
{
    const struct graph *graph = exact->player.graph;
    uint32_t index = exact->player.locations[location].at;
    if (!exact_is_free(exact, WAIT_EARLY_WAIT) || wait_kind_in(graph, location, index) != WAIT_EARLY_WAIT)
        return -1;
    struct wait wait = wait_of(graph, location, index);
    struct wait_parts parts = wait_parts(graph, location, index, &wait);
    if (parts.count == 1 || exact_is_free(exact, WAIT_LATE_COMPLETE))
        return 0;
    return parts.part[1].ns;
}

/* The same for what the call waits for on its window. */
static int64_t end_of_edges(struct exact *exact, uint32_t location, const struct call *call, int64_t wait_ns,
                            int64_t end_ns)
{
    const struct graph *graph = exact->player.graph;
    uint32_t index = exact->player.locations[location].at;
    int64_t left_ns = left_of_early_wait(exact, location);
    for (size_t i = window_edges_of(graph, location, index); i < graph->edge_count; i++) {
        const struct window_edge *edge = &graph->edges[i];
        if (edge->location != location || edge->call != index)
            break;
        if (exact->player.edges[i].ns == NOT_YET) {
            exact->player.edges[i].waits = true;
            return NOT_YET;
        }
        struct dependency dependency = {.recorded_ns = window_edge_until_ns(graph, edge),
                                        .replayed_ns = exact->player.edges[i].ns,
                                        .kind = (enum wait_kind)edge->kind,
                                        .free = left_ns >= 0 && edge->kind == WAIT_LATE_COMPLETE};
        int64_t ns = exact_end_after(exact, call, exact->player.locations[location].now_ns, &dependency, wait_ns);
        if (dependency.free)
            ns += left_ns;
        end_ns = larger(end_ns, ns);
    }
    return end_ns;
}

static int64_t end_with_messages(struct exact *exact, uint32_t location, const struct call *call)
{
    const struct graph *graph = exact->player.graph;
    const struct location_play *where = &exact->player.locations[location];
    struct dependency none = {.recorded_ns = call->enter_ns, .replayed_ns = where->now_ns};
    int64_t end_ns = NOT_YET, wait_ns = wait_ns_in(graph, location, where->at);
    /* NOT_YET with a message to wait for: not known yet. Without one the call depends on nothing of this kind. */
    if (call->received && (end_ns = exact_end_of_receives(exact, location, call, wait_ns)) == NOT_YET && where->message)
        return NOT_YET;
    bool sends = call->sent || call->completed;
    if (sends && wait_kind_in(graph, location, where->at) == WAIT_LATE_RECEIVER &&
        (end_ns = exact_end_of_sends(exact, location, call, wait_ns, end_ns)) == NOT_YET && where->message)
        return NOT_YET;
    /* It depends on no one: its own time only. */
    if (end_ns == NOT_YET)
        end_ns = exact_end_after(exact, call, where->now_ns, &none, wait_ns);
    bool on_window = call->operates && graph_state(graph, call)->class == CLASS_RMA;
    if (call->operates && (on_window || sends) &&
        (end_ns = end_of_edges(exact, location, call, wait_ns, end_ns)) == NOT_YET)
        return NOT_YET;
    if (call->operates)
        end_ns = exact_end_of_operations(exact, location, call, wait_ns, end_ns);
    return end_ns;
}

static void end_call(struct exact *exact, uint32_t location, const struct call *call, int64_t end_ns)
{
    const struct location_play *where = &exact->player.locations[location];
    /* Before player_leave, which moves on to the next call: receivers of its messages need the enter. */
    exact_end_messages(exact, where->at, call, where->now_ns);
    player_leave(&exact->player, location, call, end_ns);
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
        /* Kinds beyond the caused ones are times at the end of the call, not waits for somebody: the call is
           shortened. */
        if (exact->options.free_waits >> WAIT_CAUSED_COUNT) {
            struct wait completion = wait_completion_of(exact->player.graph, location, where->at);
            if (exact_is_free(exact, completion.kind))
                call.leave_ns -= completion.ns;
        }
        int64_t end_ns;
        if (is_free_call(exact, &call))
            end_ns = where->now_ns;
        else if (call.instance)
            end_ns = exact_end_in_instance(exact, location, &call);
        else
            end_ns = end_with_messages(exact, location, &call);
        if (end_ns == NOT_YET)
            return;
        end_call(exact, location, &call, end_ns);
    }
}

/* Deadlock: ends one call alone. False if all locations have finished. */
static bool force(struct exact *exact)
{
    uint32_t first = player_force(&exact->player);
    if (first == GRAPH_NONE)
        return false;
    const struct location_play *where = &exact->player.locations[first];
    struct call call = graph_call(exact->player.graph, first, where->at);
    struct dependency none = {.recorded_ns = call.enter_ns, .replayed_ns = where->now_ns};
    end_call(exact, first, &call, exact_end_after(exact, &call, where->now_ns, &none, 0));
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
static void begin_together(struct player *player)
{
    const struct graph *graph = player->graph;
    struct map begins = {0}; /* start -> when the first location of it begins */
    for (uint32_t location = 0; location < graph->location_count; location++) {
        uint32_t start = start_of(graph, location);
        uint64_t *begin_ns;
        if (start == GRAPH_NONE)
            continue;
        /* The map's values are unsigned: times go in and out by a cast. */
        begin_ns = map_put(&begins, start, (uint64_t)player->locations[location].now_ns);
        if (player->locations[location].now_ns < (int64_t)*begin_ns)
            *begin_ns = (uint64_t)player->locations[location].now_ns;
    }
    for (uint32_t location = 0; location < graph->location_count; location++) {
        const uint64_t *begin_ns = map_find(&begins, start_of(graph, location));
        if (begin_ns)
            player->locations[location].now_ns = (int64_t)*begin_ns;
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

static void exact_begin(struct exact *exact, const struct graph *graph, struct replay_options options)
{
    size_t locations = graph->location_count;
    *exact = (struct exact){.options = options, .windows = windows_of(graph)};
    player_begin(&exact->player, graph, &EXACT_RULES);
    exact->until_ns = window_end_ns(&exact->windows, 0);
    exact->later = memory_new(locations * sizeof *exact->later);
    exact->ready = memory_new(locations * sizeof *exact->ready);
    exact->message_ns = memory_new(graph->message_count * sizeof *exact->message_ns);
    exact->posted_ns = player_times(graph->link_count);
    if (options.queues)
        exact->queue_at = queues_by_location(options.queues, locations);
    for (uint32_t location = 0; location < locations; location++)
        exact_make_ready(exact, location);
    if (exact_is_free(exact, WAIT_AT_INIT))
        begin_together(&exact->player);
}

static void exact_clear(struct exact *exact)
{
    player_clear(&exact->player);
    free(exact->ready);
    free(exact->later);
    free(exact->message_ns);
    free(exact->posted_ns);
    free(exact->queue_at);
}

/* From the end of its last call to its last event a location computes. */
static int64_t location_end(const struct exact *exact, uint32_t location)
{
    const struct location *where = &exact->player.graph->locations[location];
    int64_t last_ns = graph_left_before_ns(exact->player.graph, location, where->count);
    return exact->player.locations[location].now_ns +
           computing(exact, location, (uint32_t)where->count, last_ns, where->end_ns);
}

struct replay replay_run(const struct graph *graph, struct replay_options options)
{
    struct exact exact;
    struct replay replay = {0};
    exact_begin(&exact, graph, options);
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
    for (uint32_t location = 0; location < graph->location_count; location++) {
        int64_t end_ns = location_end(&exact, location);
        replay.end_ns = larger(replay.end_ns, end_ns);
    }
    replay.forced = exact.player.forced;
    exact_clear(&exact);
    return replay;
}

int64_t replay_saving(const struct graph *graph, struct replay_options options)
{
    struct replay changed = replay_run(graph, options);
    int64_t recorded_ns = graph_duration_ns(graph);
    /* Forced calls make every replay shorter: then the record is replayed with the same calls forced. */
    if (changed.forced)
        recorded_ns = replay_run(graph, (struct replay_options){0}).end_ns;
    return time_since(changed.end_ns, recorded_ns);
}
