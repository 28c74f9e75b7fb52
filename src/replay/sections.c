/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/sections.h"

#include "core/memory.h"
#include "core/numbers.h"

uint64_t section_label(const struct graph *graph, uint32_t location, uint32_t index)
{
    struct call call = graph_call(graph, location, index);
    return map_pair((uint32_t)graph_state(graph, &call)->first_of_name, call.site);
}

size_t section_of(const struct sections *sections, uint32_t location, uint32_t index)
{
    const struct graph *graph = sections->graph;
    if (index >= graph->locations[location].count)
        return sections->count - 1;
    return sections->of_kind[packed_kind(location_packed(&graph->locations[location], index))] - 1;
}

static void find_labels(struct sections *sections)
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
}

void sections_walk(const struct sections *sections, uint32_t location, section_visit *visit, void *context)
{
    const struct location *where = &sections->graph->locations[location];
    int64_t before_ns = where->begin_ns;
    for (uint32_t i = 0; i <= where->count; i++) {
        struct call call = {.enter_ns = where->end_ns, .leave_ns = where->end_ns};
        if (i < where->count)
            call = graph_call(sections->graph, location, i);
        visit(context, section_of(sections, location, i), time_since(before_ns, call.enter_ns));
        before_ns = call.leave_ns;
    }
}

struct sums {
    double *own_ns; /* of a location, by section */
    uint32_t *gaps;
};

static void add_piece(void *context, size_t section, int64_t ns)
{
    const struct sums *sums = context;
    sums->own_ns[section] += (double)ns;
    sums->gaps[section]++;
}

bool sections_find(struct sections *sections, const struct graph *graph)
{
    *sections = (struct sections){.graph = graph};
    find_labels(sections);
    if (sections->count > SECTIONS_CELLS / (graph->location_count + 1))
        return false;
    size_t cells = graph->location_count * sections->count;
    sections->own_ns = memory_new(cells * sizeof *sections->own_ns);
    sections->gaps = memory_new(cells * sizeof *sections->gaps);
    for (uint32_t location = 0; location < graph->location_count; location++) {
        struct sums sums = {&sections->own_ns[location * sections->count], &sections->gaps[location * sections->count]};
        sections_walk(sections, location, add_piece, &sums);
    }
    return true;
}

void sections_clear(struct sections *sections)
{
    free(sections->own_ns);
    free(sections->gaps);
    free(sections->of_kind);
    map_clear(&sections->labels);
    *sections = (struct sections){0};
}
