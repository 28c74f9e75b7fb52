/* SPDX-License-Identifier: BSD-3-Clause */
#include "waits/critical_path.h"

#include "core/map.h"
#include "core/memory.h"

struct walk {
    const struct graph *graph;
    struct critical_path path;
    uint32_t location;
    size_t calls;   /* calls of the location before here */
    int64_t now_ns; /* everything later is finished */
    size_t most_jumps;
    struct map parts; /* (location, activity) -> index of the part */
};

/* The path has gone back to from_ns on its location. */
static void go_back(struct walk *walk, int64_t from_ns)
{
    struct critical_path *path = &walk->path;
    struct path_segment *last = path->segment_count ? &path->segments[path->segment_count - 1] : NULL;
    if (from_ns >= walk->now_ns)
        return;
    if (last && last->location == walk->location && last->from_ns == walk->now_ns)
        last->from_ns = from_ns;
    else
        ARRAY_PUSH(path->segments, path->segment_count, path->segment_capacity,
                   (struct path_segment){from_ns, walk->now_ns, walk->location});
    walk->now_ns = from_ns;
}

static void book_activity(struct walk *walk, size_t activity, int64_t ns)
{
    struct critical_path *path = &walk->path;
    if (ns <= 0)
        return;
    uint64_t *part = map_put(&walk->parts, map_pair(walk->location, (uint32_t)activity), path->part_count);
    if (*part == path->part_count)
        ARRAY_PUSH(path->parts, path->part_count, path->part_capacity,
                   (struct path_part){walk->location, (uint32_t)activity, 0});
    path->parts[*part].ns += ns;
    path->activities_ns[activity] += ns;
}

/* Computing before the next call of the location, the one visited last. */
static void book_compute(struct walk *walk, int64_t from_ns)
{
    const struct graph *graph = walk->graph;
    int64_t ns = time_since(from_ns, walk->now_ns);
    struct call next = {0};
    bool at_end = walk->calls >= graph->locations[walk->location].count;
    if (!at_end)
        next = graph_call(graph, walk->location, (uint32_t)walk->calls);
    book_activity(walk, at_end ? activity_at_end(graph) : activity_before(graph, &next), ns);
    walk->path.locations[walk->location].compute_ns += ns;
    walk->path.length_ns += ns;
    go_back(walk, from_ns);
}

static void book_call(struct walk *walk, const struct call *call, int64_t from_ns)
{
    int64_t ns = time_since(from_ns, walk->now_ns);
    book_activity(walk, activity_in(walk->graph, call), ns);
    walk->path.locations[walk->location].mpi_ns += ns;
    walk->path.states_ns[call->state] += ns;
    walk->path.length_ns += ns;
    go_back(walk, from_ns);
}

/* The process that the call waited for. The root of a reduction needs the data of the last member, and others may stay
   until it arrives, though only the time until the first arrival counts as a wait. */
static struct wait handed_over_to(const struct graph *graph, uint32_t location, uint32_t index, const struct call *call)
{
    const struct instance *instance = graph_instance(graph, call);
    if (instance && graph_collective(graph, call).stage == STAGE_BLOCKING &&
        graph_stays_for_last(graph, instance, call))
        return wait_until(call, instance->latest_enter_ns, (enum wait_kind)graph_collective(graph, call).wait,
                          instance->latest_location, instance->latest_call);
    return wait_of(graph, location, index);
}

/* One call back. From a call that waited, the path continues on the process that it waited for. */
static void step_back(struct walk *walk)
{
    uint32_t index = (uint32_t)walk->calls - 1;
    struct call call = graph_call(walk->graph, walk->location, index);
    book_compute(walk, call.leave_ns);
    struct wait wait = handed_over_to(walk->graph, walk->location, index, &call);
    int64_t cause_ns = INT64_MAX;
    if (wait.kind != WAIT_NONE) {
        struct call cause = graph_call(walk->graph, wait.cause_location, wait.cause_call);
        cause_ns = wait.after ? cause.leave_ns : cause.enter_ns;
    }
    /* With wrong clocks the path could go forward in time, and in circles. */
    if (cause_ns > walk->now_ns || walk->path.jumps >= walk->most_jumps) {
        book_call(walk, &call, call.enter_ns);
        walk->calls--;
        return;
    }
    book_call(walk, &call, cause_ns);
    walk->location = wait.cause_location;
    walk->calls = wait.cause_call + (size_t)wait.after;
    walk->path.jumps++;
}

static uint32_t last_location(const struct graph *graph)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < graph->location_count; i++)
        if (graph->locations[i].end_ns > graph->locations[last].end_ns)
            last = i;
    return last;
}

struct critical_path critical_path_of(const struct graph *graph)
{
    struct walk walk = {.graph = graph};
    walk.path.locations = memory_new(graph->location_count * sizeof *walk.path.locations);
    walk.path.states_ns = memory_new(graph->defs->state_count * sizeof *walk.path.states_ns);
    walk.path.activities_ns = memory_new(activity_count(graph) * sizeof *walk.path.activities_ns);
    if (graph->location_count == 0)
        return walk.path;
    for (size_t i = 0; i < graph->location_count; i++)
        walk.most_jumps += graph->locations[i].count;
    walk.location = last_location(graph);
    walk.calls = graph->locations[walk.location].count;
    walk.now_ns = graph->locations[walk.location].end_ns;
    while (walk.calls > 0)
        step_back(&walk);
    book_compute(&walk, graph->locations[walk.location].begin_ns);
    map_clear(&walk.parts);
    return walk.path;
}

void critical_path_clear(struct critical_path *path)
{
    free(path->locations);
    free(path->states_ns);
    free(path->activities_ns);
    free(path->parts);
    free(path->segments);
    *path = (struct critical_path){0};
}
