/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions with large counts: messages, and collectives with vectors of MPI_Count. The root and the bytes that
   process 0 gives and gets are those that the test expects of four processes. */
#include "truth.h"

enum { PROCESSES = 4 };

int main(int argc, char **argv)
{
    double in[64] = {0}, out[64] = {0};
    MPI_Count counts[PROCESSES], sizes[PROCESSES];
    MPI_Aint places[PROCESSES], offsets[PROCESSES];
    MPI_Datatype types[PROCESSES];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    truth_begin();
    for (int i = 0; i < PROCESSES; i++) {
        counts[i] = i + 1; /* to or from process i */
        sizes[i] = truth.rank + 1;
        places[i] = i * PROCESSES;
        offsets[i] = places[i] * (MPI_Aint)sizeof *in;
        types[i] = MPI_DOUBLE;
    }
    int next = (truth.rank + 1) % truth.size, before = (truth.rank + truth.size - 1) % truth.size;
    MPI_Irecv_c(in, 5, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &request);
    MPI_Send_c(out, 5, MPI_DOUBLE, next, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    truth_sent(next, 5 * (long)sizeof *in);
    truth_received(before, 5 * (long)sizeof *in);
    MPI_Sendrecv_c(out, 7, MPI_DOUBLE, next, 2, in, 7, MPI_DOUBLE, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    truth_sent(next, 7 * (long)sizeof *in);
    truth_received(before, 7 * (long)sizeof *in);
    /* Process r gives i + 1 to process i, which gets as many from each. */
    MPI_Alltoallv_c(out, counts, places, MPI_DOUBLE, in, sizes, places, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Alltoallw_c(out, counts, offsets, types, in, sizes, offsets, types, MPI_COMM_WORLD);
    MPI_Allgatherv_c(out, truth.rank + 1, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Gatherv_c(out, truth.rank + 1, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Scatterv_c(out, counts, places, MPI_DOUBLE, in, truth.rank + 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Reduce_scatter_c(out, in, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Ialltoallv_c(out, counts, places, MPI_DOUBLE, in, sizes, places, MPI_DOUBLE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    truth_print();
    MPI_Finalize();
    return 0;
}
