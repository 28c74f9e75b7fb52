/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/naps.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/graph_storage.h"

/* Who computes this part of the pauses at one place of the program works there, and looks now and then. */
static const double COMPUTES = 0.25;

/* This part of the pauses is sleep at least. */
static const double ASLEEP = 0.5;

void naps_asleep(struct naps *naps, const struct event *event)
{
    if (!naps->have_asleep) {
        naps->have_asleep = true;
        naps->first_ns = event->time_ns;
        naps->asleep_first_ns = event->value;
    }
    naps->last_ns = event->time_ns;
    naps->asleep_ns = event->value;
}

void naps_add(struct naps *naps, struct nap_series series)
{
    ARRAY_PUSH(naps->series, naps->count, naps->capacity, series);
}

/* Sums of the pauses of some series. */
struct pauses {
    int64_t gaps_ns, computed_ns;
};

static uint32_t kind_of(const struct location *location, const struct nap_series *series)
{
    return packed_kind(location_packed(location, series->call));
}

static bool computes(const struct pauses *pauses)
{
    return (double)pauses->computed_ns > COMPUTES * (double)pauses->gaps_ns;
}

/* By kind of call: one place of the program may sleep, and another one compute. */
static struct pauses *pauses_by_kind(const struct naps *naps, const struct graph *graph,
                                     const struct location *location)
{
    struct pauses *pauses = memory_new(graph->kind_count * sizeof *pauses);
    for (size_t i = 0; i < naps->count; i++) {
        struct pauses *its = &pauses[kind_of(location, &naps->series[i])];
        time_add(&its->gaps_ns, naps->series[i].gaps_ns);
        time_add(&its->computed_ns, naps->series[i].computed_ns);
    }
    return pauses;
}

/* Whether it sleeps in these pauses, and not only somewhere else: outside them it sleeps for as long as it neither
   computes nor calls MPI, at most. */
static bool sleeps_in(const struct naps *naps, const struct pauses *all)
{
    double outside_ns = (double)time_since(naps->first_ns, naps->last_ns) - (double)naps->in_calls_ns -
                        (double)all->gaps_ns - (double)(naps->computed_ns - all->computed_ns);
    double asleep_ns = (double)time_since(naps->asleep_first_ns, naps->asleep_ns);
    return naps->have_asleep && asleep_ns - larger(outside_ns, 0.0) >= ASLEEP * (double)all->gaps_ns;
}

void naps_end(struct naps *naps, struct graph *graph, struct location *location)
{
    struct pauses all = {0};
    struct pauses *by_kind = naps->count > 0 ? pauses_by_kind(naps, graph, location) : NULL;
    for (size_t i = 0; i < naps->count; i++)
        if (!computes(&by_kind[kind_of(location, &naps->series[i])])) {
            time_add(&all.gaps_ns, naps->series[i].gaps_ns);
            time_add(&all.computed_ns, naps->series[i].computed_ns);
        }
    bool sleeps = sleeps_in(naps, &all);
    for (size_t i = 0; i < naps->count; i++) {
        const struct nap_series *series = &naps->series[i];
        if (sleeps && !computes(&by_kind[kind_of(location, series)])) {
            time_add(&location->polled_ns, series->gaps_ns);
        } else {
            graph_set_enter(graph, location, series->call, series->enter_ns);
            graph_set_leave(graph, location, series->call, series->leave_ns);
        }
    }
    free(by_kind);
    free(naps->series);
    *naps = (struct naps){0};
}
