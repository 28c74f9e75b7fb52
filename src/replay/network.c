/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/network.h"

#include "core/heap.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "graph/graph_neighbours.h"
#include "graph/window_edges.h"
#include "replay/player.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* A location that reaches its next call, or a message that is ready for transfer. */
struct moment {
    int64_t time_ns;
    uint64_t turn; /* at equal times the first created comes first */
    uint32_t index;
    bool is_message;
};

/* The links of a location are taken until then. */
struct links {
    int64_t out_ns, in_ns;
};

struct play {
    struct player player; /* first */
    const struct network *network;
    bool eager; /* no rendezvous at all */
    struct links *links;
    int64_t *arrival_ns; /* by message */
    int64_t *release_ns; /* by message: when its sender may continue; before: NOT_YET, or beyond it by 1 + the location
                            that waits to complete the send of another call */
    int64_t *ready_ns;   /* by message: when the sender was ready, of those that wait for their receive */
    bool *posted;        /* by message: its receive was posted */
    int64_t *bus_ns;     /* by bus: taken until then */
    struct moment *heap;
    size_t heap_count, heap_capacity;
    uint64_t turns;
};

/* Times of the model are limited (28 years), so that adding some of them does not overflow. */
static int64_t limited(double ns)
{
    if (!(ns < 9e17)) /* or NaN */
        return INT64_C(900000000000000000);
    return (int64_t)llround(ns);
}

/* How long bytes occupy a link: S / B of Dimemas' T = L + S / B. A network without a bandwidth takes no time. */
static int64_t transfer_ns(const struct network *network, int64_t bytes)
{
    if (network->bytes_per_s <= 0 || bytes <= 0)
        return 0;
    return limited((double)bytes / network->bytes_per_s * 1e9);
}

uint64_t network_stages(uint32_t processes, uint32_t buses)
{
    uint64_t stages = 0;
    /* In each stage half of those left send to the other half; buses let only so many of them at a time. */
    for (uint32_t left = processes; left > 1; left -= left / 2) {
        if (buses > 0)
            stages += (left / 2 + buses - 1) / buses;
        else
            stages++;
    }
    return stages;
}

int64_t network_collective_ns(const struct network *network, const char *name, uint32_t processes, int64_t bytes)
{
    /* POP's table for Dimemas: trees, except all to all. */
    static const struct {
        const char *begin;
        bool linear;
        int fans, sizes;
    } models[] = {{"MPI_Init", false, 0, 0},     {"MPI_Finalize", false, 0, 0}, {"MPI_Alltoall", true, 2, 2},
                  {"MPI_Neighbor_", true, 1, 1}, {"MPI_Reduce_", false, 1, 1},  {"MPI_Reduce", false, 1, 2},
                  {"MPI_", false, 1, 1}};
    /* The first name that fits: the longer ones come first, and the last fits all. */
    size_t model = 0;
    while (model + 1 < sizeof models / sizeof *models &&
           strncmp(name, models[model].begin, strlen(models[model].begin)) != 0)
        model++;
    double stages = (double)processes - 1;
    if (!models[model].linear)
        stages = (double)network_stages(processes, network->buses);
    double stage_ns = (double)network->latency_ns + (double)transfer_ns(network, bytes) * models[model].sizes;
    return limited(stage_ns * stages * models[model].fans);
}

static bool moment_before(const void *context, const void *left_moment, const void *right_moment)
{
    const struct moment *left = left_moment, *right = right_moment;
    (void)context;
    int order = order_by(left->time_ns, right->time_ns);
    return order ? order < 0 : left->turn < right->turn;
}

/* The earliest moment first. */
static const struct heap_order BY_MOMENT = {sizeof(struct moment), moment_before, NULL};

static void put(struct play *play, int64_t time_ns, uint32_t index, bool is_message)
{
    struct moment moment = {time_ns, play->turns++, index, is_message};
    ARRAY_PUSH(play->heap, play->heap_count, play->heap_capacity, moment);
    heap_up(play->heap, play->heap_count - 1, &BY_MOMENT, NULL);
}

static struct moment take(struct play *play)
{
    struct moment first = play->heap[0];
    play->heap_count = heap_drop(play->heap, play->heap_count, &BY_MOMENT, NULL);
    return first;
}

static int64_t computing(const struct play *play, uint32_t location, int64_t ns)
{
    if (!play->network->compute)
        return ns;
    return (int64_t)llround((double)ns * play->network->compute[location]);
}

