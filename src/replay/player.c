/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/player.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/graph_neighbours.h"
#include "graph/graph_sides.h"
#include "graph/window_edges.h"

int64_t *player_times(size_t count)
{
    int64_t *times = memory_new(count * sizeof *times);
    for (size_t i = 0; i < count; i++)
        times[i] = NOT_YET;
    return times;
}

void player_begin(struct player *player, const struct graph *graph, const struct player_rules *rules, size_t lanes)
{
    int64_t begin_ns = graph_begin_ns(graph);
    *player = (struct player){.graph = graph, .rules = rules, .lanes = lanes};
    player->locations = memory_new(graph->location_count * sizeof *player->locations);
    player->now_ns = memory_new(graph->location_count * lanes * sizeof *player->now_ns);
    for (size_t i = 0; i < graph->location_count * lanes; i++)
        player->now_ns[i] = time_since(begin_ns, graph->locations[i / lanes].begin_ns);
    player->instances = memory_new(graph->instance_count * sizeof *player->instances);
    player->latest_ns = player_times(graph->instance_count * lanes);
    player->root_ns = player_times(graph->instance_count * lanes);
    player->in_prefix = memory_new(graph->prefix_count * sizeof *player->in_prefix);
    player->prefix_ns = player_times(graph->prefix_count * lanes);
    player->sides = memory_new(graph->side_count * sizeof *player->sides);
    player->side_ns = player_times(2 * graph->side_count * lanes);
    player->neighbours = memory_new(graph->neighbour_count * sizeof *player->neighbours);
    player->neighbour_ns = player_times(graph->neighbour_count * lanes);
    player->edges = memory_new(graph->edge_count * sizeof *player->edges);
    player->edge_ns = player_times(graph->edge_count * lanes);
}

size_t player_lane_bytes(const struct graph *graph)
{
    return (graph->location_count + 2 * graph->instance_count + graph->prefix_count + 2 * graph->side_count +
            graph->neighbour_count + graph->edge_count) *
           sizeof(int64_t);
}

void player_clear(struct player *player)
{
    free(player->locations);
    free(player->instances);
    free(player->sides);
    free(player->neighbours);
    free(player->edges);
    free(player->in_prefix);
    free(player->now_ns);
    free(player->latest_ns);
    free(player->root_ns);
    free(player->side_ns);
    free(player->neighbour_ns);
    free(player->edge_ns);
    free(player->prefix_ns);
    free(player->sends);
    free(player->winners);
}

void player_leave_list(struct player *player, uint32_t location)
{
    struct location_play *where = &player->locations[location];
    if (!where->waiting_in)
        return;
    if (where->previous_waiting)
        player->locations[where->previous_waiting - 1].next_waiting = where->next_waiting;
    else
        *where->waiting_in = where->next_waiting;
    if (where->next_waiting)
        player->locations[where->next_waiting - 1].previous_waiting = where->previous_waiting;
    where->waiting_in = NULL;
}

static void wake_all(struct player *player, uint32_t *waiting)
{
    while (*waiting) {
        uint32_t location = *waiting - 1;
        /* Removed before it is woken: it may then wait in another list. */
        player_leave_list(player, location);
        player->rules->wake(player, location);
    }
}

int64_t player_wait_in(struct player *player, uint32_t location, uint32_t *list)
{
    struct location_play *where = &player->locations[location];
    if (where->waiting_in == list)
        return NOT_YET;
    player_leave_list(player, location);
    where->waiting_in = list;
    where->previous_waiting = 0;
    where->next_waiting = *list;
    if (*list)
        player->locations[*list - 1].previous_waiting = location + 1;
    *list = location + 1;
    return NOT_YET;
}

/* A member of a prefix reduction has arrived: later ones may now know the last of their predecessors. */
static void enter_prefix(struct player *player, uint32_t location, uint32_t index, bool gives_nothing,
                         uint32_t index_of_instance)
{
    const struct graph *graph = player->graph;
    const uint64_t *place = map_find(&graph->prefix_places, map_pair(location, index));
    struct instance_play *instance = &player->instances[index_of_instance];
    const struct instance *recorded = &graph->instances[index_of_instance];
    if (!place || !recorded->complete)
        return;
    int64_t *member_ns = player->prefix_ns + *place * player->lanes;
    player->in_prefix[*place] = true;
    /* Later than NOT_YET, and earlier than every time, so that nobody waits for it. */
    for (size_t lane = 0; lane < player->lanes; lane++)
        member_ns[lane] = gives_nothing ? NOT_YET + 1 : player_now(player, location)[lane];
    /* Running maxima, as far as all lower ranks are there: each member is looked at once, however they arrive. */
    for (; instance->prefix < recorded->count && player->in_prefix[recorded->rows + instance->prefix];
         instance->prefix++) {
        member_ns = player->prefix_ns + (recorded->rows + instance->prefix) * player->lanes;
        if (instance->prefix > 0)
            player_raise(player, member_ns, member_ns - player->lanes);
    }
}

static void arrive_beside_neighbours(struct player *player, uint32_t location, uint32_t index_of_instance)
{
    uint32_t row = graph_neighbour_row_of_location(player->graph, index_of_instance, location);
    if (row == GRAPH_NONE)
        return;
    player->neighbours[row].entered = true;
    player_copy(player, player->neighbour_ns + row * player->lanes, player_now(player, location));
    wake_all(player, &player->neighbours[row].waiting);
}

