/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_RECORD_STATES_H
#define SIGHT_CORE_RECORD_STATES_H

#include "core/record_digest.h"

/* The states that are open in the totals of a thread: calls of MPI, those of callbacks in them, states of OpenMP and of
   the program. Inline, as each record needs them. */

/* Times in a damaged file may be any: what is beyond the range wraps around. */
static inline int64_t states_ticks(int64_t from, int64_t to)
{
    return (int64_t)((uint64_t)to - (uint64_t)from);
}

static inline void states_add(int64_t *sum, int64_t ticks)
{
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)ticks);
}

static inline bool states_is_mpi(uint32_t function)
{
    return function < RECORD_OPENMP_REGION || function == UINT32_MAX;
}

/* The time since the last change belongs to the state that was entered last. */
static inline void states_advance(struct record_digest *digest)
{
    struct record_totals *totals = digest->totals;
    if (totals->open_count > 0)
        states_add(&totals->open[totals->open_count - 1].own_ticks, states_ticks(totals->changed_ticks, digest->ticks));
    totals->changed_ticks = digest->ticks;
}

/* The latest open state of the function; one that is not known may be any. RECORD_TOTALS_OPEN: there is none. */
static inline uint32_t states_latest(const struct record_totals *totals, uint32_t function)
{
    for (uint32_t i = totals->open_count; i > 0; i--)
        if (totals->open[i - 1].function == function ||
            (totals->open[i - 1].function == UINT32_MAX && states_is_mpi(function)))
            return i - 1;
    return RECORD_TOTALS_OPEN;
}

/* The open state at a place ends: its row. */
static inline void states_close(struct record_digest *digest, uint32_t at, struct record_totals_function *row)
{
    struct record_totals *totals = digest->totals;
    int64_t ticks = states_ticks(totals->open[at].ticks, digest->ticks);
    row->calls++;
    states_add(&row->ticks, ticks);
    states_add(&row->own_ticks, totals->open[at].own_ticks);
    if (ticks < row->min_ticks)
        row->min_ticks = ticks;
    if (ticks > row->max_ticks)
        row->max_ticks = ticks;
    totals->open_count--;
    for (uint32_t i = at; i < totals->open_count; i++)
        totals->open[i] = totals->open[i + 1];
}

#endif
