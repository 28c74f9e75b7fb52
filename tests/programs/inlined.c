/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes in functions that are inlined: near_loop by any compiler, far_loop (inlined_far.c) where the program is
   optimised as a whole (-flto). `inlined SECONDS`: for each of them. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

void far_loop(double seconds);

double inlined_cpu(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline __attribute__((always_inline)) void near_loop(double seconds)
{
    static volatile double sink;
    for (double until = inlined_cpu() + seconds; inlined_cpu() < until;)
        for (int i = 0; i < 10000; i++)
            sink = sink * 0.5 + i;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    near_loop(seconds);
    far_loop(seconds);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
