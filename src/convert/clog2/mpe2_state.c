/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/mpe2_state.h"

#include <string.h>

static const struct mpe2_state states[] = {
#define MPE2_STATE(id, name, colour, format) {id, name, colour, format},
#include "convert/clog2/mpe2_state.def"
};

static const struct mpe2_solo solos[] = {
#define MPE2_SOLO(event, name, colour) {event, name, colour},
#include "convert/clog2/mpe2_state.def"
};

enum { STATE_COUNT = sizeof states / sizeof states[0], SOLO_COUNT = sizeof solos / sizeof solos[0] };

size_t mpe2_state_count(void)
{
    return STATE_COUNT;
}

const struct mpe2_state *mpe2_state_at(size_t index)
{
    return &states[index];
}

/* The index of the first row whose id is not below `id`: the first of its rows if it has several. Two functions
   share state 215 (a fault of MPE): the first stands for both. */
static size_t lower_bound(int32_t id)
{
    size_t low = 0, high = STATE_COUNT;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (states[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct mpe2_state *mpe2_state_of_event(int32_t event)
{
    /* -1 / 2 is 0, and so would be a state's id. */
    if (event < 0)
        return NULL;
    int32_t id = event / 2;
    size_t index = lower_bound(id);
    if (index < STATE_COUNT && states[index].id == id)
        return &states[index];
    return NULL;
}

const struct mpe2_state *mpe2_state_find(const char *name)
{
    for (size_t i = 0; i < STATE_COUNT; i++)
        if (strcmp(states[i].name, name) == 0)
            return &states[i];
    return NULL;
}

const struct mpe2_solo *mpe2_solo_of_event(int32_t event)
{
    for (size_t i = 0; i < SOLO_COUNT; i++)
        if (solos[i].event == event)
            return &solos[i];
    return NULL;
}
