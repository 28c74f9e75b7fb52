/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_building.h"

#include "core/memory.h"
#include "core/numbers.h"

uint32_t builder_stream(struct graph_builder *builder, int32_t comm, uint32_t state)
{
    struct graph *graph = builder->graph;
    /* Both groups of an inter-communicator take part in the same collectives. */
    int32_t both = comm_sides_both(&builder->sides, comm);
    uint64_t *stream = map_put(&builder->streams, map_pair((uint32_t)both, state), graph->stream_count);
    if (*stream == graph->stream_count) {
        ARRAY_PUSH(
            graph->streams, graph->stream_count, graph->stream_capacity,
            (struct instance_stream){.comm = both, .state = state, .sided = comm_sides_known(&builder->sides, comm)});
        ARRAY_RESERVE(builder->stream_instances, builder->stream_instances_capacity, graph->stream_count);
        builder->stream_instances[graph->stream_count - 1] = (struct stream_instances){0};
    }
    return (uint32_t)*stream;
}

uint32_t builder_join_instance(struct graph_builder *builder, uint32_t location, uint32_t stream)
{
    struct graph *graph = builder->graph;
    struct stream_instances *row = &builder->stream_instances[stream];
    /* The n-th collective of each process on a communicator is the same one: MPI requires the same order everywhere
       (MPI-4.0, 6.14). The order is counted for each function, so that a call missing from one process does not
       shift the collectives of other functions. */
    uint64_t turn = (*map_put(&builder->turns, map_pair(location, stream), 0))++;
    if (turn == row->count) {
        ARRAY_PUSH(row->instances, row->count, row->capacity, (uint32_t)graph->instance_count);
        ARRAY_PUSH(graph->instances, graph->instance_count, graph->instance_capacity,
                   (struct instance){.latest_enter_ns = INT64_MIN,
                                     .all_entered_ns = INT64_MIN,
                                     .earliest_leave_ns = INT64_MAX,
                                     .earliest_other_ns = INT64_MAX,
                                     .earliest_done_ns = INT64_MAX,
                                     .latest_location = GRAPH_NONE,
                                     .root_location = GRAPH_NONE,
                                     .rows = GRAPH_NONE,
                                     .stream = stream});
    }
    struct instance *instance = &graph->instances[row->instances[turn]];
    if (++instance->count > graph->streams[stream].most)
        graph->streams[stream].most = instance->count;
    return row->instances[turn] + 1;
}

void builder_note_instance(struct graph_builder *builder, uint32_t location, uint32_t instance_of_call, int32_t comm,
                           int64_t root, int64_t bytes)
{
    struct graph *graph = builder->graph;
    const struct location *where = &graph->locations[location];
    struct instance *instance = &graph->instances[instance_of_call - 1];
    bool known = root >= 0 && root < PROCESS_LIMIT;
    int32_t world_root = known ? defs_world_rank(graph->defs, comm, (int32_t)root) : EVENT_UNKNOWN;
    if (known && comm == EVENT_UNKNOWN && builder->ranks_of_world)
        world_root = (int32_t)root;
    /* On an inter-communicator the root passes MPI_ROOT and the other group its rank (MPI-4.0, 6.2.3): a rank says
       nothing about the caller's own group. */
    bool itself = world_root == (int32_t)where->process;
    if (graph->streams[instance->stream].sided)
        itself = root == ROOT_SELF;
    instance->root_named |= known || root == ROOT_SELF;
    instance->bytes = larger(instance->bytes, bytes);
    /* The call may still be open: graph_call() reads only closed ones. */
    if (itself) {
        instance->root_location = location;
        instance->root_call = (uint32_t)where->count - 1;
    }
}
