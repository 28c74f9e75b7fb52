/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/graph_neighbours.h"

#include "core/memory.h"
#include "core/payload.h"

/* Topologies */

/* A process is a source of itself beside the others: so one is known that has none. Nobody waits for himself. */
static void add_source(struct graph *graph, const struct event *event, uint32_t rank)
{
    struct source source = {.comm = event->comm, .process = event->process, .source = rank};
    ARRAY_PUSH(graph->sources, graph->source_count, graph->source_capacity, source);
}

void graph_note_neighbours(struct graph *graph, const struct event *event, const unsigned char *arena)
{
    struct neighbours neighbours;
    if (event->comm == EVENT_UNKNOWN)
        return;
    payload_get_neighbours(arena + event->payload, event->payload_length, &neighbours);
    if (!(neighbours.way & NEIGHBOURS_SOURCES))
        return;
    add_source(graph, event, GRAPH_NONE);
    for (size_t i = 0; i < NEIGHBOURS_RANKS; i++)
        if (neighbours.ranks[i] >= 0)
            add_source(graph, event, (uint32_t)neighbours.ranks[i]);
}

static int by_process(const void *a, const void *b)
{
    const struct source *left = a, *right = b;
    if (left->comm != right->comm)
        return left->comm < right->comm ? -1 : 1;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    return (left->source > right->source) - (left->source < right->source);
}

/* Ranks become processes, in order and each once: communicators are known by now. */
static void finish_sources(struct graph *graph)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->source_count; i++) {
        struct source *source = &graph->sources[i];
        if (source->source == GRAPH_NONE)
            source->source = source->process;
        else
            source->source = (uint32_t)defs_world_rank(graph->defs, source->comm, (int32_t)source->source);
    }
    if (graph->source_count > 0)
        qsort(graph->sources, graph->source_count, sizeof *graph->sources, by_process);
    for (size_t i = 0; i < graph->source_count; i++) {
        const struct source *source = &graph->sources[i];
        if (kept > 0 && by_process(source, &graph->sources[kept - 1]) == 0)
            continue;
        map_put(&graph->source_places, map_pair((uint32_t)source->comm, source->process), kept);
        graph->sources[kept++] = *source;
    }
    graph->source_count = kept;
}

/* Members */

static bool is_of_neighbours(const struct graph *graph, const struct group *group)
{
    return graph_collective_of(graph, group).shape == SHAPE_NEIGHBOURS;
}

/* Room for the members of all such collectives. False: there are none. */
static bool make_rows(struct graph *graph)
{
    for (size_t i = 0; i < graph->group_count; i++) {
        struct group *group = &graph->groups[i];
        if (!is_of_neighbours(graph, group))
            continue;
        group->rows = (uint32_t)graph->neighbour_count;
        graph->neighbour_count += group->count;
    }
    graph->neighbours = memory_new(graph->neighbour_count * sizeof *graph->neighbours);
    return graph->neighbour_count > 0;
}

static void add_member(struct graph *graph, uint32_t *filled, uint32_t index_of_group, uint32_t lane, uint32_t call)
{
    const struct group *group = &graph->groups[index_of_group];
    if (is_of_neighbours(graph, group))
        graph->neighbours[group->rows + filled[index_of_group]++] =
            (struct neighbour){lane, call, NEIGHBOURS_UNKNOWN, GRAPH_NONE};
}

static int by_lane_process(const void *a, const void *b, void *context)
{
    const struct lane *lanes = context;
    const struct neighbour *left = a, *right = b;
    uint32_t one = lanes[left->lane].process, other = lanes[right->lane].process;
    if (one != other)
        return one < other ? -1 : 1;
    return (left->lane > right->lane) - (left->lane < right->lane);
}

static void fill_rows(struct graph *graph)
{
    uint32_t *filled = memory_new(graph->group_count * sizeof *filled);
    for (uint32_t lane = 0; lane < graph->lane_count; lane++)
        for (uint32_t i = 0; i < graph->lanes[lane].count; i++) {
            struct call call = graph_call(graph, lane, i);
            if (call.group)
                add_member(graph, filled, call.group - 1, lane, i);
        }
    for (size_t i = 0; i < graph->start_count; i++) {
        const struct operation *operation = &graph->operations[graph->starts[i]];
        add_member(graph, filled, operation->group, operation->lane, operation->call);
    }
    free(filled);
    for (size_t i = 0; i < graph->group_count; i++)
        if (is_of_neighbours(graph, &graph->groups[i]))
            qsort_r(graph->neighbours + graph->groups[i].rows, graph->groups[i].count, sizeof *graph->neighbours,
                    by_lane_process, graph->lanes);
}

