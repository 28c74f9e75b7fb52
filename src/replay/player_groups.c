/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in a replay: who is there, and what a call waits for. */
#include "replay/graph_neighbours.h"
#include "replay/graph_sides.h"
#include "replay/player.h"

void player_leave_list(struct player *player, uint32_t lane)
{
    struct lane_play *where = &player->lanes[lane];
    if (!where->waiting_in)
        return;
    if (where->previous_waiting)
        player->lanes[where->previous_waiting - 1].next_waiting = where->next_waiting;
    else
        *where->waiting_in = where->next_waiting;
    if (where->next_waiting)
        player->lanes[where->next_waiting - 1].previous_waiting = where->previous_waiting;
    where->waiting_in = NULL;
}

static void wake_all(struct player *player, uint32_t *waiting)
{
    while (*waiting) {
        uint32_t lane = *waiting - 1;
        player_leave_list(player, lane);
        player_make_ready(player, lane);
    }
}

/* A lane stands in one list of waiting lanes at most. Returns NOT_YET. */
static int64_t wait_in(struct player *player, uint32_t lane, uint32_t *list)
{
    struct lane_play *where = &player->lanes[lane];
    if (where->waiting_in == list)
        return NOT_YET;
    player_leave_list(player, lane);
    where->waiting_in = list;
    where->previous_waiting = 0;
    where->next_waiting = *list;
    if (*list)
        player->lanes[*list - 1].previous_waiting = lane + 1;
    *list = lane + 1;
    return NOT_YET;
}

/* A member of a prefix reduction is there: those behind it may learn who came last. */
static void enter_prefix(struct player *player, uint32_t lane, uint32_t index, bool gives_nothing,
                         uint32_t index_of_group)
{
    const struct graph *graph = player->graph;
    const uint64_t *place = map_find(&graph->prefix_places, map_pair(lane, index));
    struct group_play *group = &player->groups[index_of_group];
    const struct group *recorded = &graph->groups[index_of_group];
    if (!place || !recorded->complete)
        return;
    player->prefix_ns[*place] = gives_nothing ? NOT_YET + 1 : player->lanes[lane].now_ns;
    int64_t *members = player->prefix_ns + recorded->rows;
    for (; group->prefix < recorded->count && members[group->prefix] != NOT_YET; group->prefix++)
        if (group->prefix > 0 && members[group->prefix - 1] > members[group->prefix])
            members[group->prefix] = members[group->prefix - 1];
}

static void arrive_beside_neighbours(struct player *player, uint32_t lane, uint32_t index_of_group)
{
    uint32_t row = graph_neighbour_row_of_lane(player->graph, index_of_group, lane);
    if (row == GRAPH_NONE)
        return;
    player->neighbours[row].enter_ns = player->lanes[lane].now_ns;
    wake_all(player, &player->neighbours[row].waiting);
}

/* True if this is what the other group waits for. */
static bool arrive_on_side(struct player *player, uint32_t lane, bool gives_nothing, const struct group *recorded)
{
    int index = graph_side_of(player->graph, recorded, lane);
    struct side_play *side = &player->sides[recorded->rows][index];
    if (!gives_nothing) {
        side->arrived++;
        if (player->lanes[lane].now_ns > side->latest_ns)
            side->latest_ns = player->lanes[lane].now_ns;
    }
    return side->arrived == graph_sides(player->graph, recorded)->sides[index].givers;
}

/* The lane is there for a collective: others may go on. */
void player_arrive(struct player *player, uint32_t lane, uint32_t index, bool gives_nothing, uint32_t index_of_group)
{
    const struct group *recorded = &player->graph->groups[index_of_group];
    struct group_play *group = &player->groups[index_of_group];
    int64_t now_ns = player->lanes[lane].now_ns;
    if (!gives_nothing) {
        group->arrived++;
        if (now_ns > group->latest_ns)
            group->latest_ns = now_ns;
    }
    enum collective_shape shape = (enum collective_shape)graph_collective_of(player->graph, recorded).shape;
    if (shape == SHAPE_PREFIX)
        enter_prefix(player, lane, index, gives_nothing, index_of_group);
    if (shape == SHAPE_NEIGHBOURS)
        arrive_beside_neighbours(player, lane, index_of_group);
    bool side_is_there =
        player->graph->streams[recorded->stream].sided && arrive_on_side(player, lane, gives_nothing, recorded);
    if (recorded->root_lane == lane)
        group->root_ns = now_ns;
    else if (group->earliest_other_ns == NOT_YET || now_ns < group->earliest_other_ns)
        group->earliest_other_ns = now_ns;
    /* Nobody can go on before. */
    if (recorded->root_lane != lane && group->arrived < recorded->givers && group->prefix == 0 && !side_is_there)
        return;
    wake_all(player, &group->waiting);
}

