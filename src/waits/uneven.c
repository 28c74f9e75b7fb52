/* SPDX-License-Identifier: BSD-3-Clause */
#include "waits/uneven.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

/* A piece is the only one of its kind if no other of the process has this part of its excess. */
static const double ALIKE = 0.5;

struct sums {
    int64_t *all_ns, *own_ns; /* by place: of all processes, and of the one in question */
};

/* The process's computing before each of its calls. The place of a piece is the function of the call, and the number
   of calls of it before. */
struct pieces {
    size_t *firsts, *met; /* by state: its first place, and the calls so far */
    size_t count;
    int64_t *own_ns, *from_ns, *all_ns; /* by place */
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

static size_t state_of(const struct graph *graph, const struct call *call)
{
    return graph_state(graph, call)->first_of_name;
}

/* The calls of a process with several threads that call MPI follow each other. */
static struct pieces pieces_new(const struct graph *graph, const uint32_t *rows, uint32_t row)
{
    size_t states = graph->defs->state_count;
    struct pieces pieces = {.firsts = memory_new((states + 1) * sizeof *pieces.firsts),
                            .met = memory_new(states * sizeof *pieces.met)};
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; rows[location] == row && i < graph->locations[location].count; i++) {
            struct call call = graph_call(graph, location, i);
            pieces.firsts[state_of(graph, &call) + 1]++;
        }
    for (size_t i = 0; i < states; i++)
        pieces.firsts[i + 1] += pieces.firsts[i];
    pieces.count = pieces.firsts[states];
    pieces.own_ns = memory_new(pieces.count * sizeof *pieces.own_ns);
    pieces.from_ns = memory_new(pieces.count * sizeof *pieces.from_ns);
    pieces.all_ns = memory_new(pieces.count * sizeof *pieces.all_ns);
    return pieces;
}

static void pieces_free(struct pieces *pieces)
{
    free(pieces->firsts);
    free(pieces->met);
    free(pieces->own_ns);
    free(pieces->from_ns);
    free(pieces->all_ns);
}

static void add_piece(struct pieces *pieces, size_t state, bool own, int64_t from_ns, int64_t ns)
{
    size_t place = pieces->firsts[state] + pieces->met[state]++;
    if (place >= pieces->firsts[state + 1])
        return;
    time_add(&pieces->all_ns[place], ns);
    if (!own)
        return;
    pieces->own_ns[place] = ns;
    pieces->from_ns[place] = from_ns;
}

/* The piece with the largest excess, if it is the only one of its kind. */
static void take_piece(const struct pieces *pieces, size_t processes, struct uneven *uneven)
{
    int64_t next_ns = 0;
    for (size_t i = 0; i < pieces->count; i++) {
        int64_t excess_ns = pieces->own_ns[i] - pieces->all_ns[i] / (int64_t)processes;
        next_ns = larger(smaller(excess_ns, uneven->piece_excess_ns), next_ns);
        if (excess_ns <= uneven->piece_excess_ns)
            continue;
        uneven->piece_excess_ns = excess_ns;
        uneven->piece_ns = pieces->own_ns[i];
        uneven->piece_from_ns = pieces->from_ns[i];
    }
    if ((double)next_ns >= ALIKE * (double)uneven->piece_excess_ns)
        uneven->piece_ns = uneven->piece_from_ns = uneven->piece_excess_ns = 0;
}

struct uneven uneven_of(const struct graph *graph, const uint32_t *rows, size_t processes, uint32_t row)
{
    size_t states = graph->defs->state_count, sites = graph->defs->site_count;
    struct sums by_state = sums_new(states + 1), by_site = sums_new(sites + 1); /* state: + the end; site: 0 unknown */
    struct pieces pieces = pieces_new(graph, rows, row);
    struct uneven uneven = {0};
    for (uint32_t location = 0; location < graph->location_count; location++) {
        int64_t before_ns = graph->locations[location].begin_ns;
        bool own = rows[location] == row;
        if (location == 0 || rows[location] != rows[location - 1])
            memset(pieces.met, 0, states * sizeof *pieces.met);
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            struct call call = graph_call(graph, location, i);
            int64_t ns = time_since(before_ns, call.enter_ns);
            add_piece(&pieces, state_of(graph, &call), own, before_ns, ns);
            add(&by_state, state_of(graph, &call), own, ns);
            add(&by_site, call.site <= sites ? call.site : 0, own, ns);
            before_ns = call.leave_ns;
        }
        add(&by_state, states, own, time_since(before_ns, graph->locations[location].end_ns));
    }
    take_piece(&pieces, processes, &uneven);
    pieces_free(&pieces);
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