/* The source that enters last. Not known where one of them is not there. */
static void find_latest(struct graph *graph, uint32_t group, uint32_t row)
{
    struct neighbour *member = &graph->neighbours[row];
    struct source_walk walk = graph_sources(graph, group, row);
    struct neighbour found = {member->lane, member->call, GRAPH_NONE, GRAPH_NONE};
    int64_t latest_ns = INT64_MIN;
    uint32_t source;
    if (!walk.known)
        return;
    while (graph_next_source(graph, &walk, &source)) {
        if (source == GRAPH_NONE)
            return;
        const struct neighbour *other = &graph->neighbours[source];
        int64_t enter_ns = graph_call(graph, other->lane, other->call).enter_ns;
        if (enter_ns <= latest_ns)
            continue;
        latest_ns = enter_ns;
        found.latest_lane = other->lane;
        found.latest_call = other->call;
    }
    *member = found;
}

void graph_finish_neighbours(struct graph *graph)
{
    if (!make_rows(graph))
        return;
    finish_sources(graph);
    fill_rows(graph);
    for (uint32_t i = 0; i < graph->group_count; i++) {
        const struct group *group = &graph->groups[i];
        for (uint32_t k = 0; k < group->count && group->complete && is_of_neighbours(graph, group); k++)
            find_latest(graph, i, group->rows + k);
    }
}

void graph_free_neighbours(struct graph *graph)
{
    free(graph->sources);
    map_clear(&graph->source_places);
    free(graph->neighbours);
}

/* Asking */

static uint32_t process_of_row(const struct graph *graph, uint32_t row)
{
    return graph->lanes[graph->neighbours[row].lane].process;
}

/* Index of the row of a process. */
static uint32_t row_of_process(const struct graph *graph, uint32_t index_of_group, uint32_t process)
{
    const struct group *group = &graph->groups[index_of_group];
    uint32_t low = group->rows, end = group->rows + group->count, high = end;
    /* Where all processes take part. */
    if (process < group->count && process_of_row(graph, low + process) == process)
        return low + process;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (process_of_row(graph, middle) < process)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && process_of_row(graph, low) == process ? low : GRAPH_NONE;
}

uint32_t graph_neighbour_row_of_lane(const struct graph *graph, uint32_t group, uint32_t lane)
{
    uint32_t row = row_of_process(graph, group, graph->lanes[lane].process);
    return row != GRAPH_NONE && graph->neighbours[row].lane == lane ? row : GRAPH_NONE;
}

bool graph_neighbours_known(const struct graph *graph, uint32_t group, uint32_t lane)
{
    uint32_t row = graph_neighbour_row_of_lane(graph, group, lane);
    return row != GRAPH_NONE && graph->neighbours[row].latest_lane != NEIGHBOURS_UNKNOWN;
}

struct source_walk graph_sources(const struct graph *graph, uint32_t group, uint32_t row)
{
    int32_t comm = graph->streams[graph->groups[group].stream].comm;
    uint32_t process = graph->lanes[graph->neighbours[row].lane].process;
    const uint64_t *first = map_find(&graph->source_places, map_pair((uint32_t)comm, process));
    return (struct source_walk){.known = first, .group = group, .at = first ? (size_t)*first : graph->source_count};
}

bool graph_next_source(const struct graph *graph, struct source_walk *walk, uint32_t *row)
{
    while (walk->at < graph->source_count) {
        const struct source *source = &graph->sources[walk->at++];
        const struct source *next = &graph->sources[walk->at];
        bool last = walk->at == graph->source_count || next->comm != source->comm || next->process != source->process;
        if (last)
            walk->at = graph->source_count;
        if (source->source == source->process)
            continue;
        *row = row_of_process(graph, walk->group, source->source);
        const struct neighbour *member = *row == GRAPH_NONE ? NULL : &graph->neighbours[*row];
        if (!member || !graph_call(graph, member->lane, member->call).gives_nothing)
            return true;
    }
    return false;
}
