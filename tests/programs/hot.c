/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes in functions that are known: prints the CPU time that each took, "self,FUNCTION,MS". `hot SECONDS [late]`:
   of the time a half goes to sift, a third to merge, a sixth to swap, which only merge calls; with "late" the last
   process spends as much again in a function of its own; with "thread" all is done in threads that never call MPI. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double spent[4];
static volatile uint64_t sink;

static double cpu(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) void sift(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink = sink * 31 + (uint64_t)i;
}

__attribute__((noinline)) void swap(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink = sink * 29 + (uint64_t)i;
}

__attribute__((noinline)) void merge(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink = sink * 27 + (uint64_t)i;
    double before = cpu();
    swap(rounds / 2);
    spent[2] += cpu() - before;
}

__attribute__((noinline)) void late(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink = sink * 23 + (uint64_t)i;
}

/* Steps of equal length could keep time with the kernel's ticks, at which samples are taken; and processes with each
   other. */
static uint32_t step_seed = 1;

static int rounds_of_step(void)
{
    enum { LEAST = 100000, SPREAD = 200000 };
    step_seed = step_seed * 1664525 + 1013904223;
    return LEAST + (int)(step_seed >> 8) % SPREAD;
}

static void steps(double until, int is_late)
{
    double begin = cpu();
    while (cpu() - begin < until) {
        int rounds = rounds_of_step();
        double a = cpu();
        sift(rounds * 3 / 2);
        double b = cpu();
        merge(rounds);
        double c = cpu();
        if (is_late)
            late(rounds * 3);
        spent[0] += b - a;
        spent[1] += c - b;
        spent[3] += cpu() - c;
    }
}

/* A thread that never calls MPI. */
static void *thread_steps(void *seconds)
{
    steps(*(double *)seconds, 0);
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    step_seed += (uint32_t)rank;
    int is_late = argc > 2 && strcmp(argv[2], "late") == 0 && rank == size - 1;
    for (int i = 0; i < 10; i++) {
        double part = (is_late ? 2 : 1) * seconds / 10;
        pthread_t thread;
        if (argc > 2 && strcmp(argv[2], "thread") == 0 && pthread_create(&thread, NULL, thread_steps, &part) == 0)
            pthread_join(thread, NULL);
        else
            steps(part, is_late);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    double all[4];
    MPI_Reduce(spent, all, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("self,sift,%.0f\nself,merge,%.0f\nself,swap,%.0f\nself,late,%.0f\n", all[0] * 1e3,
               (all[1] - all[2]) * 1e3, all[2] * 1e3, all[3] * 1e3);
    MPI_Finalize();
    return 0;
}