/* The location's time is that of the end of its last call: it computes until the next one. */
static void compute(struct play *play, uint32_t index)
{
    const struct graph *graph = play->player.graph;
    const struct location *recorded = &graph->locations[index];
    struct location_play *location = &play->player.locations[index];
    int64_t from_ns = graph_left_before_ns(graph, index, location->at);
    bool done = player_is_done(&play->player, index);
    int64_t to_ns = recorded->end_ns;
    if (!done)
        to_ns = graph_call(graph, index, location->at).enter_ns;
    int64_t *now_ns = player_now(&play->player, index);
    *now_ns = player_later(*now_ns, computing(play, index, time_since(from_ns, to_ns)));
    if (!done)
        put(play, *now_ns, index, false);
}

static void end_call(struct play *play, uint32_t index, const struct call *call, int64_t until_ns)
{
    int64_t end_ns = larger(until_ns, *player_now(&play->player, index));
    player_leave(&play->player, index, call, &end_ns);
    compute(play, index);
    player_went_on(&play->player, index);
}

/* True for calls that start an operation without waiting for it. */
static bool only_starts(const struct state_def *state)
{
    if (state->class != CLASS_P2P && state->class != CLASS_COLLECTIVE && state->class != CLASS_SYNC)
        return false;
    return strncmp(state->name, "MPI_Start", 9) == 0 ||
           /* MPI_Isend, not MPI_Init. */
           (strncmp(state->name, "MPI_I", 5) == 0 && islower((unsigned char)state->name[5]));
}

static bool is_rendezvous(const struct play *play, const struct state_def *sender, const struct message *message)
{
    /* A buffered send never waits; a synchronous one always does, whatever its size (MPI-4.0, 3.4). */
    if (play->eager || message->receive_location == GRAPH_NONE || strcasestr(sender->name, "bsend"))
        return false;
    return strcasestr(sender->name, "ssend") || message->bytes >= play->network->eager_limit;
}

/* The message's sender may continue, and so may the location that waits to complete the send. */
static void release(struct play *play, uint32_t message, int64_t time_ns)
{
    int64_t before_ns = play->release_ns[message];
    play->release_ns[message] = time_ns;
    /* A sender that waits in the call itself is woken by transfer(); this one waits in another call. */
    if (before_ns < 0 && before_ns != NOT_YET)
        player_wake_for_message(&play->player, (uint32_t)(before_ns - NOT_YET - 1), message);
}

/* The transfer can begin: it does when links and a bus are free. */
static void transfer(struct play *play, uint32_t index, int64_t ready_ns)
{
    struct message message = graph_message(play->player.graph, index);
    struct links *from = &play->links[message.send_location], *to = &play->links[message.receive_location];
    int64_t begin_ns = ready_ns, ns = transfer_ns(play->network, message.bytes);
    /* Messages without bytes occupy nothing: they only take the latency. */
    if (ns > 0) {
        uint32_t bus = 0;
        for (uint32_t i = 1; i < play->network->buses; i++)
            if (play->bus_ns[i] < play->bus_ns[bus])
                bus = i;
        begin_ns = larger(begin_ns, larger(from->out_ns, to->in_ns));
        if (play->network->buses) {
            begin_ns = larger(begin_ns, play->bus_ns[bus]);
            play->bus_ns[bus] = player_later(begin_ns, ns);
        }
        from->out_ns = to->in_ns = player_later(begin_ns, ns);
    }
    int64_t end_ns = player_later(begin_ns, ns);
    play->arrival_ns[index] = end_ns;
    release(play, index, play->network->sender_stays ? end_ns : begin_ns);
    player_wake_for_message(&play->player, message.send_location, index);
    player_wake_for_message(&play->player, message.receive_location, index);
}

/* The receive of the message is posted: a sender that waits for it can begin. A probe that found it needs it, too. */
static void post(struct player *player, uint32_t location, uint32_t message)
{
    struct play *play = (struct play *)player;
    int64_t now_ns = *player_now(player, location), ready_ns = play->ready_ns[message];
    bool before = play->posted[message];
    play->posted[message] = true;
    if (!before && ready_ns != NOT_YET)
        put(play, larger(now_ns, ready_ns), message, true);
}

/* True for a receive posted before the call in which it completes, at an unknown time. */
static bool post_is_unknown(const struct graph *graph, uint32_t index, const struct message *message)
{
    return graph_post(graph, index, message).location == GRAPH_NONE;
}

static void send(struct player *player, uint32_t index, const struct call *call, uint32_t message_index)
{
    struct play *play = (struct play *)player;
    int64_t *now_ns = player_now(player, index);
    struct message message = graph_message(player->graph, message_index);
    const struct state_def *state = graph_state(player->graph, call);
    /* As in Dimemas, the latency is time of the sender. */
    *now_ns = player_later(*now_ns, play->network->latency_ns);
    bool rendezvous = is_rendezvous(play, state, &message);
    /* With the completion unknown, a non-blocking rendezvous cannot hold anybody. */
    if (!rendezvous || (only_starts(state) && !graph_completes_later(player->graph, message_index)))
        release(play, message_index, *now_ns);
    if (message.receive_location == GRAPH_NONE)
        return;
    /* If nobody knows when the receive was posted, it is taken to be there. */
    if (rendezvous && !play->posted[message_index] && !post_is_unknown(player->graph, message_index, &message))
        play->ready_ns[message_index] = *now_ns;
    else
        put(play, *now_ns, message_index, true);
}

