/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/xml/xml_pairing.h"

#include "core/memory.h"

ptrdiff_t xml_pairing_find(const struct defs *defs, const struct open_states *open, uint32_t state)
{
    uint32_t name = defs->states[state].first_of_name;
    ptrdiff_t at = (ptrdiff_t)open->depth - 1;
    while (at >= 0 && defs->states[open->frames[at].state].first_of_name != name)
        at--;
    return at;
}

/* The rule of a line without `kind`: it closes the innermost state if that has the same name, or an MPI function of
   its name further out, since MPI functions do not call themselves; any other line opens a state. */
ptrdiff_t xml_pairing_rule(const struct defs *defs, const struct open_states *open, uint32_t state)
{
    if (open->depth == 0)
        return OPEN_STATES_NONE;
    const struct state_def *def = &defs->states[state];
    if (defs->states[open->frames[open->depth - 1].state].first_of_name == def->first_of_name)
        return (ptrdiff_t)open->depth - 1;
    if (def->is_mpi)
        return xml_pairing_find(defs, open, state);
    return OPEN_STATES_NONE;
}

static size_t stacks_place(struct xml_stacks *stacks, uint64_t key)
{
    uint64_t *place = map_put(&stacks->places, key, stacks->count);
    if (*place < stacks->count)
        return *place;
    stacks->count++;
    /* Stacks of earlier processes are used again, with their memory. */
    if (stacks->count > stacks->made) {
        ARRAY_RESERVE(stacks->stacks, stacks->capacity, stacks->count);
        stacks->stacks[stacks->made++] = (struct open_states){0};
    }
    return *place;
}

struct open_states *xml_stacks_get(struct xml_stacks *stacks, uint32_t process, uint32_t thread)
{
    uint64_t key = map_pair(process, thread);
    if (stacks->count == 0 || stacks->last_key != key) {
        stacks->last = stacks_place(stacks, key);
        stacks->last_key = key;
    }
    return &stacks->stacks[stacks->last];
}

void xml_stacks_reset(struct xml_stacks *stacks)
{
    for (size_t i = 0; i < stacks->count; i++)
        stacks->stacks[i].depth = 0;
    stacks->count = 0;
    map_clear(&stacks->places);
}

void xml_stacks_free(struct xml_stacks *stacks)
{
    for (size_t i = 0; i < stacks->made; i++)
        open_states_free(&stacks->stacks[i]);
    free(stacks->stacks);
    map_clear(&stacks->places);
    *stacks = (struct xml_stacks){0};
}
