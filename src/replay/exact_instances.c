/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls in collectives wait for in exact replays. */
#include "core/numbers.h"
#include "graph/graph_neighbours.h"
#include "graph/graph_sides.h"
#include "replay/exact.h"

/* The last of the neighbours; false: one has not arrived yet. */
static bool depend_on_neighbours(struct exact *exact, uint32_t location, uint32_t index_of_instance,
                                 struct dependency *dependency)
{
    const struct player *player = &exact->player;
    const struct graph *graph = player->graph;
    uint32_t row = graph_neighbour_row_of_location(graph, index_of_instance, location), source;
    if (row == GRAPH_NONE)
        return true;
    const struct neighbour *member = &graph->neighbours[row];
    if (member->latest_location >= NEIGHBOURS_UNKNOWN)
        return true;
    struct source_walk walk = graph_sources(graph, index_of_instance, row);
    for (size_t i = 0; i < player->lanes; i++)
        exact->last_ns[i] = NOT_YET;
    while (graph_next_source(graph, &walk, &source)) {
        struct neighbour_play *neighbour = &player->neighbours[source];
        /* The list of the one that is missing: its arrival wakes this location, which then looks for the next
           missing one. */
        dependency->list = &neighbour->waiting;
        if (!neighbour->entered)
            return false;
        player_raise(player, exact->last_ns, player->neighbour_ns + source * player->lanes);
    }
    dependency->recorded_ns = graph_call(graph, member->latest_location, member->latest_call).enter_ns;
    dependency->replayed_ns = exact->last_ns;
    return true;
}

/* The root in the other group, that group, or both. `call` waits. */
static bool depend_on_other_group(struct exact *exact, uint32_t location, const struct instance *recorded,
                                  const struct call *call, struct dependency *dependency)
{
    const struct player *player = &exact->player;
    const struct graph *graph = player->graph;
    int index = graph_side_of(graph, recorded, location);
    const struct group_sides *sides = graph_sides(graph, recorded);
    const struct group_side *own = &sides->sides[index], *other = &sides->sides[!index];
    const uint32_t *arrived = player->sides[recorded->rows];
    enum collective_shape shape = (enum collective_shape)graph_collective_of(graph, recorded).shape;
    if (shape == SHAPE_ONE_TO_ALL) {
        if (recorded->root_location == GRAPH_NONE || graph_side_of(graph, recorded, recorded->root_location) == index)
            return true;
        dependency->recorded_ns = graph_call(graph, recorded->root_location, recorded->root_call).enter_ns;
        size_t instance = (size_t)(recorded - graph->instances);
        dependency->replayed_ns = player->root_ns + instance * player->lanes;
        return player->instances[instance].root_is_there;
    }
    if (other->latest_location == GRAPH_NONE || (shape == SHAPE_ALL_TO_ONE && recorded->root_location != location))
        return true;
    dependency->recorded_ns = other->latest_enter_ns;
    dependency->replayed_ns = player_side_ns(player, recorded, !index);
    /* The MPI library collects a group's data before it sends them over (graph_sides.h). */
    bool both = shape == SHAPE_ALL_TO_ALL && !graph_side_is_enough(sides, call);
    if (both && own->latest_enter_ns > other->latest_enter_ns)
        dependency->recorded_ns = own->latest_enter_ns;
    if (both) {
        player_copy(player, exact->last_ns, dependency->replayed_ns);
        player_raise(player, exact->last_ns, player_side_ns(player, recorded, index));
        dependency->replayed_ns = exact->last_ns;
    }
    return arrived[!index] == other->givers && (!both || arrived[index] == own->givers);
}

/* The tree of a reduction is the MPI library's: on an ideal network only the root needs the data. */
static bool stays_in_tree(const struct exact *exact, const struct instance *recorded, const struct call *call)
{
    return !exact->lanes[0].options.ideal && graph_collective(exact->player.graph, call).stage == STAGE_BLOCKING &&
           graph_stays_for_last(exact->player.graph, recorded, call);
}

/* What `call` waits for in a collective in which the location takes part with its call `index`. False: not known yet.
 */
