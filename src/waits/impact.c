/* SPDX-License-Identifier: BSD-3-Clause */
#include "waits/impact.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/wait_table.h"

struct impact impact_begin(const int64_t *path_ns, size_t activities)
{
    struct impact impact = {.activities = activities, .path_ns = path_ns};
    impact.by_activity = memory_new(activities * sizeof *impact.by_activity);
    impact.mean_ns = memory_new(activities * sizeof *impact.mean_ns);
    for (size_t i = 0; i < activities; i++)
        impact.length_ns += path_ns[i];
    return impact;
}

/* A location's time compared with the path. */
struct beside {
    double own_ns;      /* without waits */
    double on_path_ns;  /* of activities on the path, up to their time there */
    double headroom_ns; /* how much longer the path does them */
    double never_ns;    /* of that, for activities that the location never does */
};

static struct beside compare(const struct impact *impact, const int64_t *own_ns)
{
    struct beside beside = {0};
    for (size_t i = 0; i < impact->activities; i++) {
        double own = (double)own_ns[i], path = (double)impact->path_ns[i], both = smaller(own, path);
        beside.own_ns += own;
        beside.on_path_ns += both;
        beside.headroom_ns += path - both;
        beside.never_ns += own_ns[i] > 0 ? 0 : path;
    }
    return beside;
}

void impact_add(struct impact *impact, const int64_t *own_ns)
{
    struct beside beside = compare(impact, own_ns);
    double gap_ns = (double)impact->length_ns - beside.own_ns;
    /* The path's extra time in the activities that the location does at all. */
    double never_gap_ns = gap_ns - (beside.headroom_ns - beside.never_ns);
    impact->locations++;
    impact->activity_ns += beside.on_path_ns;
    impact->other_ns += beside.own_ns - beside.on_path_ns;
    for (size_t i = 0; i < impact->activities; i++)
        impact->mean_ns[i] += (double)own_ns[i];
    if (gap_ns <= 0 || beside.headroom_ns <= 0)
        return;
    impact->imbalance_ns += gap_ns;
    if (never_gap_ns > 0 && beside.never_ns > 0)
        impact->inter_ns += never_gap_ns;
    for (size_t i = 0; i < impact->activities; i++)
        if (impact->path_ns[i] > own_ns[i])
            impact->by_activity[i] += gap_ns / beside.headroom_ns * (double)time_since(own_ns[i], impact->path_ns[i]);
}

void impact_end(struct impact *impact)
{
    for (size_t i = 0; i < impact->activities && impact->locations > 0; i++)
        impact->mean_ns[i] /= (double)impact->locations;
}

void impact_clear(struct impact *impact)
{
    free(impact->by_activity);
    free(impact->mean_ns);
    *impact = (struct impact){0};
}

double impact_excess_ns(const struct impact *impact, size_t activity)
{
    double excess = (double)impact->path_ns[activity] - impact->mean_ns[activity];
    return larger(excess, 0.0);
}

/* A location's time by activity, without waits. */
static void sum_location(const struct graph *graph, uint32_t index, int64_t *own_ns)
{
    const struct location *location = &graph->locations[index];
    int64_t before_ns = location->begin_ns;
    size_t waits = 0;
    for (uint32_t i = 0; i < location->count; i++) {
        struct call call = graph_call(graph, index, i);
        int64_t waited_ns = wait_table_marks(graph, index, i) ? wait_ns(graph, index, waits++) : 0;
        time_add(&own_ns[activity_before(graph, &call)], time_since(before_ns, call.enter_ns));
        time_add(&own_ns[activity_in(graph, &call)], time_since(call.enter_ns, call.leave_ns) - waited_ns);
        before_ns = call.leave_ns;
    }
    time_add(&own_ns[activity_at_end(graph)], time_since(before_ns, location->end_ns));
}

struct impact impact_of(const struct graph *graph, const struct critical_path *path)
{
    size_t activities = activity_count(graph);
    struct impact impact = impact_begin(path->activities_ns, activities);
    int64_t *own_ns = memory_new(activities * sizeof *own_ns);
    for (uint32_t i = 0; i < graph->location_count; i++) {
        /* A thread that never calls MPI does not wait for others in it. */
        if (graph->locations[i].count == 0)
            continue;
        for (size_t k = 0; k < activities; k++)
            own_ns[k] = 0;
        sum_location(graph, i, own_ns);
        impact_add(&impact, own_ns);
    }
    free(own_ns);
    impact_end(&impact);
    return impact;
}
