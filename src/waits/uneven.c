/* SPDX-License-Identifier: BSD-3-Clause */
#include "waits/uneven.h"

#include "core/memory.h"
#include "core/numbers.h"

struct sums {
    int64_t *all_ns, *own_ns; /* by place: of all processes, and of the one in question */
};

static struct sums sums_new(size_t count)
{
    return (struct sums){memory_new(count * sizeof(int64_t)), memory_new(count * sizeof(int64_t))};
}

static void add(struct sums *sums, size_t place, bool own, int64_t ns)
{
    time_add(&sums->all_ns[place], ns);
    if (own)
        time_add(&sums->own_ns[place], ns);
}

/* Replaces the process's time by its excess over the mean, by place. Frees the rest; returns the sum. */
static int64_t take_excess(struct sums *sums, size_t count, size_t processes)
{
    int64_t all_ns = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t ns = sums->own_ns[i] - sums->all_ns[i] / (int64_t)processes;
        sums->own_ns[i] = larger(ns, INT64_C(0));
        time_add(&all_ns, sums->own_ns[i]);
    }
    free(sums->all_ns);
    return all_ns;
}

struct uneven uneven_of(const struct graph *graph, const uint32_t *rows, size_t processes, uint32_t row)
{
    size_t states = graph->defs->state_count, sites = graph->defs->site_count;
    struct sums by_state = sums_new(states + 1), by_site = sums_new(sites + 1); /* state: + the end; site: 0 unknown */
    struct uneven uneven = {0};
    for (uint32_t location = 0; location < graph->location_count; location++) {
        int64_t before_ns = graph->locations[location].begin_ns;
        bool own = rows[location] == row;
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            struct call call = graph_call(graph, location, i);
            int64_t ns = time_since(before_ns, call.enter_ns);
            if (own && ns > uneven.piece_ns) {
                uneven.piece_ns = ns;
                uneven.piece_from_ns = before_ns;
            }
            add(&by_state, graph_state(graph, &call)->first_of_name, own, ns);
            add(&by_site, call.site <= sites ? call.site : 0, own, ns);
            before_ns = call.leave_ns;
        }
        add(&by_state, states, own, time_since(before_ns, graph->locations[location].end_ns));
    }
    uneven.ns = take_excess(&by_state, states + 1, processes);
    uneven.states_ns = by_state.own_ns;
    take_excess(&by_site, sites + 1, processes);
    for (size_t i = 0; i < sites; i++)
        by_site.own_ns[i] = by_site.own_ns[i + 1];
    uneven.sites_ns = by_site.own_ns;
    return uneven;
}

void uneven_clear(struct uneven *uneven)
{
    free(uneven->states_ns);
    free(uneven->sites_ns);
    *uneven = (struct uneven){0};
}
