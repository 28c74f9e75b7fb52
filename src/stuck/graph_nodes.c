/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/graph_nodes.h"

#include "core/memory.h"

uint32_t node_new(struct stuck_graph *graph, struct node node)
{
    ARRAY_PUSH(graph->nodes, graph->node_count, graph->node_capacity, node);
    return (uint32_t)graph->node_count - 1;
}

void edge_add(struct stuck_graph *graph, uint32_t from, uint32_t to, enum edge_kind kind, size_t item)
{
    struct edge edge = {.from = from, .to = to, .kind = (uint8_t)kind, .item = (uint32_t)item};
    ARRAY_PUSH(graph->edges, graph->edge_count, graph->edge_capacity, edge);
}

uint32_t process_node(const struct stuck_graph *graph, uint32_t process)
{
    return (uint32_t)graph->state->place_count + process;
}

static bool is_member(const struct stuck_graph *graph, int32_t comm, uint32_t process)
{
    const struct defs *defs = graph->state->defs;
    if (comm < 0 || (size_t)comm >= defs->comm_count)
        return comm == 0; /* none has been recorded yet */
    const uint64_t *other = map_find(&graph->state->other_side, (uint64_t)comm);
    return defs_comm_rank(defs, comm, process) >= 0 || (other && defs_comm_rank(defs, (int32_t)*other, process) >= 0);
}

uint32_t anybody_node(struct stuck_graph *graph, int32_t comm)
{
    comm = state_comm(graph->state, comm);
    uint64_t *known = map_put(&graph->anybody, (uint64_t)(uint32_t)comm, UINT64_MAX);
    if (*known != UINT64_MAX)
        return (uint32_t)*known;
    /* Filled in only when needed: a node with all processes as edges for each communicator is linear, one for each
       receive would not be. */
    uint32_t node = node_new(graph, (struct node){.kind = NODE_ANYBODY, .any = true, .comm = comm});
    *known = node;
    for (uint32_t i = 0; i < graph->processes; i++)
        if (is_member(graph, comm, i))
            edge_add(graph, node, process_node(graph, i), EDGE_PART, 0);
    return node;
}

/* True if a thread of the process has entered the instance, and MPI has called a function of the program in it, which
   calls MPI: the collective cannot go on before that returns. */
static bool is_in_callback(const struct stuck_graph *graph, const struct node *instance, uint32_t process)
{
    const struct stuck_state *state = graph->state;
    const uint64_t *index;
    for (uint32_t thread = 0;
         state->interrupted && (index = map_find(&state->place_of, map_pair(process, thread))) != NULL; thread++)
        for (size_t i = 0; i < state->places[*index].outer_count; i++) {
            const struct place *outer = &state->places[*index].outer[i];
            if (outer->ordinal == instance->ordinal && state_comm(state, outer->comm) == instance->comm)
                return true;
        }
    return false;
}

/* The same of a persistent collective, which a member may also have prepared and not started so often. */
static enum edge_kind lacks_start(const struct stuck_graph *graph, const struct node *instance, uint32_t process)
{
    const struct prepared *prepared = state_prepared(graph->state, instance->comm, process, instance->ordinal);
    if (prepared && prepared->state != instance->state)
        return EDGE_MISMATCH;
    return prepared && prepared->starts >= instance->starts ? EDGE_NONE : EDGE_COLLECTIVE;
}

/* A member of the communicator has not entered the instance, was in another function then, or is in a callback of it;
   else EDGE_NONE. */
static enum edge_kind lacks(const struct stuck_graph *graph, const struct node *instance, uint32_t process)
{
    if (!is_member(graph, instance->comm, process))
        return EDGE_NONE;
    if (instance->starts)
        return lacks_start(graph, instance, process);
    const struct member *member = state_member(graph->state, instance->comm, process);
    if (!member || member->count < instance->ordinal)
        return EDGE_COLLECTIVE;
    /* Older functions are overwritten (COLLECTIVES_KEPT): unknown is no mismatch. */
    bool known = instance->ordinal + COLLECTIVES_KEPT > member->count;
    uint32_t there = member->states[instance->ordinal % COLLECTIVES_KEPT];
    if (known && there != UINT32_MAX && there != instance->state)
        return EDGE_MISMATCH;
    return is_in_callback(graph, instance, process) ? EDGE_PART : EDGE_NONE;
}