/* What a call waits for: the latest known time, and whether one is not known. */
struct needs {
    int64_t until_ns;
    bool wait; /* the location was put to wait for it */
};

static void need(struct needs *needs, int64_t ns)
{
    needs->until_ns = larger(needs->until_ns, ns);
}

static void need_message(struct play *play, uint32_t index, uint32_t message, int64_t ns, struct needs *needs)
{
    if (ns >= 0) {
        need(needs, ns);
        return;
    }
    player_wait_for_message(&play->player, index, message);
    needs->wait = true;
}

/* Sends of this call, and of calls before that complete in this one. */
static void need_releases(struct play *play, uint32_t index, const struct call *call, struct needs *needs)
{
    const struct graph *graph = play->player.graph;
    if (call->sent && !only_starts(graph_state(graph, call)))
        for (uint32_t m = call->sent; m; m = graph_next_sent(graph, m - 1))
            need_message(play, index, m - 1, play->release_ns[m - 1], needs);
    for (uint32_t m = call->completed; m; m = graph_next_completed(graph, m - 1)) {
        /* Below 0 there is room for the location that waits: release() wakes it. */
        if (play->release_ns[m - 1] < 0)
            play->release_ns[m - 1] = NOT_YET + 1 + index;
        need_message(play, index, m - 1, play->release_ns[m - 1], needs);
    }
}

static void need_arrivals(struct play *play, uint32_t index, const struct call *call, struct needs *needs)
{
    for (uint32_t m = call->received; m; m = player_next_received(&play->player, call, m))
        if (graph_message(play->player.graph, m - 1).send_location != GRAPH_NONE)
            need_message(play, index, m - 1, play->arrival_ns[m - 1], needs);
}

/* What the call waits for on its window. */
static void need_edges(struct play *play, uint32_t index, struct needs *needs)
{
    const struct graph *graph = play->player.graph;
    uint32_t at = play->player.locations[index].at;
    for (size_t i = window_edges_of(graph, index, at); i < graph->edge_count; i++) {
        const struct window_edge *edge = &graph->edges[i];
        struct edge_play *played = &play->player.edges[i];
        if (edge->location != index || edge->call != at)
            break;
        /* All of them are looked at, so that each wakes the location; the last one lets it go on. */
        played->waits = !played->happened;
        needs->wait |= played->waits;
        need(needs, play->player.edge_ns[i]);
    }
}

/* The collective ends for the location when its last neighbour has arrived; before that it waits for the next missing
   one.
 */
static void need_neighbours(struct play *play, uint32_t index, const struct call *call, struct needs *needs)
{
    const struct graph *graph = play->player.graph;
    if (!graph_neighbours_known(graph, call->instance - 1, index))
        return;
    uint32_t row = graph_neighbour_row_of_location(graph, call->instance - 1, index), source, sources = 0;
    struct source_walk walk = graph_sources(graph, call->instance - 1, row);
    int64_t latest_ns = *player_now(&play->player, index);
    while (graph_next_source(graph, &walk, &source)) {
        struct neighbour_play *neighbour = &play->player.neighbours[source];
        if (!neighbour->entered) {
            player_wait_in(&play->player, index, &neighbour->waiting);
            needs->wait = true;
            return;
        }
        latest_ns = larger(latest_ns, play->player.neighbour_ns[source]);
        sources++;
    }
    /* `bytes` is what a member exchanges with all its neighbours together; the model wants what goes to each. */
    int64_t bytes = 0;
    if (sources > 0)
        bytes = graph_instance(graph, call)->bytes / sources;
    need(needs, player_later(latest_ns,
                             network_collective_ns(play->network, graph_state(graph, call)->name, sources + 1, bytes)));
}

/* True for calls that end when all members of their collective have arrived. */
static bool needs_all(const struct graph *graph, const struct call *call)
{
    const struct instance *recorded = graph_instance(graph, call);
    return recorded && recorded->complete && recorded->latest_location != GRAPH_NONE &&
           graph_waits_at_once(graph, recorded) && graph_collective(graph, call).shape != SHAPE_NEIGHBOURS;
}

