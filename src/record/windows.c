/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/windows.h"

#include "record/collectives.h"

#include <stdlib.h>

static void put_ranks(struct call *call, int first, int last, int step, enum window_lock lock)
{
    struct record_ranks *record = location_room(call->location, sizeof *record);
    if (!record)
        return;
    record->base.ticks = call->enter_ticks;
    record->first = first;
    record->last = last;
    record->step = step;
    record->lock = lock;
    location_commit(call->location, sizeof *record, RECORD_RANKS, call->function, call->comm);
}

/* Ranks in steps of equal length are one record: most groups are one. */
static void put_all(struct call *call, const int *ranks, int count)
{
    for (int i = 0, next; i < count; i = next) {
        next = i + 1;
        int step = next < count ? ranks[next] - ranks[i] : 1;
        while (next < count && ranks[next] - ranks[next - 1] == step)
            next++;
        put_ranks(call, ranks[i], ranks[next - 1], step, WINDOW_UNLOCKED);
    }
}

void window_group(struct call *call, MPI_Group group, MPI_Win win)
{
    int count = 0;
    MPI_Group all;
    /* Some MPIs accept MPI_GROUP_NULL as an empty group, but not in MPI_Group_size. */
    if (!call->write || group == MPI_GROUP_NULL || PMPI_Group_size(group, &count) != MPI_SUCCESS || count == 0)
        return;
    int *ranks = malloc(2 * sizeof *ranks * (size_t)count);
    if (!ranks || PMPI_Win_get_group(win, &all) != MPI_SUCCESS) {
        free(ranks);
        return;
    }
    for (int i = 0; i < count; i++)
        ranks[i] = i;
    PMPI_Group_translate_ranks(group, count, ranks, all, ranks + count);
    PMPI_Group_free(&all);
    put_all(call, ranks + count, count);
    free(ranks);
}

enum window_lock window_lock_of(int type, int assert)
{
    if (assert & MPI_MODE_NOCHECK)
        return WINDOW_UNCHECKED;
    return type == MPI_LOCK_EXCLUSIVE ? WINDOW_EXCLUSIVE : WINDOW_SHARED;
}

void window_all(struct call *call, MPI_Win win, enum window_lock lock)
{
    int count = 0;
    MPI_Group all;
    if (!call->write || PMPI_Win_get_group(win, &all) != MPI_SUCCESS)
        return;
    PMPI_Group_size(all, &count);
    PMPI_Group_free(&all);
    put_ranks(call, 0, count - 1, 1, lock);
}

void window_rank(struct call *call, int rank, enum window_lock lock)
{
    if (call->write && rank != MPI_PROC_NULL)
        put_ranks(call, rank, rank, 1, lock);
}

void window_moved(struct call *call, int target, uint64_t sent, uint64_t received)
{
    bool nobody = target == MPI_PROC_NULL;
    collective(call, target, nobody ? 0 : sent, nobody ? 0 : received);
}

void window_exchanged(struct call *call, int target, MPI_Op op, uint64_t sent, uint64_t received)
{
    window_moved(call, target, op == MPI_NO_OP ? 0 : sent, received);
}
