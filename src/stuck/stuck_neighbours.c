/* SPDX-License-Identifier: BSD-3-Clause */
/* Who exchanges with whom in neighbourhood collectives. */
#include "stuck/stuck_state.h"

#include "core/numbers.h"

#include <stdlib.h>

static int compare_neighbours(const void *a, const void *b)
{
    const struct neighbour *left = a, *right = b;
    if (left->comm != right->comm)
        return order_by(left->comm, right->comm);
    if (left->process != right->process)
        return order_by(left->process, right->process);
    return order_by(left->rank, right->rank);
}

/* The place of this neighbour, or where it would be. */
static size_t neighbour_at(const struct stuck_state *state, const struct neighbour *wanted)
{
    size_t low = 0, high = state->neighbour_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_neighbours(&state->neighbours[middle], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool state_neighbours(const struct stuck_state *state, int32_t comm, uint32_t process, int32_t rank, int ways)
{
    struct neighbour wanted = {.comm = comm, .process = process, .rank = rank};
    for (size_t i = neighbour_at(state, &wanted);
         i < state->neighbour_count && compare_neighbours(&state->neighbours[i], &wanted) == 0; i++)
        if (state->neighbours[i].way & ways)
            return true;
    return false;
}

bool state_has_neighbours(const struct stuck_state *state, int32_t comm, uint32_t process)
{
    return state_neighbours(state, comm, process, -1, NEIGHBOURS_BOTH);
}

void state_sort_neighbours(struct stuck_state *state)
{
    if (state->neighbour_count > 0)
        qsort(state->neighbours, state->neighbour_count, sizeof *state->neighbours, compare_neighbours);
}
