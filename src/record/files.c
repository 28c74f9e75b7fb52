/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/files.h"

#include "record/table.h"

#include <pthread.h>

/* MPI_File handles are the same in all threads: one table, with a lock of its own, as opening is rare. */
static struct table files; /* file -> 1 + number of its communicator */
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;

void file_opened(struct call *call, MPI_File file)
{
    pthread_mutex_lock(&files_lock);
    uint64_t *comm = table_put(&files, (uintptr_t)file);
    /* Without memory the file is unknown, and its calls have the world's communicator. */
    if (comm)
        *comm = (uint64_t)call->comm + 1;
    pthread_mutex_unlock(&files_lock);
}

void file_closed(MPI_File file)
{
    pthread_mutex_lock(&files_lock);
    table_remove(&files, (uintptr_t)file);
    pthread_mutex_unlock(&files_lock);
}

uint32_t file_comm(MPI_File file)
{
    pthread_mutex_lock(&files_lock);
    const uint64_t *found = table_find(&files, (uintptr_t)file);
    uint32_t comm = found ? (uint32_t)*found - 1 : RECORD_WORLD;
    pthread_mutex_unlock(&files_lock);
    return comm;
}

bool call_on_file(struct call *call, enum function function, const uintptr_t *caller, MPI_File file)
{
    if (!call_begin(call, function))
        return false;
    call_enter(call, caller, file_comm(file));
    return true;
}
