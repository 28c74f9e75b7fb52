/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of a communicator that make one of their own together. */
#include "stuck/stuck_state.h"

#include "core/memory.h"

static bool same_ranges(const struct stuck_state *state, uint32_t left, uint32_t right)
{
    for (; left && right; left = state->ranges[left - 1].next, right = state->ranges[right - 1].next) {
        const struct group_range *one = &state->ranges[left - 1], *other = &state->ranges[right - 1];
        if (one->first != other->first || one->last != other->last || one->step != other->step)
            return false;
    }
    return left == right;
}

/* The team with the ranges of a place's call, from 1. */
static uint32_t team_put(struct stuck_state *state, const struct place *place)
{
    uint64_t hash = map_hash((uint32_t)place->comm);
    for (uint32_t at = place->group; at; at = state->ranges[at - 1].next) {
        const struct group_range *range = &state->ranges[at - 1];
        hash = map_hash(hash ^ map_pair((uint32_t)range->first, (uint32_t)range->last)) + (uint32_t)range->step;
    }
    /* One that has the hash of another group is not followed. */
    uint64_t *index = map_put(&state->team_of, hash, UINT64_MAX);
    if (*index == UINT64_MAX) {
        *index = state->team_count;
        ARRAY_PUSH(state->teams, state->team_count, state->team_capacity,
                   (struct team){.comm = place->comm, .group = place->group});
    }
    const struct team *team = &state->teams[*index];
    bool same = team->comm == place->comm && same_ranges(state, team->group, place->group);
    return same ? (uint32_t)*index + 1 : 0;
}

uint64_t state_team_enter(struct stuck_state *state, struct place *place)
{
    place->team = 0;
    if (place->group)
        place->team = team_put(state, place);
    return place->team ? ++*map_put(&state->team_met, map_pair(place->team, place->process), 0) : 0;
}

uint64_t state_team_met(const struct stuck_state *state, uint32_t team, uint32_t process)
{
    const uint64_t *count = map_find(&state->team_met, map_pair(team, process));
    return count ? *count : 0;
}
