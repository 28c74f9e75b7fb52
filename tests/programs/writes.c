/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that write records all the time and wait for nobody, for SECONDS: rounds of 200 calls, with a nap after
   each. Each says how many rounds it did.
       writes SECONDS */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    enum { CALLS = 200, NAP_US = 2000 };
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    int rank;
    long rounds = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end; rounds++) {
        for (int i = 0; i < CALLS; i++)
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        usleep(NAP_US);
    }
    printf("rounds,%d,%ld\n", rank, rounds);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
