/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/stuck_graph.h"

#include "core/memory.h"
#include "stuck/graph_nodes.h"
#include "stuck/graph_waits.h"
#include "stuck/stuck_messages.h"

#include <stdlib.h>
#include <string.h>

/* Sorts edges by the node that they begin at, so that those of a node are contiguous. A counting sort: stable, and
   linear in the edges. */
static void sort_edges(struct stuck_graph *graph)
{
    struct edge *sorted = memory_new(graph->edge_count * sizeof *sorted);
    for (size_t i = 0; i < graph->edge_count; i++)
        graph->nodes[graph->edges[i].from].edge_count++;
    uint32_t first = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        graph->nodes[i].first_edge = first;
        first += graph->nodes[i].edge_count;
        graph->nodes[i].edge_count = 0;
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        struct node *node = &graph->nodes[graph->edges[i].from];
        sorted[node->first_edge + node->edge_count++] = graph->edges[i];
    }
    free(graph->edges);
    graph->edges = sorted;
}

/* Edges by the node that they lead to: `first` has one place more than there are nodes. */
static uint32_t *edges_back(const struct stuck_graph *graph, uint32_t *first)
{
    uint32_t *back = memory_new(graph->edge_count * sizeof *back);
    for (size_t i = 0; i < graph->edge_count; i++)
        first[graph->edges[i].to + 1]++;
    for (size_t i = 0; i < graph->node_count; i++)
        first[i + 1] += first[i];
    uint32_t *next = memory_new(graph->node_count * sizeof *next);
    memcpy(next, first, graph->node_count * sizeof *next);
    for (size_t i = 0; i < graph->edge_count; i++)
        back[next[graph->edges[i].to]++] = graph->edges[i].from;
    free(next);
    return back;
}

/* Starting with the live nodes, marks everything that becomes live. */
static void spread_life(struct stuck_graph *graph)
{
    uint32_t *first = memory_new((graph->node_count + 1) * sizeof *first);
    uint32_t *back = edges_back(graph, first);
    uint32_t *queue = memory_new(graph->node_count * sizeof *queue);
    size_t count = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        struct node *node = &graph->nodes[i];
        /* An AND node needs all of its edges live, an OR node one. */
        node->need = node->any ? 1 : node->edge_count;
        node->live |= node->need == 0;
        if (node->live)
            queue[count++] = (uint32_t)i;
    }
    /* The queue grows while it is walked: each node enters it once, when it becomes live, and each edge is looked at
       once. */
    for (size_t done = 0; done < count; done++)
        for (uint32_t i = first[queue[done]]; i < first[queue[done] + 1]; i++) {
            struct node *node = &graph->nodes[back[i]];
            if (node->live || --node->need > 0)
                continue;
            node->live = true;
            queue[count++] = back[i];
        }
    free(queue);
    free(back);
    free(first);
}

/* The open call of a place that makes a communicator of a group: now all of the group's ranges are known. */
static void enter_team(struct stuck_state *state, struct place *place)
{
    place->team = state->settled ? place->team : 0;
    if (place->depth > 0 && !state->settled && state_traits(state, place->state) & TRAIT_TEAM)
        place->ordinal = state_team_enter(state, place);
}

void stuck_graph_make(struct stuck_graph *graph, struct stuck_state *state)
{
    *graph = (struct stuck_graph){.state = state, .processes = state->defs->processes};
    for (size_t i = 0; i < state->place_count; i++) {
        node_new(graph, (struct node){.kind = NODE_PLACE, .index = (uint32_t)i});
        if (state->places[i].process >= graph->processes)
            graph->processes = state->places[i].process + 1;
    }
    messages_count(state);
    state_sort_neighbours(state);
    for (uint32_t i = 0; i < graph->processes; i++)
        node_new(graph, (struct node){.kind = NODE_PROCESS, .any = true, .index = i, .live = true});
    for (uint32_t i = 0; i < state->place_count; i++) {
        uint32_t process = process_node(graph, state->places[i].process);
        graph->nodes[process].live = false; /* without events nothing is known about a process */
        edge_add(graph, process, i, EDGE_PART, 0);
        enter_team(state, &state->places[i]);
    }
    for (uint32_t i = 0; i < state->place_count; i++)
        graph_add_waits(graph, i);
    sort_edges(graph);
    spread_life(graph);
}

void stuck_graph_settle(struct stuck_graph *graph)
{
    struct stuck_state *state = graph->state;
    stuck_graph_clear(graph);
    state->settled = true;
    stuck_graph_make(graph, state);
}

void stuck_graph_clear(struct stuck_graph *graph)
{
    free(graph->nodes);
    free(graph->edges);
    map_clear(&graph->streams);
    map_clear(&graph->persistent);
    map_clear(&graph->instances);
    map_clear(&graph->anybody);
    map_clear(&graph->teams);
}