/* True if this is what the other group waits for. */
static bool arrive_on_side(struct player *player, uint32_t location, bool gives_nothing,
                           const struct instance *recorded)
{
    int index = graph_side_of(player->graph, recorded, location);
    uint32_t *arrived = &player->sides[recorded->rows][index];
    if (!gives_nothing) {
        ++*arrived;
        player_raise(player, player_side_ns(player, recorded, index), player_now(player, location));
    }
    return *arrived == graph_sides(player->graph, recorded)->sides[index].givers;
}

/* Where not all wait for the last alone. True if another group waits for this one, and all of it has arrived. */
static bool arrive_among(struct player *player, uint32_t location, uint32_t index, bool gives_nothing,
                         uint32_t index_of_instance)
{
    const struct instance *recorded = &player->graph->instances[index_of_instance];
    enum collective_shape shape = (enum collective_shape)graph_collective_of(player->graph, recorded).shape;
    if (shape == SHAPE_PREFIX)
        enter_prefix(player, location, index, gives_nothing, index_of_instance);
    if (shape == SHAPE_NEIGHBOURS)
        arrive_beside_neighbours(player, location, index_of_instance);
    return player->graph->streams[recorded->stream].sided && arrive_on_side(player, location, gives_nothing, recorded);
}

/* The location arrives at a collective, as a member or by starting a persistent one: others may continue. */
static void arrive(struct player *player, uint32_t location, uint32_t index, bool gives_nothing,
                   uint32_t index_of_instance)
{
    const struct instance *recorded = &player->graph->instances[index_of_instance];
    struct instance_play *instance = &player->instances[index_of_instance];
    const int64_t *now_ns = player_now(player, location);
    size_t times = index_of_instance * player->lanes;
    instance->arrived += !gives_nothing;
    if (!gives_nothing || player->rules->together)
        player_raise(player, player->latest_ns + times, now_ns);
    bool side_is_there =
        recorded->last_wait == WAIT_NONE && arrive_among(player, location, index, gives_nothing, index_of_instance);
    if (recorded->root_location == location) {
        instance->root_is_there = true;
        player_copy(player, player->root_ns + times, now_ns);
    }
    /* No process can continue before. */
    bool all = ++instance->present == recorded->count;
    bool some = recorded->root_location == location || instance->arrived >= recorded->givers || instance->prefix > 0 ||
                side_is_there;
    if (player->rules->together ? all : some)
        wake_all(player, &instance->waiting);
}

/* The persistent collectives that the call starts. */
static void start_operations(struct player *player, uint32_t location, uint32_t index)
{
    const struct graph *graph = player->graph;
    const uint64_t *place = map_find(&graph->start_places, map_pair(location, index));
    if (!place)
        return;
    for (size_t i = (size_t)*place; i < graph->start_count; i++) {
        const struct operation *operation = &graph->operations[graph->starts[i]];
        if (operation->location != location || operation->call != index)
            break;
        arrive(player, location, index, operation->gives_nothing, operation->instance);
    }
}

/* The call is entered, or left: processes that wait for that on a window may continue. */
static void pass_edges(struct player *player, uint32_t location, bool after)
{
    const struct graph *graph = player->graph;
    const struct location_play *where = &player->locations[location];
    uint32_t index = where->at;
    const int64_t *now_ns = player_now(player, location);
    for (size_t i = window_edges_by(graph, location, index); i < graph->edge_count; i++) {
        const struct window_edge *edge = &graph->edges[graph->edges_by_cause[i]];
        struct edge_play *played = &player->edges[graph->edges_by_cause[i]];
        if (edge->cause_location != location || edge->cause_call != index)
            break;
        if (edge->after != after)
            continue;
        played->happened = true;
        for (size_t lane = 0; lane < player->lanes; lane++)
            player->edge_ns[graph->edges_by_cause[i] * player->lanes + lane] =
                player_later(now_ns[lane], player->news_ns);
        if (played->waits)
            player->rules->wake(player, edge->location);
        played->waits = false;
    }
}

/* The messages of the call in the order in which they are sent, the reverse of the list's. */
static void send_all(struct player *player, uint32_t location, const struct call *call)
{
    /* Nearly all calls send one message: no list. */
    if (!graph_next_sent(player->graph, call->sent - 1)) {
        player->rules->send(player, location, call, call->sent - 1);
        return;
    }
    player->send_count = 0;
    for (uint32_t m = call->sent; m; m = graph_next_sent(player->graph, m - 1))
        ARRAY_PUSH(player->sends, player->send_count, player->send_capacity, m - 1);
    while (player->send_count > 0)
        player->rules->send(player, location, call, player->sends[--player->send_count]);
}

void player_enter(struct player *player, uint32_t location, const struct call *call)
{
    const struct graph *graph = player->graph;
    struct location_play *where = &player->locations[location];
    uint32_t index = where->at;
    where->entered = true;
    /* The arrival comes last: it may wake others, which look at everything announced before. */
    if (call->operates)
        pass_edges(player, location, false);
    for (uint32_t m = call->received; m; m = player_next_received(player, call, m))
        player->rules->receive(player, location, m - 1);
    for (uint32_t m = call->posted; m; m = graph_next_posted(graph, m - 1))
        player->rules->post(player, location, m - 1);
    if (call->sent)
        send_all(player, location, call);
    if (call->operates)
        start_operations(player, location, index);
    if (call->instance)
        arrive(player, location, index, call->gives_nothing, call->instance - 1);
}

void player_leave(struct player *player, uint32_t location, const struct call *call, const int64_t *end_ns)
{
    struct location_play *where = &player->locations[location];
    player_copy(player, player_now(player, location), end_ns);
    where->entered = false;
    if (call->operates)
        pass_edges(player, location, true);
    where->at++;
}
