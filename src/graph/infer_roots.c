/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/infer_roots.h"

#include "core/memory.h"

#include <string.h>

/* If others wait this often for the same process that arrives last, it is not by chance. */
enum { WAITED_LEAST = 3 };

/* What the calls show about the root of a function on a communicator. */
struct candidates {
    uint32_t instances; /* without a root */
    uint64_t waited;    /* how often another process could have finished before the last arrived, but did not */
    uint32_t excluded;  /* number of locations that are not the root */
    uint32_t last;      /* the location that always arrives last; GRAPH_NONE: it changes, or another finished earlier */
    uint32_t root;      /* GRAPH_NONE: not known */
};

struct inference {
    struct graph *graph;
    struct candidates *streams;
    struct map excluded; /* (stream, location) */
};

static bool lacks_root(const struct graph *graph, const struct instance *instance)
{
    enum collective_shape shape = (enum collective_shape)graph_collective_of(graph, instance).shape;
    return instance->root_location == GRAPH_NONE && (shape == SHAPE_ONE_TO_ALL || shape == SHAPE_ALL_TO_ONE) &&
           instance->complete && instance->latest_location != GRAPH_NONE && !graph->streams[instance->stream].sided &&
           graph_collective_of(graph, instance).stage == STAGE_BLOCKING;
}

/* By more than the clock error. */
static bool is_before(const struct graph *graph, int64_t left_ns, int64_t right_ns)
{
    return time_since(left_ns, right_ns) > graph->clock_error_ns;
}

static bool contradicts(const struct graph *graph, const struct instance *instance, const struct call *call)
{
    if (graph_collective_of(graph, instance).shape == SHAPE_ONE_TO_ALL)
        return is_before(graph, instance->earliest_leave_ns, call->enter_ns);
    return is_before(graph, call->leave_ns, instance->latest_enter_ns);
}

/* Calls `visit` for each call in a collective whose root is not known. */
static void each_member(struct inference *inference,
                        void (*visit)(struct inference *, uint32_t location, uint32_t index, const struct call *call))
{
    const struct graph *graph = inference->graph;
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            const struct packed_call *packed = location_packed(&graph->locations[location], i);
            if (!(packed->word & CALL_IN_INSTANCE) || !lacks_root(graph, &graph->instances[packed->link - 1]))
                continue;
            struct call call = graph_call(graph, location, i);
            visit(inference, location, i, &call);
        }
}

static void exclude(struct inference *inference, uint32_t location, uint32_t index, const struct call *call)
{
    const struct instance *instance = graph_instance(inference->graph, call);
    size_t before = inference->excluded.count;
    (void)index;
    /* Each location is counted once, however often it contradicts. */
    if (!contradicts(inference->graph, instance, call))
        return;
    map_put(&inference->excluded, map_pair(instance->stream, location), 1);
    inference->streams[instance->stream].excluded += inference->excluded.count > before;
}

/* Records that the location is not the root; the only one left is. */
static void choose(struct inference *inference, uint32_t location, uint32_t index, const struct call *call)
{
    const struct instance *instance = graph_instance(inference->graph, call);
    struct candidates *stream = &inference->streams[instance->stream];
    (void)index;
    /* Only if one is left: two that never contradict can both be the root. */
    if (stream->excluded + 1 == instance->count &&
        !map_find(&inference->excluded, map_pair(instance->stream, location)))
        stream->root = location;
}

static void note_others(struct inference *inference, uint32_t location, uint32_t index, const struct call *call)
{
    struct instance *instance = &inference->graph->instances[call->instance - 1];
    (void)index;
    /* The root was unknown when members were noted: its own enter was counted among the others'. */
    if (inference->streams[instance->stream].root != location && !call->gives_nothing &&
        call->enter_ns < instance->earliest_other_ns)
        instance->earliest_other_ns = call->enter_ns;
}

