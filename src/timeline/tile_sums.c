/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/tile_sums.h"

#include "core/memory.h"

#include <math.h>
#include <string.h>

void tile_sums_start(struct tile_sums *sums, const struct defs *defs, uint32_t bins, uint64_t bin_ns)
{
    *sums = (struct tile_sums){.defs = defs, .bins = bins, .bin_ns = bin_ns};
    sums->places = memory_new((defs->state_count + 1) * sizeof *sums->places);
}

void tile_sums_clear(struct tile_sums *sums)
{
    free(sums->states);
    free(sums->places);
    free(sums->ns);
    *sums = (struct tile_sums){0};
}

/* The row of sums of a state. */
static double *sums_of(struct tile_sums *sums, uint32_t state)
{
    if (state != TIMELINE_NONE)
        state = sums->defs->states[state].first_of_name;
    uint32_t *place = &sums->places[state == TIMELINE_NONE ? sums->defs->state_count : state];
    if (!*place) {
        ARRAY_PUSH(sums->states, sums->state_count, sums->state_capacity, state);
        *place = (uint32_t)sums->state_count;
        ARRAY_RESERVE(sums->ns, sums->ns_capacity, sums->state_count * sums->bins);
        memset(&sums->ns[(*place - 1) * (size_t)sums->bins], 0, sums->bins * sizeof *sums->ns);
    }
    return &sums->ns[(*place - 1) * (size_t)sums->bins];
}

void tile_sums_add(struct tile_sums *sums, uint32_t state, uint32_t bin, double ns)
{
    sums_of(sums, state)[bin] += ns;
}

void tile_sums_add_span(struct tile_sums *sums, uint32_t state, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    double *row = sums_of(sums, state);
    uint64_t bin = from / sums->bin_ns, last = (to - 1) / sums->bin_ns;
    if (bin == last) {
        row[bin] += (double)(to - from);
        return;
    }
    row[bin] += (double)((bin + 1) * sums->bin_ns - from);
    while (++bin < last)
        row[bin] += (double)sums->bin_ns;
    row[last] += (double)(to - last * sums->bin_ns);
}

static bool waits(const struct defs *defs, uint32_t state)
{
    if (state == TIMELINE_NONE)
        return false;
    enum function_class class = defs->states[state].class;
    return class == CLASS_WAIT || class == CLASS_PROBE || class == CLASS_SYNC;
}

static uint8_t share_of(double ns, double all)
{
    return (uint8_t)lround(fmin(ns / all, 1) * 255);
}

/* Of states with equal time the lowest index is shown, and a state rather than none. */
static bool better(const struct tile_sums *sums, size_t i, size_t best, uint32_t bin)
{
    double ns = sums->ns[i * sums->bins + bin], most = sums->ns[best * sums->bins + bin];
    return ns > most || (ns >= most && sums->states[i] < sums->states[best]);
}

static uint16_t shown_state(const struct tile_sums *sums, size_t i)
{
    return (uint16_t)(sums->states[i] < TIMELINE_ABSENT ? sums->states[i] : TIMELINE_OUTSIDE);
}

static void take_cell(const struct tile_sums *sums, uint32_t bin, struct timeline_cell *cell)
{
    double all = 0, waiting = 0;
    size_t best[1 + TIMELINE_NEXT], count = 0;
    for (size_t i = 0; i < sums->state_count; i++) {
        double ns = sums->ns[i * sums->bins + bin];
        if (ns <= 0)
            continue;
        all += ns;
        waiting += waits(sums->defs, sums->states[i]) ? ns : 0;
        size_t at = count <= TIMELINE_NEXT ? count++ : count;
        for (; at > 0 && better(sums, i, best[at - 1], bin); at--)
            if (at <= TIMELINE_NEXT)
                best[at] = best[at - 1];
        if (at <= TIMELINE_NEXT)
            best[at] = i;
    }
    cell->state = count > 0 ? shown_state(sums, best[0]) : TIMELINE_ABSENT;
    for (size_t i = 0; i < TIMELINE_NEXT; i++) {
        cell->next[i] = i + 1 < count ? shown_state(sums, best[i + 1]) : TIMELINE_ABSENT;
        cell->next_share[i] = i + 1 < count ? share_of(sums->ns[best[i + 1] * sums->bins + bin], all) : 0;
    }
    if (count == 0)
        return;
    cell->share = share_of(sums->ns[best[0] * sums->bins + bin], all);
    cell->waiting = share_of(waiting, all);
}

void tile_sums_take(struct tile_sums *sums, struct timeline_cell *cells, struct timeline_tile *tile)
{
    for (uint32_t bin = 0; bin < sums->bins; bin++)
        take_cell(sums, bin, &cells[bin]);
    for (size_t i = 0; i < sums->state_count; i++) {
        uint32_t state = sums->states[i];
        double all = 0;
        for (uint32_t bin = 0; bin < sums->bins; bin++)
            all += sums->ns[i * sums->bins + bin];
        *(state == TIMELINE_NONE ? &tile->outside_ns : &tile->state_ns[state]) += all;
        sums->places[state == TIMELINE_NONE ? sums->defs->state_count : state] = 0;
    }
    sums->state_count = 0;
}
