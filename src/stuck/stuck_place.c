/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/stuck_place.h"

#include <string.h>

/* Fewer failed tests may be a program that looks once in a while between computing. */
enum { POLLS_MIN = 20 };

/* MPI_Parrived completes no request, even when it succeeds: only what the process last tested shows that it failed. */
static bool tests_anything(const struct stuck_state *state, const struct place *place)
{
    if (strcmp(state_name(state, place->state), "MPI_Parrived") != 0)
        return true;
    for (size_t i = 0; i < place->item_count; i++)
        if (place->items[i].pending.how & PENDING_TESTED)
            return true;
    return false;
}

bool place_polls(const struct stuck_state *state, const struct place *place)
{
    if (place->state == UINT32_MAX || !state_is_test(state, place->state))
        return false;
    return place->depth > 0 || (place->polls >= POLLS_MIN && tests_anything(state, place));
}

bool place_is_gone(const struct stuck_state *state, const struct place *place)
{
    if (place->finalized || place_has_ended(place))
        return true;
    /* In a trace that records how places ended, one without such a mark and outside MPI is a thread that has ended. */
    return state->has_ending && !place->has_ending && place->depth == 0;
}

const struct place *place_joins(const struct stuck_state *state, const struct place *place)
{
    for (size_t i = 0; place->depth == 0 && i < place->item_count; i++) {
        const struct pending *pending = &place->items[i].pending;
        const uint64_t *index = NULL;
        if (pending->what == PENDING_THREAD && pending->tag >= 0)
            index = map_find(&state->place_of, map_pair(place->process, (uint32_t)pending->tag));
        if (index && &state->places[*index] != place && !place_is_gone(state, &state->places[*index]))
            return &state->places[*index];
    }
    return NULL;
}

bool place_is_in(const struct stuck_state *state, const struct place *place, const char *function)
{
    return place->depth > 0 && strcmp(state_name(state, place->state), function) == 0;
}
