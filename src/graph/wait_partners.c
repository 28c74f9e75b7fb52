/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/wait_partners.h"

#include "graph/graph_neighbours.h"
#include "graph/graph_sides.h"

struct wait wait_for_neighbours(const struct graph *graph, const struct instance *instance, uint32_t location,
                                const struct call *call)
{
    uint32_t row = graph_neighbour_row_of_location(graph, (uint32_t)(instance - graph->instances), location);
    if (row == GRAPH_NONE)
        return (struct wait){0};
    const struct neighbour *member = &graph->neighbours[row];
    /* GRAPH_NONE and NEIGHBOURS_UNKNOWN are the two largest numbers. */
    if (member->latest_location >= NEIGHBOURS_UNKNOWN)
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
    /* Without the root it is unknown which group waits, and for whom. */
    if (rooted && instance->root_location == GRAPH_NONE)
        return (struct wait){0};
    if (collective.shape == SHAPE_ONE_TO_ALL) {
        /* The group of the root only hands over: its other members take no part (MPI_PROC_NULL). */
        if (graph_side_of(graph, instance, instance->root_location) == side)
            return (struct wait){0};
        return wait_until(call, graph_call(graph, instance->root_location, instance->root_call).enter_ns, kind,
                          instance->root_location, instance->root_call);
    }
    /* In all to one only the root waits, for the other group. */
    if (other->latest_location == GRAPH_NONE || (rooted && instance->root_location != location))
        return (struct wait){0};
    /* The library collects a group's data before it passes them on (graph_sides.h): the call waits for its own
       group, too, unless it visibly did not. */
    if (!rooted && !graph_side_is_enough(sides, call) && sides->sides[side].latest_enter_ns > other->latest_enter_ns)
        last = &sides->sides[side];
    /* A root waits for the first of the others, as within one group (Scalasca's early reduce). */
    int64_t until_ns = last->latest_enter_ns;
    if (rooted)
        until_ns = other->earliest_enter_ns;
    return wait_until(call, until_ns, kind, last->latest_location, last->latest_call);
}
