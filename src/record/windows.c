/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/windows.h"

#include "record/collectives.h"
#include "record/groups.h"

void window_group(struct call *call, MPI_Group group, MPI_Win win)
{
    MPI_Group all;
    /* Some MPIs accept MPI_GROUP_NULL as an empty group, but not in MPI_Group_size. */
    if (!call->write || group == MPI_GROUP_NULL || PMPI_Win_get_group(win, &all) != MPI_SUCCESS)
        return;
    group_put_members(call, group, all);
    PMPI_Group_free(&all);
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
    group_put_ranks(call, 0, count - 1, 1, lock);
}

void window_rank(struct call *call, int rank, enum window_lock lock)
{
    if (call->write && rank != MPI_PROC_NULL)
        group_put_ranks(call, rank, rank, 1, lock);
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
