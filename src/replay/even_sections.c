/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/even_sections.h"

#include "core/map.h"
#include "core/memory.h"
#include "replay/balance.h"
#include "replay/replay.h"

#include <math.h>

struct sections {
    const struct graph *graph;
    struct map labels; /* (state, site) of the call that follows -> section; the last section is what follows no call */
    size_t count;
    double *own_ns;   /* [lane * count + section] */
    uint32_t *gaps;   /* the same: of how many pieces that is */
    double *means_ns; /* by section: of the lanes that have it */
    bool *works;      /* by lane: it has work */
};

static uint64_t label_of(const struct graph *graph, uint32_t lane, uint32_t index)
{
    struct call call = graph_call(graph, lane, index);
    return map_pair((uint32_t)graph_state(graph, &call)->first_of_name, call.site);
}

/* False: there are too many. */
static bool find_sections(struct sections *sections)
{
    const struct graph *graph = sections->graph;
    for (uint32_t lane = 0; lane < graph->lane_count; lane++)
        for (uint32_t i = 0; i < graph->lanes[lane].count; i++)
            map_put(&sections->labels, label_of(graph, lane, i), sections->labels.count);
    sections->count = sections->labels.count + 1;
    return sections->count <= EVEN_SECTIONS_CELLS / (graph->lane_count + 1);
}

/* The cell of the computing before the lane's call; at its count, of that after its last. */
static size_t cell_of(const struct sections *sections, uint32_t lane, uint32_t index)
{
    const struct graph *graph = sections->graph;
    size_t section = index < graph->lanes[lane].count
                         ? (size_t)*map_find(&sections->labels, label_of(graph, lane, index))
                         : sections->count - 1;
    return lane * sections->count + section;
}

static void sum_lane(struct sections *sections, uint32_t lane)
{
    const struct lane *where = &sections->graph->lanes[lane];
    int64_t before_ns = where->begin_ns;
    for (uint32_t i = 0; i <= where->count; i++) {
        struct call call = {.enter_ns = where->end_ns, .leave_ns = where->end_ns};
        if (i < where->count)
            call = graph_call(sections->graph, lane, i);
        size_t cell = cell_of(sections, lane, i);
        sections->own_ns[cell] += (double)time_since(before_ns, call.enter_ns);
        sections->gaps[cell]++;
        before_ns = call.leave_ns;
    }
}

static void find_means(struct sections *sections)
{
    for (size_t s = 0; s < sections->count; s++) {
        double all_ns = 0, lanes = 0;
        for (size_t lane = 0; lane < sections->graph->lane_count; lane++) {
            size_t cell = lane * sections->count + s;
            if (!sections->works[lane] || sections->gaps[cell] == 0)
                continue;
            all_ns += sections->own_ns[cell];
            lanes++;
        }
        sections->means_ns[s] = lanes > 0 ? all_ns / lanes : 0;
    }
}

/* Each piece is so many times as long; where there is hardly any to stretch, all pieces are alike. */
static int64_t pace(const void *context, uint32_t lane, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    const struct sections *sections = context;
    int64_t ns = time_since(from_ns, to_ns);
    if (!sections->works[lane])
        return ns;
    size_t cell = cell_of(sections, lane, index);
    double mean_ns = sections->means_ns[cell % sections->count], own_ns = sections->own_ns[cell];
    if (own_ns < BALANCE_IDLE * mean_ns)
        return llround(mean_ns / sections->gaps[cell]);
    return own_ns > 0 ? llround((double)ns * mean_ns / own_ns) : ns;
}

int64_t even_sections_saving(const struct graph *graph, const double *compute)
{
    struct sections sections = {.graph = graph};
    int64_t saving_ns = 0;
    if (find_sections(&sections)) {
        size_t cells = graph->lane_count * sections.count;
        double limit_ns = balance_limit(compute, graph->lane_count);
        sections.own_ns = memory_new(cells * sizeof *sections.own_ns);
        sections.gaps = memory_new(cells * sizeof *sections.gaps);
        sections.means_ns = memory_new(sections.count * sizeof *sections.means_ns);
        sections.works = memory_new(graph->lane_count * sizeof *sections.works);
        for (uint32_t lane = 0; lane < graph->lane_count; lane++) {
            sections.works[lane] = compute[lane] >= limit_ns;
            sum_lane(&sections, lane);
        }
        find_means(&sections);
        saving_ns = replay_saving(graph, (struct replay_options){.pace = pace, .pace_context = &sections});
    }
    free(sections.own_ns);
    free(sections.gaps);
    free(sections.means_ns);
    free(sections.works);
    map_clear(&sections.labels);
    return saving_ns;
}
