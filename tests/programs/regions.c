/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of sight.h: nested, on a thread of its own, and before MPI. */
#include <mpi.h>
#include <pthread.h>
#include <sight.h>
#include <stdio.h>

static void *other(void *unused)
{
    for (int i = 0; i < 5; i++) {
        sight_region_begin("thread");
        sight_region_end("thread");
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int rank, provided;
    sight_region_begin("early");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    sight_region_end("early");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++) {
        sight_region_begin(rank == 0 ? "first" : "second");
        sight_region_begin("inner");
        sight_region_end("inner");
        sight_region_end(rank == 0 ? "first" : "second");
    }
    printf("%d\n", sight_threads());
    MPI_Finalize();
    return 0;
}
