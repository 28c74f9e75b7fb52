/* SPDX-License-Identifier: BSD-3-Clause */
/* Large recordings soon: own_messages ROUNDS. Each process sends to itself, so that nobody waits for another; now and
   then a message goes around the ring of all. */
#include <mpi.h>
#include <stdlib.h>

enum { ROUNDS_PER_RING = 5000 };

int main(int argc, char **argv)
{
    int rank, size, out = 0, in, rounds = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rounds; i++) {
        if (i % ROUNDS_PER_RING == rank)
            MPI_Barrier(MPI_COMM_SELF);
        if (i % ROUNDS_PER_RING == 0)
            MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(&in, 1, MPI_INT, rank, 2 + i % 3, MPI_COMM_WORLD, &request);
        MPI_Send(&out, 1, MPI_INT, rank, 2 + i % 3, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