/* Collects the evidence of all instances of each stream; false: no root is missing. */
static bool look_at_instances(struct inference *inference)
{
    const struct graph *graph = inference->graph;
    bool missing = false;
    for (size_t i = 0; i < graph->instance_count; i++) {
        const struct instance *instance = &graph->instances[i];
        struct candidates *stream = &inference->streams[instance->stream];
        if (!lacks_root(graph, instance))
            continue;
        bool alone = graph_collective_of(graph, instance).shape == SHAPE_ONE_TO_ALL &&
                     !is_before(graph, instance->earliest_leave_ns, instance->latest_enter_ns);
        bool same = stream->instances == 0 || stream->last == instance->latest_location;
        stream->last = GRAPH_NONE;
        if (alone && same)
            stream->last = instance->latest_location;
        stream->instances++;
        stream->waited += instance->count - 1;
        missing = true;
    }
    return missing;
}

/* Sets the root of the stream's instances, if known, and everything derived from it. */
static void set_roots(struct inference *inference)
{
    struct graph *graph = inference->graph;
    for (size_t i = 0; i < graph->instance_count; i++)
        if (lacks_root(graph, &graph->instances[i]) &&
            inference->streams[graph->instances[i].stream].root != GRAPH_NONE)
            graph->instances[i].earliest_other_ns = INT64_MAX;
    each_member(inference, note_others);
    /* Roots are set last: lacks_root() is false from then on, for every later member of the instance. */
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            const struct packed_call *packed = location_packed(&graph->locations[location], i);
            if (!(packed->word & CALL_IN_INSTANCE))
                continue;
            struct instance *instance = &graph->instances[packed->link - 1];
            if (inference->streams[instance->stream].root != location || !lacks_root(graph, instance))
                continue;
            instance->root_location = location;
            instance->root_call = i;
        }
}

bool infer_ranks_of_world(const struct defs *defs)
{
    static const char *const makers[] = {"MPI_Comm_split",   "MPI_Comm_create", "MPI_Cart_",      "MPI_Graph_",
                                         "MPI_Dist_graph_",  "MPI_Intercomm_",  "MPI_Comm_spawn", "MPI_Comm_accept",
                                         "MPI_Comm_connect", "MPI_Comm_join"};
    if (defs->comm_count > 0)
        return false;
    for (size_t i = 0; i < defs->state_count; i++)
        for (size_t m = 0; m < sizeof makers / sizeof *makers; m++)
            if (strstr(defs->states[i].name, makers[m]))
                return false;
    return true;
}

/* A process was done before the root of a broadcast came, or the root of a reduction before another did. */
static bool root_is_wrong(const struct graph *graph, const struct instance *instance)
{
    enum collective_shape shape = (enum collective_shape)graph_collective_of(graph, instance).shape;
    if (instance->root_location == GRAPH_NONE || !instance->complete ||
        graph_collective_of(graph, instance).stage != STAGE_BLOCKING ||
        (shape != SHAPE_ONE_TO_ALL && shape != SHAPE_ALL_TO_ONE))
        return false;
    struct call root = graph_call(graph, instance->root_location, instance->root_call);
    return contradicts(graph, instance, &root);
}

/* Only roots of collectives without a communicator: the others are known. */
static void forget_wrong_roots(struct graph *graph)
{
    bool wrong = false;
    for (size_t i = 0; i < graph->instance_count && !wrong; i++)
        wrong = root_is_wrong(graph, &graph->instances[i]);
    for (size_t i = 0; wrong && i < graph->instance_count; i++) {
        graph->instances[i].root_location = GRAPH_NONE;
        graph->instances[i].root_named = false;
    }
}

void infer_roots(struct graph *graph)
{
    if (infer_ranks_of_world(graph->defs))
        forget_wrong_roots(graph);
    struct inference inference = {.graph = graph};
    inference.streams = memory_new(graph->stream_count * sizeof *inference.streams);
    for (size_t i = 0; i < graph->stream_count; i++)
        inference.streams[i] = (struct candidates){.last = GRAPH_NONE, .root = GRAPH_NONE};
    if (look_at_instances(&inference)) {
        /* Two passes: which location is left is known only after all contradictions. */
        each_member(&inference, exclude);
        each_member(&inference, choose);
        for (size_t i = 0; i < graph->stream_count; i++)
            if (inference.streams[i].root == GRAPH_NONE && inference.streams[i].waited >= WAITED_LEAST)
                inference.streams[i].root = inference.streams[i].last;
        set_roots(&inference);
    }
    free(inference.streams);
    map_clear(&inference.excluded);
}
