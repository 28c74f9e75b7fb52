/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/wait_partners.h"

#include "graph/graph_neighbours.h"
#include "graph/graph_sides.h"

struct wait wait_for_neighbours(const struct graph *graph, const struct instance *instance, uint32_t location,
                                const struct call *call)
{
    uint32_t row = graph_neighbour_row_of_location(graph, (uint32_t)(instance - graph->instances), location);
    const struct neighbour *member = row == GRAPH_NONE ? NULL : &graph->neighbours[row];
    if (!member || member->latest_location >= NEIGHBOURS_UNKNOWN)
        return (struct wait){0};
    return wait_until(call, graph_call(graph, member->latest_location, member->latest_call).enter_ns,
                      (enum wait_kind)graph_collective_of(graph, instance).wait, member->latest_location,
                      member->latest_call);
}

struct wait wait_for_other_group(const struct graph *graph, const struct instance *instance, uint32_t location,
                                 const struct call *call)
{
    struct collective collective = graph_collective_of(graph, instance);
    enum wait_kind kind = (enum wait_kind)collective.wait;
    int side = graph_side_of(graph, instance, location);
    const struct group_sides *sides = graph_sides(graph, instance);
    const struct group_side *other = &sides->sides[!side], *last = other;
    bool rooted = collective.shape != SHAPE_ALL_TO_ALL;
    if (rooted && instance->root_location == GRAPH_NONE)
        return (struct wait){0};
    if (collective.shape == SHAPE_ONE_TO_ALL) {
        if (graph_side_of(graph, instance, instance->root_location) == side)
            return (struct wait){0};
        return wait_until(call, graph_call(graph, instance->root_location, instance->root_call).enter_ns, kind,
                          instance->root_location, instance->root_call);
    }
    if (other->latest_location == GRAPH_NONE || (rooted && instance->root_location != location))
        return (struct wait){0};
    if (!rooted && !graph_side_is_enough(sides, call) && sides->sides[side].latest_enter_ns > other->latest_enter_ns)
        last = &sides->sides[side];
    return wait_until(call, rooted ? other->earliest_enter_ns : last->latest_enter_ns, kind, last->latest_location,
                      last->latest_call);
}
