/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes in two functions whose symbols are those that a C++ and a Fortran compiler would give them. */
#include <mpi.h>
#include <time.h>

void sift_down(volatile double *sum) __asm__("_ZN11application7sorting8HeapSortIdE9sift_downEPVd");
void relax(volatile double *sum) __asm__("__grid_MOD_relax");

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) void sift_down(volatile double *sum)
{
    for (int i = 0; i < 1000000; i++)
        *sum += i;
}

__attribute__((noinline)) void relax(volatile double *sum)
{
    for (int i = 0; i < 1000000; i++)
        *sum *= 0.5;
}

int main(int argc, char **argv)
{
    volatile double sum = 0;
    MPI_Init(&argc, &argv);
    for (double end_s = cpu_s() + 0.4; cpu_s() < end_s;) {
        sift_down(&sum);
        relax(&sum);
    }
    MPI_Finalize();
    return 0;
}
