/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of recording: messages of 8 bytes back and forth between two processes, an Allreduce loop, and a call that
   does next to nothing. Prints ns per round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARTS = 5 };

static double ping_pong(int rank, int rounds)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double value = 0, begin = MPI_Wtime();
    for (int i = 0; size > 1 && i < rounds; i++) {
        if (rank == 0) {
            MPI_Send(&value, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - begin) / rounds * 1e9;
}

static double reductions(int rounds)
{
    double value = 1, sum, begin = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) / rounds * 1e9;
}

/* Two records a call, and nothing else. */
static double plain(int rounds)
{
    int rank;
    double begin = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return (MPI_Wtime() - begin) / rounds * 1e9;
}

/* To oneself: a receive, a send and a wait, eight records. */
static double to_self(int rounds)
{
    double value = 0, got, begin = MPI_Wtime();
    MPI_Request request;
    for (int i = 0; i < rounds; i++) {
        MPI_Irecv(&got, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &request);
        MPI_Send(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return (MPI_Wtime() - begin) / rounds * 1e9;
}

/* From nobody, and to oneself alone: four records, each call with something to wait for that does not happen. */
static double to_nobody(int rounds)
{
    double value = 0, begin = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        MPI_Recv(&value, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_SELF);
    }
    return (MPI_Wtime() - begin) / rounds * 1e9;
}

int main(int argc, char **argv)
{
    int rank, rounds = argc > 1 ? atoi(argv[1]) : 100000;
    double best[5] = {1e18, 1e18, 1e18, 1e18, 1e18};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int part = 0; part < PARTS; part++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double now[5] = {ping_pong(rank, rounds / PARTS), reductions(rounds / PARTS), plain(rounds), to_self(rounds),
                         to_nobody(rounds)};
        for (int i = 0; i < 5; i++)
            best[i] = now[i] < best[i] ? now[i] : best[i];
    }
    if (rank == 0)
        printf("pingpong %.1f\nallreduce %.1f\nplain %.1f\nself %.1f\nnobody %.1f\n", best[0], best[1], best[2],
               best[3], best[4]);
    MPI_Finalize();
    return 0;
}
