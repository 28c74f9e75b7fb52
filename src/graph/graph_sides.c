/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_sides.h"

#include "core/memory.h"

void comm_sides_note(struct comm_sides *sides, const struct event *event)
{
    /* A process makes the two sides of an inter-communicator in a row: its local group, then the remote one. Which
       local one belongs to a remote one is only known from this order, for each thread. */
    uint64_t key = map_pair(event->process, event->thread);
    if (event->partner_comm < 0)
        return;
    if (event->value == COMM_STEP_LOCAL)
        *map_put(&sides->local, key, 0) = (uint64_t)event->partner_comm;
    if (event->value != COMM_STEP_REMOTE)
        return;
    /* The same communicator on both sides would be an intra-communicator: the trace is damaged. */
    const uint64_t *local = map_find(&sides->local, key);
    if (!local || *local == (uint64_t)event->partner_comm)
        return;
    /* Both ways, since each process of the other group sees the sides exchanged. */
    *map_put(&sides->other, *local, 0) = (uint64_t)event->partner_comm;
    *map_put(&sides->other, (uint64_t)event->partner_comm, 0) = *local;
}

bool comm_sides_known(const struct comm_sides *sides, int32_t comm)
{
    return comm >= 0 && map_find(&sides->other, (uint64_t)comm);
}

int32_t comm_sides_both(const struct comm_sides *sides, int32_t comm)
{
    const uint64_t *other = comm >= 0 ? map_find(&sides->other, (uint64_t)comm) : NULL;
    return other && (int32_t)*other < comm ? (int32_t)*other : comm;
}

void comm_sides_clear(struct comm_sides *sides)
{
    map_clear(&sides->local);
    map_clear(&sides->other);
}

void graph_begin_sides(struct graph *graph)
{
    /* No member yet: later than anything before, and earlier than anything after. */
    static const struct group_side nobody = {INT64_MIN, INT64_MAX, GRAPH_NONE, GRAPH_NONE, 0, 0};
    for (size_t i = 0; i < graph->instance_count; i++)
        if (graph->streams[graph->instances[i].stream].sided)
            graph->instances[i].rows = (uint32_t)graph->side_count++;
    graph->sides = memory_new(graph->side_count * sizeof *graph->sides);
    for (size_t i = 0; i < graph->side_count; i++)
        graph->sides[i] = (struct group_sides){{nobody, nobody}};
}

void graph_note_side(struct graph *graph, uint32_t index_of_instance, uint32_t location, uint32_t index,
                     const struct call *call)
{
    const struct instance *instance = &graph->instances[index_of_instance];
    struct group_side *side = &graph->sides[instance->rows].sides[graph_side_of(graph, instance, location)];
    side->count++;
    /* A member that sends nothing is waited for by no one. */
    if (call->gives_nothing)
        return;
    side->givers++;
    if (call->enter_ns < side->earliest_enter_ns)
        side->earliest_enter_ns = call->enter_ns;
    if (call->enter_ns <= side->latest_enter_ns)
        return;
    side->latest_enter_ns = call->enter_ns;
    side->latest_location = location;
    side->latest_call = index;
}

void graph_free_sides(struct graph *graph)
{
    free(graph->sides);
}
