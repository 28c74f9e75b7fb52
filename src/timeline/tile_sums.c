/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/tile_sums.h"

#include "core/memory.h"

#include <math.h>

void tile_sums_start(struct tile_sums *sums, const struct defs *defs, uint32_t bins, uint64_t bin_ns)
{
    *sums = (struct tile_sums){.defs = defs, .bins = bins, .bin_ns = bin_ns};
    sums->places = memory_new((defs->state_count + 1) * sizeof *sums->places);
    sums->first = memory_new(bins * sizeof *sums->first);
    sums->last = memory_new(bins * sizeof *sums->last);
}

void tile_sums_clear(struct tile_sums *sums)
{
    free(sums->states);
    free(sums->places);
    free(sums->sums);
    free(sums->first);
    free(sums->last);
    free(sums->present);
    *sums = (struct tile_sums){0};
}

/* Outside all states has the place after the last state. */
static uint32_t *place_of(struct tile_sums *sums, uint32_t state)
{
    if (state == TIMELINE_NONE)
        return &sums->places[sums->defs->state_count];
    return &sums->places[state];
}

/* Place of a state among those of the row. */
static uint32_t place_find(struct tile_sums *sums, uint32_t state)
{
    if (state != TIMELINE_NONE)
        state = sums->defs->states[state].first_of_name;
    uint32_t *place = place_of(sums, state);
    if (!*place) {
        ARRAY_PUSH(sums->states, sums->state_count, sums->state_capacity,
                   (struct tile_state){.state = state, .latest = UINT32_MAX});
        *place = (uint32_t)sums->state_count;
    }
    return *place - 1;
}

static void add(struct tile_sums *sums, uint32_t place, uint32_t bin, double ns)
{
    /* Times come in order: more of a state in the same bin follows what is there. Sums of a bin are a list through
       `next`, so that a row with few states in many bins needs little memory. */
    struct tile_state *state = &sums->states[place];
    if (state->latest != UINT32_MAX && sums->sums[state->latest].bin == bin) {
        sums->sums[state->latest].ns += ns;
        return;
    }
    state->latest = (uint32_t)sums->sum_count;
    ARRAY_PUSH(sums->sums, sums->sum_count, sums->sum_capacity,
               (struct tile_sum){.ns = ns, .place = place, .bin = bin});
    if (sums->last[bin])
        sums->sums[sums->last[bin] - 1].next = (uint32_t)sums->sum_count;
    else
        sums->first[bin] = (uint32_t)sums->sum_count;
    sums->last[bin] = (uint32_t)sums->sum_count;
}

void tile_sums_add(struct tile_sums *sums, uint32_t state, uint32_t bin, double ns)
{
    add(sums, place_find(sums, state), bin, ns);
}

void tile_sums_add_span(struct tile_sums *sums, uint32_t state, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    uint32_t place = place_find(sums, state);
    uint64_t last = (to - 1) / sums->bin_ns;
    for (uint64_t bin = from / sums->bin_ns; bin < last; from = ++bin * sums->bin_ns)
        add(sums, place, (uint32_t)bin, (double)((bin + 1) * sums->bin_ns - from));
    add(sums, place, (uint32_t)last, (double)(to - from));
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

/* Of states with equal time the lowest index is shown, and any state rather than none. */
static bool better(const struct tile_state *one, const struct tile_state *other)
{
    return one->here > other->here || (one->here >= other->here && one->state < other->state);
}

/* A cell has 16 bits for a state: those beyond, and time outside all, are shown alike. */
static uint16_t shown_state(const struct tile_state *state)
{
    if (state->state >= TIMELINE_ABSENT)
        return TIMELINE_OUTSIDE;
    return (uint16_t)state->state;
}

static void take_cell(const struct tile_sums *sums, struct timeline_cell *cell)
{
    double all = 0, waiting = 0;
    const struct tile_state *best[1 + TIMELINE_NEXT];
    size_t count = 0;
    for (size_t i = 0; i < sums->present_count; i++) {
        const struct tile_state *state = &sums->states[sums->present[i]];
        all += state->here;
        if (waits(sums->defs, state->state))
            waiting += state->here;
        /* Inserted among the best so far; the place after the last one means that it is not among them. */
        size_t at = count;
        if (count <= TIMELINE_NEXT)
            count++;
        for (; at > 0 && better(state, best[at - 1]); at--)
            if (at <= TIMELINE_NEXT)
                best[at] = best[at - 1];
        if (at <= TIMELINE_NEXT)
            best[at] = state;
    }
    cell->state = TIMELINE_ABSENT;
    for (size_t i = 0; i < TIMELINE_NEXT; i++) {
        cell->next[i] = TIMELINE_ABSENT;
        cell->next_share[i] = 0;
        if (i + 1 < count) {
            cell->next[i] = shown_state(best[i + 1]);
            cell->next_share[i] = share_of(best[i + 1]->here, all);
        }
    }
    if (count == 0)
        return;
    cell->state = shown_state(best[0]);
    cell->share = share_of(best[0]->here, all);
    cell->waiting = share_of(waiting, all);
}

/* Gathers what the states have in a bin. */
static void gather(struct tile_sums *sums, uint32_t bin)
{
    sums->present_count = 0;
    for (uint32_t next = sums->first[bin]; next; next = sums->sums[next - 1].next) {
        const struct tile_sum *sum = &sums->sums[next - 1];
        struct tile_state *state = &sums->states[sum->place];
        if (state->here <= 0 && sum->ns > 0) /* the first of it in this bin */
            ARRAY_PUSH(sums->present, sums->present_count, sums->present_capacity, sum->place);
        state->here += sum->ns;
    }
}

void tile_sums_take(struct tile_sums *sums, struct timeline_cell *cells, struct timeline_tile *tile)
{
    for (uint32_t bin = 0; bin < sums->bins; bin++) {
        gather(sums, bin);
        take_cell(sums, &cells[bin]);
        for (size_t i = 0; i < sums->present_count; i++) {
            struct tile_state *state = &sums->states[sums->present[i]];
            state->all += state->here;
            state->here = 0;
        }
        sums->first[bin] = sums->last[bin] = 0;
    }
    for (size_t i = 0; i < sums->state_count; i++) {
        const struct tile_state *state = &sums->states[i];
        double *sum_ns = &tile->outside_ns;
        if (state->state != TIMELINE_NONE)
            sum_ns = &tile->state_ns[state->state];
        *sum_ns += state->all;
        /* Only the places that were used are reset: a trace may have thousands of states, a row few. */
        *place_of(sums, state->state) = 0;
    }
    sums->state_count = sums->sum_count = 0;
}
