/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/wait_partners.h"

#include "replay/graph_neighbours.h"
#include "replay/graph_sides.h"

struct wait wait_for_neighbours(const struct graph *graph, const struct group *group, uint32_t lane,
                                const struct call *call)
{
    uint32_t row = graph_neighbour_row_of_lane(graph, (uint32_t)(group - graph->groups), lane);
    const struct neighbour *member = row == GRAPH_NONE ? NULL : &graph->neighbours[row];
    if (!member || member->latest_lane >= NEIGHBOURS_UNKNOWN)
        return (struct wait){0};
    return wait_until(call, graph_call(graph, member->latest_lane, member->latest_call).enter_ns,
                      (enum wait_kind)graph_collective_of(graph, group).wait, member->latest_lane, member->latest_call);
}

struct wait wait_for_other_group(const struct graph *graph, const struct group *group, uint32_t lane,
                                 const struct call *call)
{
    struct collective collective = graph_collective_of(graph, group);
    enum wait_kind kind = (enum wait_kind)collective.wait;
    int side = graph_side_of(graph, group, lane);
    const struct group_sides *sides = graph_sides(graph, group);
    const struct group_side *other = &sides->sides[!side], *last = other;
    bool rooted = collective.shape != SHAPE_ALL_TO_ALL;
    if (rooted && group->root_lane == GRAPH_NONE)
        return (struct wait){0};
    if (collective.shape == SHAPE_ONE_TO_ALL) {
        if (graph_side_of(graph, group, group->root_lane) == side)
            return (struct wait){0};
        return wait_until(call, graph_call(graph, group->root_lane, group->root_call).enter_ns, kind, group->root_lane,
                          group->root_call);
    }
    if (other->latest_lane == GRAPH_NONE || (rooted && group->root_lane != lane))
        return (struct wait){0};
    if (!rooted && !graph_side_is_enough(sides, call) && sides->sides[side].latest_enter_ns > other->latest_enter_ns)
        last = &sides->sides[side];
    return wait_until(call, rooted ? other->earliest_enter_ns : last->latest_enter_ns, kind, last->latest_lane,
                      last->latest_call);
}
