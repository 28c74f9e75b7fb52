/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/even_steps.h"

#include "core/memory.h"
#include "replay/balance.h"
#include "replay/replay.h"

#include <math.h>

/* Where no step's longest computing is beyond the mean by more than this share of the run, all together, evening them
   out saves nothing. */
static const double EVEN = 0.002;

struct steps {
    const struct graph *graph;
    size_t count;    /* steps */
    size_t each;     /* synchronisations in a step */
    int64_t *begins; /* [lane * count + step] */
    double *cells;   /* computing, the same */
    double *means;   /* by step */
    bool *idle;      /* by lane: it has no work */
};

static bool is_for_all(const struct graph *graph, const struct call *call)
{
    const struct group *group = graph_group(graph, call);
    return group && group->complete && group->count == graph->lane_count && !graph->streams[group->stream].two_groups &&
           graph_collective(graph, call).stage == STAGE_BLOCKING &&
           graph_collective(graph, call).shape == SHAPE_ALL_TO_ALL;
}

static size_t count_of(const struct graph *graph, uint32_t lane)
{
    size_t count = 0;
    for (uint32_t i = 0; i < graph->lanes[lane].count; i++) {
        struct call call = graph_call(graph, lane, i);
        count += is_for_all(graph, &call);
    }
    return count;
}

static void fill_lane(struct steps *steps, uint32_t lane)
{
    const struct graph *graph = steps->graph;
    int64_t before_ns = graph->lanes[lane].begin_ns, *begins = steps->begins + lane * steps->count;
    double *cells = steps->cells + lane * steps->count;
    size_t met = 0;
    begins[0] = before_ns;
    for (uint32_t i = 0; i < graph->lanes[lane].count; i++) {
        struct call call = graph_call(graph, lane, i);
        cells[met / steps->each] += (double)time_since(before_ns, call.enter_ns);
        before_ns = call.leave_ns;
        if (is_for_all(graph, &call) && ++met % steps->each == 0)
            begins[met / steps->each] = before_ns;
    }
    cells[met / steps->each] += (double)time_since(before_ns, graph->lanes[lane].end_ns);
}

/* Lanes without work do not count for the mean. */
static void find_means(struct steps *steps)
{
    uint32_t lanes = (uint32_t)steps->graph->lane_count, working = 0;
    for (uint32_t lane = 0; lane < lanes; lane++)
        working += !steps->idle[lane];
    for (uint32_t lane = 0; lane < lanes; lane++)
        for (size_t k = 0; k < steps->count && !steps->idle[lane]; k++)
            steps->means[k] += steps->cells[lane * steps->count + k] / working;
}

/* What the longest computing of all steps is beyond the mean. */
static double find_loss(const struct steps *steps, double *alone_ns)
{
    uint32_t lanes = (uint32_t)steps->graph->lane_count;
    double loss = 0;
    for (size_t k = 0; k < steps->count; k++) {
        double most = 0, all = 0;
        uint32_t longest = 0;
        for (uint32_t lane = 0; lane < lanes; lane++) {
            double ns = steps->cells[lane * steps->count + k];
            all += ns;
            longest = ns > most ? lane : longest;
            most = ns > most ? ns : most;
        }
        loss += most - steps->means[k];
        if (lanes > 1 && all - most < BALANCE_IDLE * most * (double)(lanes - 1))
            alone_ns[longest] += most;
    }
    return loss;
}

/* Computing lies between two calls, hence in one step. */
static int64_t pace(const void *context, uint32_t lane, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    (void)index;
    const struct steps *steps = context;
    const int64_t *begins = steps->begins + lane * steps->count;
    size_t low = 0, high = steps->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (begins[middle] <= from_ns)
            low = middle;
        else
            high = middle;
    }
    double mine = steps->cells[lane * steps->count + low], mean = steps->means[low];
    bool stays = steps->idle[lane] || mine < BALANCE_IDLE * mean || mine <= 0;
    return stays ? time_since(from_ns, to_ns) : llround((double)time_since(from_ns, to_ns) * mean / mine);
}

static void fill(struct steps *steps, const int64_t *compute_ns)
{
    uint32_t lanes = (uint32_t)steps->graph->lane_count;
    double *compute = memory_new(lanes * sizeof *compute);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        compute[lane] = (double)compute_ns[lane];
        fill_lane(steps, lane);
    }
    double limit_ns = balance_limit(compute, lanes);
    for (uint32_t lane = 0; lane < lanes; lane++)
        steps->idle[lane] = compute[lane] < limit_ns;
    free(compute);
    find_means(steps);
}

static struct even_steps judge(const struct steps *steps)
{
    const struct graph *graph = steps->graph;
    struct even_steps even = {0};
    double *alone_ns = memory_new(graph->lane_count * sizeof *alone_ns);
    if (find_loss(steps, alone_ns) > EVEN * (double)replay_duration_ns(graph))
        even.saving_ns = replay_saving(graph, (struct replay_options){.pace = pace, .pace_context = steps});
    for (uint32_t lane = 0; lane < graph->lane_count; lane++)
        if (alone_ns[lane] > (double)even.alone_ns) {
            even.alone_ns = llround(alone_ns[lane]);
            even.alone_lane = lane;
        }
    free(alone_ns);
    return even;
}

struct even_steps even_steps_of(const struct graph *graph, const int64_t *compute_ns)
{
    uint32_t lanes = (uint32_t)graph->lane_count;
    size_t synchronisations = lanes > 1 ? count_of(graph, 0) : 0;
    for (uint32_t lane = 1; lane < lanes; lane++)
        if (count_of(graph, lane) != synchronisations)
            return (struct even_steps){0};
    if (synchronisations == 0)
        return (struct even_steps){0};
    size_t most = EVEN_STEPS_CELLS / lanes + 1, each = (synchronisations + most) / most;
    struct steps steps = {.graph = graph, .each = each, .count = synchronisations / each + 1};
    steps.begins = memory_new(lanes * steps.count * sizeof *steps.begins);
    steps.cells = memory_new(lanes * steps.count * sizeof *steps.cells);
    steps.means = memory_new(steps.count * sizeof *steps.means);
    steps.idle = memory_new(lanes * sizeof *steps.idle);
    fill(&steps, compute_ns);
    struct even_steps even = judge(&steps);
    free(steps.begins);
    free(steps.cells);
    free(steps.means);
    free(steps.idle);
    return even;
}
