/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_COLLECTIVES_H
#define SIGHT_RECORD_COLLECTIVES_H

#include "record/call.h"
#include "record/messages.h"

/* What a collective call moves: its root, the bytes that this process gives, and those that it gets. One record after
   the call, which the merge puts on its leave. */

enum { NO_ROOT = -1 };

/* Who takes part; on an inter-communicator the processes of the other side. */
int collective_size(MPI_Comm comm);

/* True on the root of a collective of an intra-communicator: only there the root's arguments mean something. */
bool collective_is_root(MPI_Comm comm, int root);

/* Bytes of all counts of a vector variant. */
uint64_t collective_sum(const int *counts, int size, MPI_Datatype type);

void collective(struct call *call, int root, uint64_t sent, uint64_t received);

/* One root gives to all; all give to one root. */
void collective_to_all(struct call *call, MPI_Comm comm, int root, uint64_t bytes);
void collective_to_root(struct call *call, MPI_Comm comm, int root, uint64_t in, uint64_t out);

/* The shapes that several functions have, with their own arguments. Where a buffer is MPI_IN_PLACE its count and type
   say nothing, and the block of the other one is meant. */
void collective_gather(struct call *call, MPI_Comm comm, int root, const void *in, MPI_Count incount,
                       MPI_Datatype intype, MPI_Count outcount, MPI_Datatype outtype);
void collective_scatter(struct call *call, MPI_Comm comm, int root, const void *out, MPI_Count incount,
                        MPI_Datatype intype, MPI_Count outcount, MPI_Datatype outtype);
void collective_gatherv(struct call *call, MPI_Comm comm, int root, const void *in, MPI_Count incount,
                        MPI_Datatype intype, const int *outcounts, MPI_Datatype outtype);
void collective_scatterv(struct call *call, MPI_Comm comm, int root, const void *out, const int *incounts,
                         MPI_Datatype intype, MPI_Count outcount, MPI_Datatype outtype);

/* All give `blocks` blocks and get one of each: MPI_Allgather, MPI_Alltoall. */
void collective_exchange(struct call *call, MPI_Comm comm, const void *in, MPI_Count incount, MPI_Datatype intype,
                         MPI_Count outcount, MPI_Datatype outtype, int blocks);
void collective_allgatherv(struct call *call, MPI_Comm comm, const void *in, MPI_Count incount, MPI_Datatype intype,
                           const int *outcounts, MPI_Datatype outtype);
void collective_alltoallv(struct call *call, MPI_Comm comm, const void *in, const int *incounts, MPI_Datatype intype,
                          const int *outcounts, MPI_Datatype outtype);

#endif