/* The persistent collectives that the call starts. */
void player_start_operations(struct player *player, uint32_t lane, uint32_t index)
{
    const struct graph *graph = player->graph;
    const uint64_t *place = map_find(&graph->start_places, map_pair(lane, index));
    for (size_t i = place ? (size_t)*place : graph->start_count; i < graph->start_count; i++) {
        const struct operation *operation = &graph->operations[graph->starts[i]];
        if (operation->lane != lane || operation->call != index)
            break;
        player_arrive(player, lane, index, operation->gives_nothing, operation->group);
    }
}

/* The last of the neighbours; false: one is not there yet. */
static bool depend_on_neighbours(const struct player *player, uint32_t lane, uint32_t index_of_group,
                                 struct dependency *dependency)
{
    const struct graph *graph = player->graph;
    uint32_t row = graph_neighbour_row_of_lane(graph, index_of_group, lane), source;
    const struct neighbour *member = row == GRAPH_NONE ? NULL : &graph->neighbours[row];
    if (!member || member->latest_lane >= NEIGHBOURS_UNKNOWN)
        return true;
    struct source_walk walk = graph_sources(graph, index_of_group, row);
    int64_t latest_ns = NOT_YET;
    while (graph_next_source(graph, &walk, &source)) {
        struct neighbour_play *neighbour = &player->neighbours[source];
        dependency->list = &neighbour->waiting;
        if (neighbour->enter_ns == NOT_YET)
            return false;
        latest_ns = neighbour->enter_ns > latest_ns ? neighbour->enter_ns : latest_ns;
    }
    dependency->recorded_ns = graph_call(graph, member->latest_lane, member->latest_call).enter_ns;
    dependency->replayed_ns = latest_ns;
    return true;
}

/* The root in the other group, that group, or both. `call` waits. */
static bool depend_on_other_group(const struct player *player, uint32_t lane, const struct group *recorded,
                                  const struct call *call, struct dependency *dependency)
{
    const struct graph *graph = player->graph;
    int index = graph_side_of(graph, recorded, lane);
    const struct group_sides *sides = graph_sides(graph, recorded);
    const struct group_side *own = &sides->sides[index], *other = &sides->sides[!index];
    const struct side_play *play = player->sides[recorded->rows];
    enum collective_shape shape = (enum collective_shape)graph_collective_of(graph, recorded).shape;
    if (shape == SHAPE_ONE_TO_ALL) {
        if (recorded->root_lane == GRAPH_NONE || graph_side_of(graph, recorded, recorded->root_lane) == index)
            return true;
        dependency->recorded_ns = graph_call(graph, recorded->root_lane, recorded->root_call).enter_ns;
        dependency->replayed_ns = player->groups[recorded - graph->groups].root_ns;
        return dependency->replayed_ns != NOT_YET;
    }
    if (other->latest_lane == GRAPH_NONE || (shape == SHAPE_ALL_TO_ONE && recorded->root_lane != lane))
        return true;
    dependency->recorded_ns = other->latest_enter_ns;
    dependency->replayed_ns = play[!index].latest_ns;
    bool both = shape == SHAPE_ALL_TO_ALL && !graph_side_is_enough(sides, call);
    if (both && own->latest_enter_ns > other->latest_enter_ns)
        dependency->recorded_ns = own->latest_enter_ns;
    if (both && play[index].latest_ns > dependency->replayed_ns)
        dependency->replayed_ns = play[index].latest_ns;
    return play[!index].arrived == other->givers && (!both || play[index].arrived == own->givers);
}

/* The tree of a reduction is the MPI library's: on an ideal network only the root needs the data. */
static bool stays_in_tree(const struct player *player, const struct group *recorded, const struct call *call)
{
    return !player->options.ideal && graph_collective(player->graph, call).stage == STAGE_BLOCKING &&
           graph_stays_for_last(player->graph, recorded, call);
}

