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

int64_t section_piece_ns(const struct graph *graph, uint32_t location, uint32_t index)
{
    const struct location *where = &graph->locations[location];
    int64_t to_ns = index < where->count ? graph_call(graph, location, index).enter_ns : where->end_ns;
    return time_since(graph_left_before_ns(graph, location, index), to_ns);
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

static void sum_location(struct sections *sections, uint32_t location)
{
    const struct location *where = &sections->graph->locations[location];
    int64_t before_ns = where->begin_ns;
    for (uint32_t i = 0; i <= where->count; i++) {
        struct call call = {.enter_ns = where->end_ns, .leave_ns = where->end_ns};
        if (i < where->count)
            call = graph_call(sections->graph, location, i);
        size_t cell = location * sections->count + section_of(sections, location, i);
        sections->own_ns[cell] += (double)time_since(before_ns, call.enter_ns);
        sections->gaps[cell]++;
        before_ns = call.leave_ns;
    }
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
    for (uint32_t location = 0; location < graph->location_count; location++)
        sum_location(sections, location);
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
