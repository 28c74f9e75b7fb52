/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_COLLECTIVES_H
#define SIGHT_RECORD_COLLECTIVES_H

#include "record/call.h"
#include "record/messages.h"

/* The data of a collective call: its root, and the bytes that this process sends and receives. One record after
   the call, which the merge puts on its leave. */

enum { NO_ROOT = INT32_MIN };

/* The number of members; on an inter-communicator the processes of the other side. */
int collective_size(MPI_Comm comm);

/* The counts of a vector variant; those of large-count variants are MPI_Count. */
struct counts {
    const int *small;
    const MPI_Count *large;
};
static inline struct counts counts_small(const int *counts)
{
    return (struct counts){.small = counts};
}
static inline struct counts counts_large(const MPI_Count *counts)
{
    return (struct counts){.large = counts};
}
#define COUNTS(counts) _Generic((counts), const int * : counts_small, const MPI_Count * : counts_large)(counts)

void collective(struct call *call, int root, uint64_t sent, uint64_t received);

/* One root sends to all; all send to one root. */
void collective_to_all(struct call *call, MPI_Comm comm, int root, MPI_Count count, MPI_Datatype type);
void collective_to_root(struct call *call, MPI_Comm comm, int root, MPI_Count count, MPI_Datatype type);

/* The shapes that several functions have, with their own arguments. If a buffer is MPI_IN_PLACE, its count and type are
   ignored, and the other one's block is used. */
void collective_gather(struct call *call, MPI_Comm comm, int root, const void *in, MPI_Count incount,
                       MPI_Datatype intype, MPI_Count outcount, MPI_Datatype outtype);
void collective_scatter(struct call *call, MPI_Comm comm, int root, const void *out, MPI_Count incount,
                        MPI_Datatype intype, MPI_Count outcount, MPI_Datatype outtype);
void collective_gatherv(struct call *call, MPI_Comm comm, int root, const void *in, MPI_Count incount,
                        MPI_Datatype intype, struct counts outcounts, MPI_Datatype outtype);
void collective_scatterv(struct call *call, MPI_Comm comm, int root, const void *out, struct counts incounts,
                         MPI_Datatype intype, MPI_Count outcount, MPI_Datatype outtype);

/* All send `blocks` blocks and receive one from each: MPI_Allgather, MPI_Alltoall. */
void collective_exchange(struct call *call, MPI_Comm comm, const void *in, MPI_Count incount, MPI_Datatype intype,
                         MPI_Count outcount, MPI_Datatype outtype, int blocks);
void collective_allgatherv(struct call *call, MPI_Comm comm, const void *in, MPI_Count incount, MPI_Datatype intype,
                           struct counts outcounts, MPI_Datatype outtype);
void collective_alltoallv(struct call *call, MPI_Comm comm, const void *in, struct counts incounts, MPI_Datatype intype,
                          struct counts outcounts, MPI_Datatype outtype);
void collective_alltoallw(struct call *call, MPI_Comm comm, const void *in, struct counts incounts,
                          const MPI_Datatype *intypes, struct counts outcounts, const MPI_Datatype *outtypes);
void collective_reduce_scatter(struct call *call, MPI_Comm comm, struct counts counts, MPI_Datatype type);

/* With the neighbours in a topology; those beyond the border of a Cartesian one do not exist. */
void collective_neighbour_allgather(struct call *call, MPI_Comm comm, MPI_Count incount, MPI_Datatype intype,
                                    MPI_Count outcount, MPI_Datatype outtype);
void collective_neighbour_allgatherv(struct call *call, MPI_Comm comm, MPI_Count incount, MPI_Datatype intype,
                                     struct counts outcounts, MPI_Datatype outtype);
void collective_neighbour_alltoall(struct call *call, MPI_Comm comm, MPI_Count incount, MPI_Datatype intype,
                                   MPI_Count outcount, MPI_Datatype outtype);
void collective_neighbour_alltoallv(struct call *call, MPI_Comm comm, struct counts incounts, MPI_Datatype intype,
                                    struct counts outcounts, MPI_Datatype outtype);
void collective_neighbour_alltoallw(struct call *call, MPI_Comm comm, struct counts incounts,
                                    const MPI_Datatype *intypes, struct counts outcounts, const MPI_Datatype *outtypes);

#endif
