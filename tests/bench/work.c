/* SPDX-License-Identifier: BSD-3-Clause */
/* The same work again and again, ten calls deep: prints the CPU time that it took, in ns. `work BLOCKS` */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

__attribute__((noinline)) static void deep(int depth)
{
    if (depth > 0)
        deep(depth - 1);
    else
        for (int i = 0; i < 1000000; i++)
            sink = sink * 31 + (uint64_t)i;
    sink++;
}

int main(int argc, char **argv)
{
    int blocks = argc > 1 ? atoi(argv[1]) : 1000;
    struct timespec begin, end;
    MPI_Init(&argc, &argv);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (int i = 0; i < blocks; i++)
        deep(10);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    printf("%lld\n", (long long)(end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec);
    MPI_Finalize();
    return 0;
}
