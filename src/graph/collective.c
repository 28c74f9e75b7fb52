/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/collective.h"

#include "core/memory.h"

#include <ctype.h>
#include <string.h>

/* Which process waits for which: Scalasca's patterns (doc/patterns of its source), where it has one. Communicators,
   windows and files are made by all members together, which MPI allows, but does not force, to synchronise:
   graph_finish looks whether they did. Calls of an epoch wait for single processes (graph_windows.h). */
static const struct shape_row {
    const char *name; /* without MPI_; of a non-blocking one without I, of a persistent one without _init */
    struct collective collective;
} rows[] = {
    {"Allgather", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_NXN, WAIT_NXN_COMPLETION}},
    {"Allgatherv", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_NXN, WAIT_NXN_COMPLETION}},
    {"Allreduce", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_NXN, WAIT_NXN_COMPLETION}},
    {"Alltoall", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_NXN, WAIT_NXN_COMPLETION}},
    {"Alltoallv", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_NXN, WAIT_NXN_COMPLETION}},
    {"Alltoallw", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_NXN, WAIT_NXN_COMPLETION}},
    {"Barrier", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_BARRIER, WAIT_BARRIER_COMPLETION}},
    {"Bcast", {SHAPE_ONE_TO_ALL, STAGE_BLOCKING, WAIT_LATE_BROADCAST, WAIT_NONE}},
    {"Cart_create", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_COMM, WAIT_NONE}},
    {"Cart_sub", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_COMM, WAIT_NONE}},
    {"Comm_create", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_COMM, WAIT_NONE}},
    {"Comm_disconnect", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_COMM, WAIT_NONE}},
    {"Comm_dup", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_COMM, WAIT_NONE}},
    {"Comm_dup_with_info", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_COMM, WAIT_NONE}},
    {"Comm_free", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_COMM, WAIT_NONE}},
    {"Comm_split", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_COMM, WAIT_NONE}},
    {"Comm_split_type", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_COMM, WAIT_NONE}},
    {"Dist_graph_create", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_COMM, WAIT_NONE}},
    {"Dist_graph_create_adjacent", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_COMM, WAIT_NONE}},
    {"Exscan", {SHAPE_PREFIX, STAGE_BLOCKING, WAIT_EARLY_SCAN, WAIT_NONE}},
    {"File_close", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_IO, WAIT_NONE}},
    {"File_open", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_IO, WAIT_NONE}},
    {"File_preallocate", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_IO, WAIT_NONE}},
    {"File_set_size", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_IO, WAIT_NONE}},
    {"File_set_view", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_IO, WAIT_NONE}},
    {"File_sync", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_IO, WAIT_NONE}},
    {"Finalize", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_FINALIZE, WAIT_NONE}},
    {"Gather", {SHAPE_ALL_TO_ONE, STAGE_BLOCKING, WAIT_EARLY_REDUCE, WAIT_IN_REDUCTION}},
    {"Gatherv", {SHAPE_ALL_TO_ONE, STAGE_BLOCKING, WAIT_EARLY_REDUCE, WAIT_IN_REDUCTION}},
    {"Graph_create", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_COMM, WAIT_NONE}},
    {"Init", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_INIT, WAIT_NONE}},
    {"Init_thread", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_INIT, WAIT_NONE}},
    {"Neighbor_allgather", {SHAPE_NEIGHBOURS, STAGE_BLOCKING, WAIT_AT_NXN, WAIT_NONE}},
    {"Neighbor_allgatherv", {SHAPE_NEIGHBOURS, STAGE_BLOCKING, WAIT_AT_NXN, WAIT_NONE}},
    {"Neighbor_alltoall", {SHAPE_NEIGHBOURS, STAGE_BLOCKING, WAIT_AT_NXN, WAIT_NONE}},
    {"Neighbor_alltoallv", {SHAPE_NEIGHBOURS, STAGE_BLOCKING, WAIT_AT_NXN, WAIT_NONE}},
    {"Neighbor_alltoallw", {SHAPE_NEIGHBOURS, STAGE_BLOCKING, WAIT_AT_NXN, WAIT_NONE}},
    {"Reduce", {SHAPE_ALL_TO_ONE, STAGE_BLOCKING, WAIT_EARLY_REDUCE, WAIT_IN_REDUCTION}},
    {"Reduce_scatter", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_NXN, WAIT_NXN_COMPLETION}},
    {"Reduce_scatter_block", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_NXN, WAIT_NXN_COMPLETION}},
    {"Scan", {SHAPE_PREFIX, STAGE_BLOCKING, WAIT_EARLY_SCAN, WAIT_NONE}},
    {"Scatter", {SHAPE_ONE_TO_ALL, STAGE_BLOCKING, WAIT_LATE_BROADCAST, WAIT_NONE}},
    {"Scatterv", {SHAPE_ONE_TO_ALL, STAGE_BLOCKING, WAIT_LATE_BROADCAST, WAIT_NONE}},
    {"Win_allocate", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_WINDOW, WAIT_NONE}},
    {"Win_allocate_shared", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_WINDOW, WAIT_NONE}},
    {"Win_complete", {SHAPE_NONE_KNOWN, STAGE_EPOCH, WAIT_LATE_POST, WAIT_NONE}},
    {"Win_create", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_WINDOW, WAIT_NONE}},
    {"Win_create_dynamic", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_WINDOW, WAIT_NONE}},
    {"Win_fence", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_FENCE, WAIT_NONE}},
    {"Win_flush", {SHAPE_NONE_KNOWN, STAGE_EPOCH, WAIT_LOCK_CONTENTION, WAIT_NONE}},
    {"Win_flush_all", {SHAPE_NONE_KNOWN, STAGE_EPOCH, WAIT_LOCK_CONTENTION, WAIT_NONE}},
    {"Win_flush_local", {SHAPE_NONE_KNOWN, STAGE_EPOCH, WAIT_LOCK_CONTENTION, WAIT_NONE}},
    {"Win_flush_local_all", {SHAPE_NONE_KNOWN, STAGE_EPOCH, WAIT_LOCK_CONTENTION, WAIT_NONE}},
    {"Win_free", {SHAPE_ALL_TO_ALL, STAGE_BLOCKING, WAIT_AT_WINDOW, WAIT_NONE}},
    {"Win_lock", {SHAPE_NONE_KNOWN, STAGE_EPOCH, WAIT_LOCK_CONTENTION, WAIT_NONE}},
    {"Win_lock_all", {SHAPE_NONE_KNOWN, STAGE_EPOCH, WAIT_LOCK_CONTENTION, WAIT_NONE}},
    {"Win_start", {SHAPE_NONE_KNOWN, STAGE_EPOCH, WAIT_LATE_POST, WAIT_NONE}},
    {"Win_unlock", {SHAPE_NONE_KNOWN, STAGE_EPOCH, WAIT_LOCK_CONTENTION, WAIT_NONE}},
    {"Win_unlock_all", {SHAPE_NONE_KNOWN, STAGE_EPOCH, WAIT_LOCK_CONTENTION, WAIT_NONE}},
    {"Win_wait", {SHAPE_NONE_KNOWN, STAGE_EPOCH, WAIT_EARLY_WAIT, WAIT_NONE}},
};

