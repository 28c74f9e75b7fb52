/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/groups.h"

#include "record/table.h"

#include <pthread.h>
#include <stdlib.h>

static struct table made;
static pthread_mutex_t made_lock = PTHREAD_MUTEX_INITIALIZER;

void group_made(MPI_Group group)
{
    pthread_mutex_lock(&made_lock);
    uint64_t *value = table_put(&made, HANDLE_NUMBER(group));
    if (value)
        *value = 1;
    pthread_mutex_unlock(&made_lock);
}

void group_forget(const MPI_Group *group)
{
    if (!group)
        return;
    pthread_mutex_lock(&made_lock);
    table_remove(&made, HANDLE_NUMBER(*group));
    pthread_mutex_unlock(&made_lock);
}

static bool is_made(MPI_Group group)
{
    pthread_mutex_lock(&made_lock);
    bool known = table_find(&made, HANDLE_NUMBER(group)) != NULL;
    pthread_mutex_unlock(&made_lock);
    return known;
}

void group_put_ranks(struct call *call, int first, int last, int step, enum window_lock lock)
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
        group_put_ranks(call, ranks[i], ranks[next - 1], step, WINDOW_UNLOCKED);
    }
}

void group_put_members(struct call *call, MPI_Group group, MPI_Group all)
{
    int count = 0;
    if (PMPI_Group_size(group, &count) != MPI_SUCCESS || count == 0)
        return;
    int *ranks = malloc(2 * sizeof *ranks * (size_t)count);
    if (!ranks)
        return;
    for (int i = 0; i < count; i++)
        ranks[i] = i;
    PMPI_Group_translate_ranks(group, count, ranks, all, ranks + count);
    put_all(call, ranks + count, count);
    free(ranks);
}

void group_of_comm(struct call *call, MPI_Group group, MPI_Comm comm)
{
    MPI_Group all;
    if (!call->write || call->comm_new || comm == MPI_COMM_NULL || !is_made(group) ||
        PMPI_Comm_group(comm, &all) != MPI_SUCCESS)
        return;
    group_put_members(call, group, all);
    PMPI_Group_free(&all);
}

void group_of_world(struct call *call, MPI_Group group)
{
    if (call->write && is_made(group))
        group_put_members(call, group, comms_world());
}
