/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction over tasks: GCC passes the runtime a table of it with the region's data. Prints 4950. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int sum = 0;
    MPI_Init(&argc, &argv);
#pragma omp parallel reduction(task, + : sum) num_threads(3)
#pragma omp single
    for (int i = 0; i < 100; i++)
#pragma omp task in_reduction(+ : sum)
        sum += i;
    MPI_Finalize();
    printf("%d\n", sum);
    return 0;
}