static void need_instance(struct play *play, uint32_t index, const struct call *call, struct needs *needs)
{
    const struct graph *graph = play->player.graph;
    const struct instance *recorded = graph_instance(graph, call);
    struct instance_play *instance = &play->player.instances[call->instance - 1];
    if (recorded->complete && recorded->latest_location != GRAPH_NONE && graph_waits_at_once(graph, recorded) &&
        graph_collective(graph, call).shape == SHAPE_NEIGHBOURS)
        need_neighbours(play, index, call, needs);
    if (!needs_all(graph, call))
        return;
    if (instance->present < recorded->count) {
        player_wait_in(&play->player, index, &instance->waiting);
        needs->wait = true;
        return;
    }
    int64_t bytes = larger(recorded->bytes, INT64_C(0));
    need(needs,
         player_later(play->player.latest_ns[call->instance - 1],
                      network_collective_ns(play->network, graph_state(graph, call)->name, recorded->count, bytes)));
}

static struct needs needs_of(struct play *play, uint32_t index, const struct call *call)
{
    struct needs needs = {NOT_YET, false};
    if (call->instance) {
        need_instance(play, index, call, &needs);
        return needs;
    }
    if (call->sent || call->completed)
        need_releases(play, index, call, &needs);
    if (call->operates && graph_state(play->player.graph, call)->class == CLASS_RMA)
        need_edges(play, index, &needs);
    if (call->received)
        need_arrivals(play, index, call, &needs);
    return needs;
}

/* Ends the location's call unless it still waits for something. */
static void go_on(struct player *player, uint32_t index)
{
    struct play *play = (struct play *)player;
    const struct location_play *location = &player->locations[index];
    if (!location->entered)
        return;
    struct call call = graph_call(player->graph, index, location->at);
    struct needs needs = needs_of(play, index, &call);
    if (!needs.wait)
        end_call(play, index, &call, needs.until_ns);
}

static void enter(struct play *play, uint32_t index)
{
    const struct graph *graph = play->player.graph;
    struct location_play *location = &play->player.locations[index];
    struct call call = graph_call(graph, index, location->at);
    /* The process that completes a collective is the first to leave it. */
    if (needs_all(graph, &call))
        player_wait_in(&play->player, index, &play->player.instances[call.instance - 1].waiting);
    player_enter(&play->player, index, &call);
    go_on(&play->player, index);
}

/* Deadlock: ends one call with what is known. False if all locations have finished. */
static bool force(struct play *play)
{
    uint32_t first = player_force(&play->player);
    if (first == GRAPH_NONE)
        return false;
    struct call call = graph_call(play->player.graph, first, play->player.locations[first].at);
    /* With the partner missing, the call ends at its own enter, or with what has arrived. */
    struct needs needs = needs_of(play, first, &call);
    player_leave_list(&play->player, first);
    play->player.locations[first].message = 0;
    end_call(play, first, &call, needs.until_ns);
    return true;
}

static const struct player_rules NETWORK_RULES = {send, post, post, go_on, true};

static void play_begin(struct play *play, const struct graph *graph, const struct network *network, bool eager)
{
    *play = (struct play){.network = network, .eager = eager};
    player_begin(&play->player, graph, &NETWORK_RULES, 1);
    play->player.news_ns = network->latency_ns;
    play->links = memory_new(graph->location_count * sizeof *play->links);
    play->arrival_ns = player_times(graph->message_count);
    play->release_ns = player_times(graph->message_count);
    play->ready_ns = player_times(graph->message_count);
    play->posted = memory_new(graph->message_count);
    play->bus_ns = memory_new(network->buses * sizeof *play->bus_ns);
    for (uint32_t i = 0; i < graph->location_count; i++)
        compute(play, i);
}

static void play_clear(struct play *play)
{
    player_clear(&play->player);
    free(play->links);
    free(play->arrival_ns);
    free(play->release_ns);
    free(play->ready_ns);
    free(play->posted);
    free(play->bus_ns);
    free(play->heap);
}

static struct network_run run(const struct graph *graph, const struct network *network, bool eager)
{
    struct play play;
    struct network_run result = {0};
    play_begin(&play, graph, network, eager);
    do {
        /* Moments are taken in order of time, so that links and buses are given to whoever is ready first. */
        while (play.heap_count > 0) {
            struct moment moment = take(&play);
            if (moment.is_message)
                transfer(&play, moment.index, moment.time_ns);
            else
                enter(&play, moment.index);
        }
    } while (force(&play));
    for (size_t i = 0; i < graph->location_count; i++)
        result.end_ns = larger(result.end_ns, *player_now(&play.player, (uint32_t)i));
    result.forced = play.player.forced;
    play_clear(&play);
    return result;
}

struct network_run network_replay(const struct graph *graph, const struct network *network)
{
    struct network_run result = run(graph, network, false);
    /* Two processes that both send first deadlock with rendezvous (and are saved by buffering): then all sends are
       eager. If that does not help either, a partner is missing from the trace. */
    if (result.forced == 0)
        return result;
    struct network_run eager = run(graph, network, true);
    eager.deadlock = eager.forced < result.forced;
    return eager.deadlock ? eager : result;
}
