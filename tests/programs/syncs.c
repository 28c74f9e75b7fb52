/* SPDX-License-Identifier: BSD-3-Clause */
/* Each process waits for its disk by another call, between MPI_Init and a barrier; the last one by none. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TIMES = 3, SIZE = 4096 };

int main(int argc, char **argv)
{
    int rank, failed = 0;
    char name[] = "syncs.XXXXXX";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int file = mkstemp(name);
    if (file < 0 || unlink(name) != 0 || ftruncate(file, SIZE) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    char *mapped = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < TIMES; i++) {
        mapped[i] = (char)i;
        if (rank == 0)
            failed |= fsync(file);
        else if (rank == 1)
            failed |= fdatasync(file);
        else if (rank == 2)
            failed |= syncfs(file);
        else if (rank == 3)
            failed |= msync(mapped, SIZE, MS_SYNC);
    }
    /* The program sees what they return. */
    printf("failed,%d,%d\n", rank, failed);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
