/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/stuck_state.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <stdlib.h>
#include <string.h>

struct place *state_place(struct stuck_state *state, const struct event *event)
{
    if (state->last_place < state->place_count) {
        struct place *last = &state->places[state->last_place];
        if (last->process == event->process && last->thread == event->thread)
            return last;
    }
    uint64_t *index = map_put(&state->place_of, map_pair(event->process, event->thread), UINT64_MAX);
    if (*index == UINT64_MAX) {
        *index = state->place_count;
        ARRAY_PUSH(state->places, state->place_count, state->place_capacity,
                   (struct place){.process = event->process,
                                  .thread = event->thread,
                                  .state = UINT32_MAX,
                                  .comm = EVENT_UNKNOWN,
                                  .enter_ns = event->time_ns,
                                  .left_ns = event->time_ns,
                                  .progress_ns = event->time_ns});
    }
    state->last_place = *index;
    return &state->places[*index];
}

int32_t state_comm(const struct stuck_state *state, int32_t comm)
{
    const uint64_t *other = NULL;
    if (comm >= 0)
        other = map_find(&state->other_side, (uint64_t)comm);
    return other ? (int32_t)smaller((int32_t)*other, comm) : comm;
}

const char *state_name(const struct stuck_state *state, uint32_t index)
{
    return index < state->defs->state_count ? state->defs->states[index].name : "";
}

static bool name_is_test(const char *name)
{
    return strncmp(name, "MPI_Test", 8) == 0 || strncmp(name, "MPI_Iprobe", 10) == 0 ||
           strncmp(name, "MPI_Improbe", 11) == 0 || strcmp(name, "MPI_Win_test") == 0 ||
           strncmp(name, "MPI_Request_get_status", 22) == 0 || strcmp(name, "MPI_Parrived") == 0;
}

uint8_t traits_of_name(const char *name)
{
    int traits = 0;
    if (name_is_test(name))
        traits |= TRAIT_TEST;
    if (strncmp(name, "MPI_Init", 8) == 0)
        traits |= TRAIT_INIT;
    if (strcmp(name, "MPI_Finalize") == 0)
        traits |= TRAIT_FINALIZE;
    if (strcmp(name, "MPI_Start") == 0 || strcmp(name, "MPI_Startall") == 0)
        traits |= TRAIT_START;
    if (strcmp(name, "MPI_Comm_create_group") == 0 || strcmp(name, "MPI_Comm_create_from_group") == 0)
        traits |= TRAIT_TEAM;
    if (strncmp(name, "MPI_Cart_", 9) == 0 || strstr(name, "raph_create"))
        traits |= TRAIT_TOPOLOGY;
    return (uint8_t)traits;
}

uint8_t state_traits(const struct stuck_state *state, uint32_t index)
{
    /* States may be defined after the table was made (CLOG-2 without definitions). */
    if (index < state->trait_count)
        return state->traits[index];
    return traits_of_name(state_name(state, index));
}

bool state_is_test(const struct stuck_state *state, uint32_t index)
{
    return (state_traits(state, index) & TRAIT_TEST) != 0;
}

const struct member *state_member(const struct stuck_state *state, int32_t comm, uint32_t process)
{
    const uint64_t *index = map_find(&state->member_of, map_pair((uint32_t)state_comm(state, comm), process));
    return index ? &state->members[*index] : NULL;
}

const struct posted *state_posted(const struct stuck_state *state, uint32_t process, int32_t request)
{
    const uint64_t *index = map_find(&state->posted_of, map_pair(process, (uint32_t)request));
    return index ? &state->posted[*index] : NULL;
}

struct prepared *state_prepared(const struct stuck_state *state, int32_t comm, uint32_t process, uint64_t ordinal)
{
    const uint64_t *index = map_find(&state->preparer_of, map_pair((uint32_t)state_comm(state, comm), process));
    if (!index || ordinal == 0 || state->preparers[*index].count < ordinal)
        return NULL;
    return &state->preparers[*index].prepared[ordinal - 1];
}

struct member *state_member_put(struct stuck_state *state, const struct event *event)
{
    int32_t comm = state_comm(state, event->comm);
    /* UINT64_MAX is no index: the process is new on this communicator. */
    uint64_t *index = map_put(&state->member_of, map_pair((uint32_t)comm, event->process), UINT64_MAX);
    if (*index == UINT64_MAX) {
        *index = state->member_count;
        ARRAY_PUSH(state->members, state->member_count, state->member_capacity,
                   (struct member){.comm = comm, .process = event->process});
    }
    return &state->members[*index];
}

void stuck_state_clear(struct stuck_state *state)
{
    struct map *maps[] = {&state->place_of,  &state->pairs,     &state->streams,     &state->channel_of,
                          &state->member_of, &state->posted_of, &state->other_side,  &state->local_side,
                          &state->groups,    &state->epochs,    &state->preparer_of, &state->team_of,
                          &state->team_met};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        map_clear(maps[i]);
    for (size_t i = 0; i < state->place_count; i++) {
        free(state->places[i].items);
        free(state->places[i].outer);
    }
    free(state->places);
    free(state->channels);
    free(state->outstanding);
    free(state->members);
    free(state->posted);
    for (size_t i = 0; i < state->preparer_count; i++)
        free(state->preparers[i].prepared);
    free(state->preparers);
    free(state->locks);
    free(state->ranges);
    free(state->teams);
    free(state->neighbours);
    free(state->collectives);
    free(state->traits);
}
