/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/even_sections.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "replay/balance.h"
#include "replay/replay.h"

struct even_sections {
    const struct graph *graph;
    struct map labels; /* (state, site) of the next call -> section; the last section is after the last call */
    uint32_t *of_kind; /* 1 + section, by kind of the next call; 0: not known yet */
    size_t count;
    double *own_ns;   /* [location * count + section] */
    uint32_t *gaps;   /* the same: number of pieces */
    double *means_ns; /* by section: of the locations that have it */
    bool *works;      /* by location: it has work */
};

uint64_t section_label(const struct graph *graph, uint32_t location, uint32_t index)
{
    struct call call = graph_call(graph, location, index);
    return map_pair((uint32_t)graph_state(graph, &call)->first_of_name, call.site);
}

/* False: there are too many. */
static bool find_sections(struct even_sections *sections)
{
    const struct graph *graph = sections->graph;
    sections->of_kind = memory_new(graph->kind_count * sizeof *sections->of_kind);
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            uint32_t *section = &sections->of_kind[packed_kind(location_packed(&graph->locations[location], i))];
            if (*section == 0)
                *section = 1 + (uint32_t)*map_put(&sections->labels, section_label(graph, location, i),
                                                  sections->labels.count);
        }
    sections->count = sections->labels.count + 1;
    return sections->count <= EVEN_SECTIONS_CELLS / (graph->location_count + 1);
}

/* The cell of the computing before the location's call; for index `count`, of that after its last. */
static size_t cell_of(const struct even_sections *sections, uint32_t location, uint32_t index)
{
    const struct graph *graph = sections->graph;
    size_t section = sections->count - 1;
    if (index < graph->locations[location].count)
        section = sections->of_kind[packed_kind(location_packed(&graph->locations[location], index))] - 1;
    return location * sections->count + section;
}

static void sum_location(struct even_sections *sections, uint32_t location)
{
    const struct location *where = &sections->graph->locations[location];
    int64_t before_ns = where->begin_ns;
    for (uint32_t i = 0; i <= where->count; i++) {
        struct call call = {.enter_ns = where->end_ns, .leave_ns = where->end_ns};
        if (i < where->count)
            call = graph_call(sections->graph, location, i);
        size_t cell = cell_of(sections, location, i);
        sections->own_ns[cell] += (double)time_since(before_ns, call.enter_ns);
        sections->gaps[cell]++;
        before_ns = call.leave_ns;
    }
}

static void find_means(struct even_sections *sections)
{
    for (size_t s = 0; s < sections->count; s++) {
        double all_ns = 0, locations = 0;
        for (size_t location = 0; location < sections->graph->location_count; location++) {
            size_t cell = location * sections->count + s;
            /* A location that never makes the call has no part in it: counting it as 0 would give its work to the
               others. */
            if (!sections->works[location] || sections->gaps[cell] == 0)
                continue;
            all_ns += sections->own_ns[cell];
            locations++;
        }
        sections->means_ns[s] = ratio_of(all_ns, locations);
    }
}

/* Stretches each piece by the factor; if there is hardly anything to stretch, all pieces become equal. */
static int64_t pace(const void *context, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    const struct even_sections *sections = context;
    int64_t ns = time_since(from_ns, to_ns);
    if (!sections->works[location])
        return ns;
    size_t cell = cell_of(sections, location, index);
    double mean_ns = sections->means_ns[cell % sections->count], own_ns = sections->own_ns[cell];
    if (own_ns < BALANCE_IDLE * mean_ns)
        return nearest_int(mean_ns / sections->gaps[cell]);
    if (own_ns <= 0)
        return ns;
    return nearest_int((double)ns * mean_ns / own_ns);
}

static void fill(struct even_sections *sections, const double *compute)
{
    size_t locations = sections->graph->location_count, cells = locations * sections->count;
    double limit_ns = balance_limit(compute, locations);
    sections->own_ns = memory_new(cells * sizeof *sections->own_ns);
    sections->gaps = memory_new(cells * sizeof *sections->gaps);
    sections->means_ns = memory_new(sections->count * sizeof *sections->means_ns);
    sections->works = memory_new(locations * sizeof *sections->works);
    for (uint32_t location = 0; location < locations; location++) {
        sections->works[location] = compute[location] >= limit_ns;
        sum_location(sections, location);
    }
    find_means(sections);
}

struct even_sections *even_sections_new(const struct graph *graph, const double *compute,
                                        struct replay_options *options)
{
    struct even_sections *sections = memory_new(sizeof *sections);
    sections->graph = graph;
    if (!find_sections(sections)) {
        even_sections_free(sections);
        return NULL;
    }
    fill(sections, compute);
    options->pace = pace;
    options->pace_context = sections;
    return sections;
}

void even_sections_free(struct even_sections *sections)
{
    if (!sections)
        return;
    free(sections->own_ns);
    free(sections->gaps);
    free(sections->means_ns);
    free(sections->works);
    free(sections->of_kind);
    map_clear(&sections->labels);
    free(sections);
}

int64_t even_sections_saving(const struct graph *graph, const double *compute, struct replay_options without)
{
    struct even_sections *sections = even_sections_new(graph, compute, &without);
    int64_t saving_ns = sections ? replay_saving(graph, without) : 0;
    even_sections_free(sections);
    return saving_ns;
}
