/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_neighbours.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"

/* Topologies */

/* Each process also has itself as a source, so that a process without sources is known too. No process waits for
   itself. */
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
    /* Destinations are of no use: nobody waits for them. */
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
    int order = order_by(left->comm, right->comm);
    if (order == 0)
        order = order_by(left->process, right->process);
    return order ? order : order_by(left->source, right->source);
}

/* Converts ranks to processes, in order and without duplicates: communicators are known by now. */
static void finish_sources(struct graph *graph)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->source_count; i++) {
        struct source *source = &graph->sources[i];
        if (source->source == GRAPH_NONE)
            source->source = source->process;
        else
            /* A rank without a process becomes EVENT_UNKNOWN, which no member has: graph_next_source then reports it
               as missing. */
            source->source = (uint32_t)defs_world_rank(graph->defs, source->comm, (int32_t)source->source);
    }
    if (graph->source_count > 0)
        qsort(graph->sources, graph->source_count, sizeof *graph->sources, by_process);
    for (size_t i = 0; i < graph->source_count; i++) {
        const struct source *source = &graph->sources[i];
        if (kept > 0 && by_process(source, &graph->sources[kept - 1]) == 0)
            continue;
        /* map_put keeps the first place of a process; its others follow. */
        map_put(&graph->source_places, map_pair((uint32_t)source->comm, source->process), kept);
        graph->sources[kept++] = *source;
    }
    graph->source_count = kept;
}

/* Members */

static bool is_of_neighbours(const struct graph *graph, const struct instance *instance)
{
    return graph_collective_of(graph, instance).shape == SHAPE_NEIGHBOURS;
}

/* Makes room for the members of all neighbourhood collectives. False: there are none. */
static bool make_rows(struct graph *graph)
{
    for (size_t i = 0; i < graph->instance_count; i++) {
        struct instance *instance = &graph->instances[i];
        if (!is_of_neighbours(graph, instance))
            continue;
        instance->rows = (uint32_t)graph->neighbour_count;
        graph->neighbour_count += instance->count;
    }
    graph->neighbours = memory_new(graph->neighbour_count * sizeof *graph->neighbours);
    return graph->neighbour_count > 0;
}

static void add_member(struct graph *graph, uint32_t *filled, uint32_t index_of_instance, uint32_t location,
                       uint32_t call)
{
    const struct instance *instance = &graph->instances[index_of_instance];
    if (is_of_neighbours(graph, instance))
        graph->neighbours[instance->rows + filled[index_of_instance]++] =
            (struct neighbour){location, call, NEIGHBOURS_UNKNOWN, GRAPH_NONE};
}

static int by_location_process(const void *a, const void *b, void *context)
{
    const struct location *locations = context;
    const struct neighbour *left = a, *right = b;
    int order = order_by(locations[left->location].process, locations[right->location].process);
    return order ? order : order_by(left->location, right->location);
}

static void fill_rows(struct graph *graph)
{
    /* How many rows of each instance are filled: members come by location, not by instance. */
    uint32_t *filled = memory_new(graph->instance_count * sizeof *filled);
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            struct call call = graph_call(graph, location, i);
            if (call.instance)
                add_member(graph, filled, call.instance - 1, location, i);
        }
    for (size_t i = 0; i < graph->start_count; i++) {
        const struct operation *operation = &graph->operations[graph->starts[i]];
        add_member(graph, filled, operation->instance, operation->location, operation->call);
    }
    free(filled);
    /* By process, so that a row can be found by bisection, or at once where all processes take part. */
    for (size_t i = 0; i < graph->instance_count; i++)
        if (is_of_neighbours(graph, &graph->instances[i]))
            qsort_r(graph->neighbours + graph->instances[i].rows, graph->instances[i].count, sizeof *graph->neighbours,
                    by_location_process, graph->locations);
}

/* The source that enters last. Unknown if one of them is missing. */
static void find_latest(struct graph *graph, uint32_t instance, uint32_t row)
{
    struct neighbour *member = &graph->neighbours[row];
    struct source_walk walk = graph_sources(graph, instance, row);
    struct neighbour found = {member->location, member->call, GRAPH_NONE, GRAPH_NONE};
    int64_t latest_ns = INT64_MIN;
    uint32_t source;
    if (!walk.known)
        return;
    while (graph_next_source(graph, &walk, &source)) {
        /* If one is missing, it may be the one that came last: no wait is better than a wrong one. */
        if (source == GRAPH_NONE)
            return;
        const struct neighbour *other = &graph->neighbours[source];
        int64_t enter_ns = graph_call(graph, other->location, other->call).enter_ns;
        /* Of several at the same time the lowest process, as everywhere. */
        if (enter_ns <= latest_ns)
            continue;
        latest_ns = enter_ns;
        found.latest_location = other->location;
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
    for (uint32_t i = 0; i < graph->instance_count; i++) {
        const struct instance *instance = &graph->instances[i];
        /* Members of incomplete ones stay NEIGHBOURS_UNKNOWN. */
        for (uint32_t k = 0; k < instance->count && instance->complete && is_of_neighbours(graph, instance); k++)
            find_latest(graph, i, instance->rows + k);
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
    return graph->locations[graph->neighbours[row].location].process;
}

/* Index of the row of a process. */
static uint32_t row_of_process(const struct graph *graph, uint32_t index_of_instance, uint32_t process)
{
    const struct instance *instance = &graph->instances[index_of_instance];
    uint32_t low = instance->rows, end = instance->rows + instance->count, high = end;
    /* Where all processes take part. */
    if (process < instance->count && process_of_row(graph, low + process) == process)
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

uint32_t graph_neighbour_row_of_location(const struct graph *graph, uint32_t instance, uint32_t location)
{
    uint32_t row = row_of_process(graph, instance, graph->locations[location].process);
    return row != GRAPH_NONE && graph->neighbours[row].location == location ? row : GRAPH_NONE;
}

bool graph_neighbours_known(const struct graph *graph, uint32_t instance, uint32_t location)
{
    uint32_t row = graph_neighbour_row_of_location(graph, instance, location);
    return row != GRAPH_NONE && graph->neighbours[row].latest_location != NEIGHBOURS_UNKNOWN;
}

struct source_walk graph_sources(const struct graph *graph, uint32_t instance, uint32_t row)
{
    int32_t comm = graph->streams[graph->instances[instance].stream].comm;
    uint32_t process = graph->locations[graph->neighbours[row].location].process;
    const uint64_t *first = map_find(&graph->source_places, map_pair((uint32_t)comm, process));
    return (struct source_walk){
        .known = first, .instance = instance, .at = first ? (size_t)*first : graph->source_count};
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
        *row = row_of_process(graph, walk->instance, source->source);
        /* A source that sends nothing is no reason to wait; one that takes no part is reported, so that the caller
           knows. */
        const struct neighbour *member = *row == GRAPH_NONE ? NULL : &graph->neighbours[*row];
        if (!member || !graph_call(graph, member->location, member->call).gives_nothing)
            return true;
    }
    return false;
}