/* The node of an instance of these numbers, UINT64_MAX if it is new. */
static uint64_t *known_instance(struct stuck_graph *graph, const struct node *instance)
{
    /* Four numbers, of which a key holds two. Of one stream only a few of the last instances are waited for: their
       ordinals differ in 32 bits. */
    uint64_t *stream =
        map_put(&graph->streams, map_pair((uint32_t)instance->comm, instance->state), graph->stream_count);
    graph->stream_count += *stream == graph->stream_count;
    uint64_t key = map_pair((uint32_t)*stream, (uint32_t)instance->ordinal);
    if (instance->starts) {
        uint64_t *of_starts = map_put(&graph->persistent, key, graph->stream_count);
        graph->stream_count += *of_starts == graph->stream_count;
        key = map_pair((uint32_t)*of_starts, (uint32_t)instance->starts);
    }
    return map_put(&graph->instances, key, UINT64_MAX);
}

uint32_t instance_node(struct stuck_graph *graph, int32_t comm, uint32_t function, uint64_t ordinal, uint64_t starts)
{
    comm = state_comm(graph->state, comm);
    uint32_t first = graph->state->defs->states[function].first_of_name;
    bool all =
        function < graph->state->collective_count && graph->state->collectives[function].shape == SHAPE_ALL_TO_ALL;
    struct node instance = {
        .kind = NODE_INSTANCE, .any = !all, .comm = comm, .state = first, .ordinal = ordinal, .starts = starts};
    uint64_t *known = known_instance(graph, &instance);
    if (*known != UINT64_MAX)
        return (uint32_t)*known;
    uint32_t node = node_new(graph, instance);
    size_t before = graph->edge_count;
    *known = node;
    for (uint32_t i = 0; i < graph->processes; i++) {
        enum edge_kind kind = lacks(graph, &instance, i);
        if (kind != EDGE_NONE)
            edge_add(graph, node, process_node(graph, i), kind, 0);
    }
    if (graph->edge_count == before)
        graph->nodes[node].any = false; /* all have arrived: it continues */
    return node;
}

/* The processes of a range that lack the team's n-th call. */
static void add_team_range(struct stuck_graph *graph, uint32_t node, const struct group_range *range)
{
    const struct node team = graph->nodes[node];
    for (int64_t rank = range->first; range->step > 0 ? rank <= range->last : rank >= range->last;
         rank += range->step) {
        int32_t process = rank < 0 ? EVENT_UNKNOWN : defs_world_rank(graph->state->defs, team.comm, (int32_t)rank);
        if (process < 0 || (uint32_t)process >= graph->processes || range->step == 0)
            return;
        if (state_team_met(graph->state, team.team, (uint32_t)process) < team.ordinal)
            edge_add(graph, node, process_node(graph, (uint32_t)process), EDGE_COLLECTIVE, 0);
    }
}

uint32_t team_node(struct stuck_graph *graph, const struct place *place)
{
    struct node instance = {.kind = NODE_INSTANCE,
                            .comm = place->comm,
                            .state = graph->state->defs->states[place->state].first_of_name,
                            .team = place->team,
                            .ordinal = place->ordinal};
    uint64_t *known = map_put(&graph->teams, map_pair(place->team, (uint32_t)place->ordinal), UINT64_MAX);
    if (*known != UINT64_MAX)
        return (uint32_t)*known;
    uint32_t node = node_new(graph, instance);
    *known = node;
    for (uint32_t at = graph->state->teams[place->team - 1].group; at; at = graph->state->ranges[at - 1].next)
        add_team_range(graph, node, &graph->state->ranges[at - 1]);
    return node;
}