/* Reading and writing together: MPI_File_read_all, MPI_File_iwrite_at_all, MPI_File_read_ordered, the two halves of
   MPI_File_write_all_begin and MPI_File_write_all_end. Others are not collectives. */
static struct collective of_file_data(const char *name)
{
    bool later = strncmp(name, "File_iread", 10) == 0 || strncmp(name, "File_iwrite", 11) == 0;
    bool moves = later || strncmp(name, "File_read", 9) == 0 || strncmp(name, "File_write", 10) == 0;
    if (!moves || !(strstr(name, "_all") || strstr(name, "_ordered")))
        return (struct collective){0};
    if (strstr(name, "_end"))
        return (struct collective){SHAPE_NONE_KNOWN, STAGE_SPLIT_END, WAIT_NONE, WAIT_NONE};
    uint8_t stage = STAGE_BLOCKING;
    if (later)
        stage = STAGE_POSTED;
    else if (strstr(name, "_begin"))
        stage = STAGE_SPLIT;
    return (struct collective){SHAPE_ALL_TO_ALL, stage, WAIT_AT_IO, WAIT_NONE};
}

/* The row whose name is `first` and then the text. */
static struct collective row_of(char first, const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].name[0] == first && strncmp(rows[i].name + 1, text, length) == 0 && !rows[i].name[1 + length])
            return rows[i].collective;
    return (struct collective){0};
}

static bool cut(const char *text, size_t *length, const char *suffix)
{
    size_t tail = strlen(suffix);
    if (*length <= tail || memcmp(text + *length - tail, suffix, tail) != 0)
        return false;
    *length -= tail;
    return true;
}

struct collective collective_of(const struct state_def *state)
{
    const char *name = state->name;
    if (strncmp(name, "MPI_", 4) != 0 || name[4] == '\0')
        return (struct collective){0};
    name += 4;
    /* Files first: the I of MPI_File_iread is inside the name, and _c and _init do not occur. */
    struct collective of_file = of_file_data(name);
    if (of_file.stage != STAGE_NONE)
        return of_file;
    size_t length = strlen(name);
    cut(name, &length, "_c");
    struct collective found = row_of(name[0], name + 1, length - 1);
    if (found.stage != STAGE_NONE)
        return found;
    /* Only then the I: MPI_Init is not a non-blocking Nit. */
    if (name[0] == 'I' && length > 1) {
        found = row_of((char)toupper((unsigned char)name[1]), name + 2, length - 2);
        if (found.stage != STAGE_NONE)
            found.stage = STAGE_POSTED;
    } else if (cut(name, &length, "_init")) {
        found = row_of(name[0], name + 1, length - 1);
        if (found.stage != STAGE_NONE)
            found.stage = STAGE_PREPARED;
    }
    return found;
}

bool collective_is_on_window(const struct state_def *state)
{
    return strcmp(state->name, "MPI_Win_fence") == 0 || strcmp(state->name, "MPI_Win_free") == 0;
}

struct collective *collectives_of(const struct defs *defs)
{
    struct collective *all = memory_new(defs->state_count * sizeof *all);
    for (size_t i = 0; i < defs->state_count; i++)
        all[i] = collective_of(&defs->states[i]);
    return all;
}