static bool depend_on_instance(struct exact *exact, uint32_t location, uint32_t index, uint32_t index_of_instance,
                               const struct call *call, struct dependency *dependency)
{
    const struct graph *graph = exact->player.graph;
    const struct instance *recorded = &graph->instances[index_of_instance];
    const struct player *player = &exact->player;
    struct instance_play *instance = &player->instances[index_of_instance];
    size_t times = index_of_instance * player->lanes;
    struct collective collective = graph_collective_of(graph, recorded);
    /* It was not waiting in the record, as far as known: only its own time counts. */
    if (!recorded->complete || recorded->latest_location == GRAPH_NONE)
        return true;
    dependency->kind = (enum wait_kind)collective.wait;
    dependency->list = &instance->waiting;
    if (graph->streams[recorded->stream].sided)
        return depend_on_other_group(exact, location, recorded, call, dependency);
    switch ((enum collective_shape)collective.shape) {
    case SHAPE_ALL_TO_ONE: /* The data of the last member are needed, though only the time until the first counts as a
                              wait. */
        if (recorded->root_location != location && !stays_in_tree(exact, recorded, call))
            return true;
        if (recorded->root_location != location)
            dependency->kind = WAIT_NONE;
        /* fall through */
    case SHAPE_ALL_TO_ALL:
        dependency->recorded_ns = recorded->latest_enter_ns;
        dependency->replayed_ns = player->latest_ns + times;
        return instance->arrived == recorded->givers;
    case SHAPE_ONE_TO_ALL:
        if (recorded->root_location == GRAPH_NONE || recorded->root_location == location)
            return true;
        dependency->recorded_ns = graph_call(graph, recorded->root_location, recorded->root_call).enter_ns;
        dependency->replayed_ns = player->root_ns + times;
        return instance->root_is_there;
    case SHAPE_PREFIX: {
        const uint64_t *place = map_find(&graph->prefix_places, map_pair(location, index));
        if (!place)
            return true;
        const struct prefix *prefix = &graph->prefixes[*place];
        if (prefix->latest_location != GRAPH_NONE) {
            dependency->recorded_ns = graph_call(graph, prefix->latest_location, prefix->latest_call).enter_ns;
            dependency->replayed_ns = player->prefix_ns + *place * player->lanes;
        }
        return instance->prefix > *place - recorded->rows;
    }
    case SHAPE_NEIGHBOURS:
        return depend_on_neighbours(exact, location, index_of_instance, dependency);
    default:
        return true;
    }
}

/* All wait for the last. False: it has not entered yet. */
static bool depend_on_last(struct exact *exact, const struct instance *recorded, struct dependency *dependency)
{
    const struct player *player = &exact->player;
    size_t index = (size_t)(recorded - player->graph->instances);
    struct instance_play *instance = &player->instances[index];
    dependency->kind = (enum wait_kind)recorded->last_wait;
    dependency->list = &instance->waiting;
    dependency->recorded_ns = recorded->latest_enter_ns;
    dependency->replayed_ns = player->latest_ns + index * player->lanes;
    return instance->arrived == recorded->givers;
}

/* What the call waits for in its own collective. False: not known yet. */
static bool depend_on_own(struct exact *exact, uint32_t location, const struct call *call,
                          struct dependency *dependency)
{
    const struct graph *graph = exact->player.graph;
    const struct instance *recorded = graph_instance(graph, call);
    if (recorded->last_wait != WAIT_NONE)
        return call->gets_nothing || depend_on_last(exact, recorded, dependency);
    bool gets = !call->gets_nothing || stays_in_tree(exact, recorded, call);
    if (!gets || !graph_waits_at_once(graph, recorded))
        return true;
    return depend_on_instance(exact, location, exact->player.locations[location].at, call->instance - 1, call,
                              dependency);
}

bool exact_end_in_instance(struct exact *exact, uint32_t location, const struct call *call)
{
    struct dependency dependency = {
        .recorded_ns = call->enter_ns, .replayed_ns = player_now(&exact->player, location), .alone = true};
    if (!depend_on_own(exact, location, call, &dependency)) {
        player_wait_in(&exact->player, location, dependency.list);
        return false;
    }
    /* Not before: most calls come here twice. */
    if (exact->player.lanes > 1)
        exact_change_call(exact, location, call);
    exact_depend(exact, location, call, &dependency);
    return true;
}

/* The same for the collectives that the call completes. */
bool exact_end_of_operations(struct exact *exact, uint32_t location, const struct call *call, int64_t wait_ns)
{
    const struct graph *graph = exact->player.graph;
    uint32_t index = exact->player.locations[location].at;
    for (size_t i = graph_operations(graph, location, index); i < graph->operation_count; i++) {
        const struct operation *operation = &graph->operations[i];
        struct dependency dependency = {
            .recorded_ns = call->enter_ns, .replayed_ns = player_now(&exact->player, location), .wait_ns = wait_ns};
        if (!graph_completes(operation, location, index))
            break;
        if (operation->gets_nothing || graph_waits_at_once(graph, &graph->instances[operation->instance]))
            continue;
        if (!depend_on_instance(exact, operation->location, operation->call, operation->instance, call, &dependency)) {
            player_wait_in(&exact->player, location, dependency.list);
            return false;
        }
        exact_depend(exact, location, call, &dependency);
    }
    return true;
}