/* What `call` waits for in a collective in which the lane takes part with its call `index`. False: that is not known
   yet. */
static bool depend_on_group(const struct player *player, uint32_t lane, uint32_t index, uint32_t index_of_group,
                            const struct call *call, struct dependency *dependency)
{
    const struct graph *graph = player->graph;
    const struct group *recorded = &graph->groups[index_of_group];
    struct group_play *group = &player->groups[index_of_group];
    struct collective collective = graph_collective_of(graph, recorded);
    if (!recorded->complete || recorded->latest_lane == GRAPH_NONE)
        return true;
    dependency->kind = (enum wait_kind)collective.wait;
    dependency->list = &group->waiting;
    if (graph->streams[recorded->stream].sided)
        return depend_on_other_group(player, lane, recorded, call, dependency);
    switch ((enum collective_shape)collective.shape) {
    case SHAPE_ALL_TO_ONE: /* The data of the last must be there, though only the time until the first is a wait. */
        if (recorded->root_lane != lane && !stays_in_tree(player, recorded, call))
            return true;
        if (recorded->root_lane != lane)
            dependency->kind = WAIT_NONE;
        /* fall through */
    case SHAPE_ALL_TO_ALL:
        dependency->recorded_ns = recorded->latest_enter_ns;
        dependency->replayed_ns = group->latest_ns;
        return group->arrived == recorded->givers;
    case SHAPE_ONE_TO_ALL:
        if (recorded->root_lane == GRAPH_NONE || recorded->root_lane == lane)
            return true;
        dependency->recorded_ns = graph_call(graph, recorded->root_lane, recorded->root_call).enter_ns;
        dependency->replayed_ns = group->root_ns;
        return group->root_ns != NOT_YET;
    case SHAPE_PREFIX: {
        const uint64_t *place = map_find(&graph->prefix_places, map_pair(lane, index));
        const struct prefix *prefix = place ? &graph->prefixes[*place] : NULL;
        if (prefix && prefix->latest_lane != GRAPH_NONE) {
            dependency->recorded_ns = graph_call(graph, prefix->latest_lane, prefix->latest_call).enter_ns;
            dependency->replayed_ns = player->prefix_ns[*place];
        }
        return !place || group->prefix > *place - recorded->rows;
    }
    case SHAPE_NEIGHBOURS:
        return depend_on_neighbours(player, lane, index_of_group, dependency);
    default:
        return true;
    }
}

/* When the call ends; NOT_YET with the lane put to wait for who must come first. */
int64_t player_end_in_group(struct player *player, uint32_t lane, const struct call *call)
{
    struct dependency dependency = {.recorded_ns = call->enter_ns, .replayed_ns = player->lanes[lane].now_ns};
    bool gets = !call->gets_nothing || stays_in_tree(player, graph_group(player->graph, call), call);
    bool waits = graph_waits_at_once(player->graph, graph_group(player->graph, call)) && gets;
    if (waits && !depend_on_group(player, lane, player->lanes[lane].at, call->group - 1, call, &dependency))
        return wait_in(player, lane, dependency.list);
    return player_end_after(player, call, player->lanes[lane].now_ns, &dependency,
                            player_wait_for(call, dependency.recorded_ns));
}

/* The same for the collectives that the call completes; `end_ns` is what is known of the end so far. */
int64_t player_end_of_operations(struct player *player, uint32_t lane, const struct call *call, int64_t wait_ns,
                                 int64_t end_ns)
{
    const struct graph *graph = player->graph;
    uint32_t index = player->lanes[lane].at;
    for (size_t i = graph_operations(graph, lane, index); i < graph->operation_count; i++) {
        const struct operation *operation = &graph->operations[i];
        struct dependency dependency = {.recorded_ns = call->enter_ns, .replayed_ns = player->lanes[lane].now_ns};
        if (!graph_completes(operation, lane, index))
            break;
        if (operation->gets_nothing || graph_waits_at_once(graph, &graph->groups[operation->group]))
            continue;
        if (!depend_on_group(player, operation->lane, operation->call, operation->group, call, &dependency))
            return wait_in(player, lane, dependency.list);
        int64_t ns = player_end_after(player, call, player->lanes[lane].now_ns, &dependency, wait_ns);
        end_ns = ns > end_ns ? ns : end_ns;
    }
    return end_ns;
}
