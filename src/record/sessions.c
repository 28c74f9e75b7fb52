/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/sessions.h"

#include "record/recorder.h"
#include "record/table.h"

#include <pthread.h>

#ifdef MPI_SESSION_NULL

static MPI_Session own;
static bool has_own;

static MPI_Group world_of_session(void)
{
    MPI_Group group = MPI_GROUP_NULL;
    if (!has_own && PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own) != MPI_SUCCESS)
        return MPI_GROUP_NULL;
    has_own = true;
    if (PMPI_Group_from_session_pset(own, "mpi://WORLD", &group) != MPI_SUCCESS)
        return MPI_GROUP_NULL;
    return group;
}

void sessions_end(void)
{
    if (has_own)
        PMPI_Session_finalize(&own);
    has_own = false;
}

#else

static MPI_Group world_of_session(void)
{
    return MPI_GROUP_NULL;
}

void sessions_end(void)
{
}

#endif

bool sessions_have_world(void)
{
    int begun = 0, ended = 0;
    PMPI_Initialized(&begun);
    PMPI_Finalized(&ended);
    return begun && !ended;
}

MPI_Group sessions_world(void)
{
    MPI_Group group = MPI_GROUP_NULL;
    if (!sessions_have_world())
        return world_of_session();
    PMPI_Comm_group(MPI_COMM_WORLD, &group);
    return group;
}

static struct table of_all; /* communicators made of groups that have all processes */
static pthread_mutex_t of_all_lock = PTHREAD_MUTEX_INITIALIZER;

void sessions_comm_made(MPI_Comm comm)
{
    int size = 0;
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_size(comm, &size);
    if (size != recorder.size)
        return;
    pthread_mutex_lock(&of_all_lock);
    uint64_t *value = table_put(&of_all, HANDLE_NUMBER(comm));
    if (value)
        *value = 1;
    pthread_mutex_unlock(&of_all_lock);
    recorder_look_at_hosts(comm);
}

void sessions_comm_freed(MPI_Comm comm)
{
    pthread_mutex_lock(&of_all_lock);
    bool known = table_find(&of_all, HANDLE_NUMBER(comm)) != NULL;
    table_remove(&of_all, HANDLE_NUMBER(comm));
    pthread_mutex_unlock(&of_all_lock);
    if (known)
        recorder_sync(comm);
}
