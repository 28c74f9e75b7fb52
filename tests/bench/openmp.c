/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of an empty parallel region, in ns: the median of many batches. Each thread of OMP_NUM_THREADS needs a core. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 101, REGIONS = 1000 };

static int by_value(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

int main(int argc, char **argv)
{
    double times[BATCHES];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < BATCHES; i++) {
        double begin = omp_get_wtime();
        for (int k = 0; k < REGIONS; k++)
#pragma omp parallel
            __asm__ volatile("");
        times[i] = (omp_get_wtime() - begin) * 1e9 / REGIONS;
    }
    qsort(times, BATCHES, sizeof *times, by_value);
    printf("%.1f %.1f\n", times[BATCHES / 2], times[0]);
    MPI_Finalize();
    return 0;
}
