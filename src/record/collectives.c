/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/collectives.h"

int collective_size(MPI_Comm comm)
{
    int inter = 0, size = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(comm, &size);
    else
        PMPI_Comm_size(comm, &size);
    return size;
}

bool collective_is_root(MPI_Comm comm, int root)
{
    int rank = 0, inter = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_test_inter(comm, &inter);
    return rank == root && !inter;
}

uint64_t collective_sum(const int *counts, int size, MPI_Datatype type)
{
    int64_t sum = 0;
    for (int i = 0; i < size; i++)
        sum += counts[i];
    return message_bytes(1, type) * (uint64_t)sum;
}

void collective(struct call *call, int root, uint64_t sent, uint64_t received)
{
    struct lane *lane = call->lane;
    struct record_collective *record = call->write ? lane_room(lane, sizeof *record) : NULL;
    if (!record)
        return;
    record->base.time_ns = call_end(call);
    record->root = root < 0 ? NO_ROOT : root; /* MPI_ROOT and MPI_PROC_NULL name nobody */
    record->unused = 0;
    record->sent = sent;
    record->received = received;
    lane_commit(lane, sizeof *record, RECORD_COLLECTIVE, call->function, call->comm);
}

void collective_to_all(struct call *call, MPI_Comm comm, int root, uint64_t bytes)
{
    bool is_root = collective_is_root(comm, root);
    collective(call, root, is_root ? bytes : 0, is_root ? 0 : bytes);
}

void collective_to_root(struct call *call, MPI_Comm comm, int root, uint64_t in, uint64_t out)
{
    collective(call, root, in, collective_is_root(comm, root) ? out : 0);
}

void collective_gather(struct call *call, MPI_Comm comm, int root, const void *in, MPI_Count incount,
                       MPI_Datatype intype, MPI_Count outcount, MPI_Datatype outtype)
{
    bool is_root = collective_is_root(comm, root);
    uint64_t got = is_root ? message_bytes(outcount, outtype) : 0;
    uint64_t given = in == MPI_IN_PLACE ? got : message_bytes(incount, intype);
    collective(call, root, given, is_root ? got * (uint64_t)collective_size(comm) : 0);
}

void collective_scatter(struct call *call, MPI_Comm comm, int root, const void *out, MPI_Count incount,
                        MPI_Datatype intype, MPI_Count outcount, MPI_Datatype outtype)
{
    bool is_root = collective_is_root(comm, root);
    uint64_t given = is_root ? message_bytes(incount, intype) : 0;
    uint64_t got = out == MPI_IN_PLACE ? given : message_bytes(outcount, outtype);
    collective(call, root, is_root ? given * (uint64_t)collective_size(comm) : 0, got);
}

void collective_gatherv(struct call *call, MPI_Comm comm, int root, const void *in, MPI_Count incount,
                        MPI_Datatype intype, const int *outcounts, MPI_Datatype outtype)
{
    bool is_root = collective_is_root(comm, root);
    uint64_t given = in == MPI_IN_PLACE ? message_bytes(outcounts[root], outtype) : message_bytes(incount, intype);
    collective(call, root, given, is_root ? collective_sum(outcounts, collective_size(comm), outtype) : 0);
}

void collective_scatterv(struct call *call, MPI_Comm comm, int root, const void *out, const int *incounts,
                         MPI_Datatype intype, MPI_Count outcount, MPI_Datatype outtype)
{
    bool is_root = collective_is_root(comm, root);
    uint64_t got = out == MPI_IN_PLACE ? message_bytes(incounts[root], intype) : message_bytes(outcount, outtype);
    collective(call, root, is_root ? collective_sum(incounts, collective_size(comm), intype) : 0, got);
}

void collective_exchange(struct call *call, MPI_Comm comm, const void *in, MPI_Count incount, MPI_Datatype intype,
                         MPI_Count outcount, MPI_Datatype outtype, int blocks)
{
    uint64_t got = message_bytes(outcount, outtype);
    uint64_t given = in == MPI_IN_PLACE ? got : message_bytes(incount, intype);
    collective(call, NO_ROOT, given * (uint64_t)blocks, got * (uint64_t)collective_size(comm));
}

void collective_allgatherv(struct call *call, MPI_Comm comm, const void *in, MPI_Count incount, MPI_Datatype intype,
                           const int *outcounts, MPI_Datatype outtype)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    uint64_t given = in == MPI_IN_PLACE ? message_bytes(outcounts[rank], outtype) : message_bytes(incount, intype);
    collective(call, NO_ROOT, given, collective_sum(outcounts, collective_size(comm), outtype));
}

void collective_alltoallv(struct call *call, MPI_Comm comm, const void *in, const int *incounts, MPI_Datatype intype,
                          const int *outcounts, MPI_Datatype outtype)
{
    int size = collective_size(comm);
    uint64_t got = collective_sum(outcounts, size, outtype);
    collective(call, NO_ROOT, in == MPI_IN_PLACE ? got : collective_sum(incounts, size, intype), got);
}
