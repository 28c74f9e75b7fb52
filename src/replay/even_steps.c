/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/even_steps.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "replay/balance.h"
#include "replay/replay.h"

#include <math.h>

/* If the longest computing of all steps together exceeds the mean by less than this share of the run, evening out saves
   nothing. */
static const double EVEN = 0.002;

struct steps {
    const struct graph *graph;
    size_t count;     /* steps */
    size_t each;      /* synchronisations in a step */
    uint32_t *firsts; /* [location * count + step]: the first call of the step, if it has any */
    double *cells;    /* computing, the same */
    double *means;    /* by step */
    bool *idle;       /* by location: it has no work */
    size_t *at;       /* by location: the step at hand of the replay */
};

/* Calls that no location leaves before all have arrived: only between these is evening out a matter of one step. */
static bool is_for_all(const struct graph *graph, const struct call *call)
{
    const struct instance *instance = graph_instance(graph, call);
    return instance && instance->complete && instance->count == graph->location_count &&
           !graph->streams[instance->stream].two_groups && graph_collective(graph, call).stage == STAGE_BLOCKING &&
           graph_collective(graph, call).shape == SHAPE_ALL_TO_ALL;
}

static size_t count_of(const struct graph *graph, uint32_t location)
{
    size_t count = 0;
    for (uint32_t i = 0; i < graph->locations[location].count; i++) {
        struct call call = graph_call(graph, location, i);
        count += is_for_all(graph, &call);
    }
    return count;
}

static void fill_location(struct steps *steps, uint32_t location)
{
    const struct graph *graph = steps->graph;
    int64_t before_ns = graph->locations[location].begin_ns;
    uint32_t *firsts = steps->firsts + location * steps->count;
    double *cells = steps->cells + location * steps->count;
    size_t met = 0;
    for (uint32_t i = 0; i < graph->locations[location].count; i++) {
        struct call call = graph_call(graph, location, i);
        cells[met / steps->each] += (double)time_since(before_ns, call.enter_ns);
        before_ns = call.leave_ns;
        if (is_for_all(graph, &call) && ++met % steps->each == 0)
            firsts[met / steps->each] = i + 1;
    }
    cells[met / steps->each] += (double)time_since(before_ns, graph->locations[location].end_ns);
}

/* Locations without work do not count for the mean. */
static void find_means(struct steps *steps)
{
    uint32_t locations = (uint32_t)steps->graph->location_count, working = 0;
    for (uint32_t location = 0; location < locations; location++)
        working += !steps->idle[location];
    for (uint32_t location = 0; location < locations; location++)
        for (size_t k = 0; k < steps->count && !steps->idle[location]; k++)
            steps->means[k] += steps->cells[location * steps->count + k] / working;
}

/* The excess of the longest computing over the mean, for all steps. */
static double find_loss(const struct steps *steps, double *alone_ns)
{
    uint32_t locations = (uint32_t)steps->graph->location_count;
    double loss = 0;
    for (size_t k = 0; k < steps->count; k++) {
        double most = 0, all = 0;
        uint32_t longest = 0;
        for (uint32_t location = 0; location < locations; location++) {
            double ns = steps->cells[location * steps->count + k];
            all += ns;
            if (ns > most) {
                longest = location;
                most = ns;
            }
        }
        loss += most - steps->means[k];
        /* One location computes while all others have next to nothing to do. */
        if (locations > 1 && all - most < BALANCE_IDLE * most * (double)(locations - 1))
            alone_ns[longest] += most;
    }
    return loss;
}

/* Computing is between two calls, hence in one step. */
static int64_t pace(const void *context, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    const struct steps *steps = context;
    const uint32_t *firsts = steps->firsts + location * steps->count;
    /* A replay walks through each location's calls in order: the step is the one before, or mostly the next. */
    size_t step = steps->at[location];
    while (step > 0 && firsts[step] > index)
        step--;
    while (step + 1 < steps->count && firsts[step + 1] <= index)
        step++;
    steps->at[location] = step;
    double mine = steps->cells[location * steps->count + step], mean = steps->means[step];
    int64_t ns = time_since(from_ns, to_ns);
    if (steps->idle[location] || mine < BALANCE_IDLE * mean || mine <= 0)
        return ns;
    return nearest_int((double)ns * mean / mine);
}

static void fill(struct steps *steps, const int64_t *compute_ns)
{
    uint32_t locations = (uint32_t)steps->graph->location_count;
    double *compute = memory_new(locations * sizeof *compute);
    for (uint32_t location = 0; location < locations; location++) {
        compute[location] = (double)compute_ns[location];
        fill_location(steps, location);
    }
    double limit_ns = balance_limit(compute, locations);
    for (uint32_t location = 0; location < locations; location++)
        steps->idle[location] = compute[location] < limit_ns;
    free(compute);
    find_means(steps);
}

static struct even_steps find_alone(const struct graph *graph, const double *alone_ns)
{
    struct even_steps even = {0};
    for (uint32_t location = 0; location < graph->location_count; location++)
        if (alone_ns[location] > (double)even.alone_ns) {
            even.alone_ns = llround(alone_ns[location]);
            even.alone_location = location;
        }
    return even;
}

/* How many synchronisations all locations have; 0 also if they do not agree: then the k-th step of one is not the k-th
   of another. */
static size_t synchronisations_of(const struct graph *graph)
{
    size_t count = 0;
    if (graph->location_count > 1)
        count = count_of(graph, 0);
    for (uint32_t location = 1; count > 0 && location < graph->location_count; location++)
        if (count_of(graph, location) != count)
            return 0;
    return count;
}

struct steps *even_steps_new(const struct graph *graph, const int64_t *compute_ns, struct even_steps *even,
                             struct replay_options *options)
{
    size_t locations = graph->location_count, synchronisations = synchronisations_of(graph);
    *even = (struct even_steps){0};
    if (synchronisations == 0)
        return NULL;
    /* Tables of bounded size: several synchronisations make one step in long runs of many processes. */
    size_t most = EVEN_STEPS_CELLS / locations + 1, each = (synchronisations + most) / most;
    struct steps *steps = memory_new(sizeof *steps);
    *steps = (struct steps){.graph = graph, .each = each, .count = synchronisations / each + 1};
    steps->firsts = memory_new(locations * steps->count * sizeof *steps->firsts);
    steps->cells = memory_new(locations * steps->count * sizeof *steps->cells);
    steps->means = memory_new(steps->count * sizeof *steps->means);
    steps->idle = memory_new(locations * sizeof *steps->idle);
    steps->at = memory_new(locations * sizeof *steps->at);
    fill(steps, compute_ns);
    double *alone_ns = memory_new(locations * sizeof *alone_ns);
    bool uneven = find_loss(steps, alone_ns) > EVEN * (double)graph_duration_ns(graph);
    *even = find_alone(graph, alone_ns);
    free(alone_ns);
    options->pace = pace;
    options->pace_context = steps;
    if (uneven)
        return steps;
    even_steps_free(steps);
    return NULL;
}

void even_steps_free(struct steps *steps)
{
    if (!steps)
        return;
    free(steps->firsts);
    free(steps->cells);
    free(steps->means);
    free(steps->idle);
    free(steps->at);
    free(steps);
}
