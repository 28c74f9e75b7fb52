/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls a library that calls MPI, from several places and by ways of different depth: `by_library ROUNDS`. With LIBRARY
   that library. Prints what is true, "site,LINE,FUNCTIONS,CALLS". */
#include <alloca.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double library_sum(double value, int levels);
double library_solve(double value, int rounds);
void library_room(size_t bytes);

#ifdef LIBRARY

/* Frames of several sizes: too large for a function that only calls MPI for others. */
__attribute__((noinline)) double library_sum(double value, int levels)
{
    volatile double work[100];
    double sum = 0;
    for (int i = 0; i < 100; i++)
        work[i] = value + i;
    if (levels > 0)
        sum = library_sum(work[levels], levels - 1);
    else
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum + work[99];
}

__attribute__((noinline)) double library_solve(double value, int rounds)
{
    volatile char room[300];
    memset((char *)room, rounds, sizeof room);
    for (int i = 0; i < rounds; i++)
        value = library_sum(value, i % 3) / 8;
    return value + room[7];
}

/* Its frame is as large as it is asked for. */
__attribute__((noinline)) void library_room(size_t bytes)
{
    volatile char *room = alloca(bytes);
    room[0] = room[bytes - 1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    room[0] = room[bytes - 1];
}

#else

static void say(int line, const char *functions, int calls)
{
    printf("site,%d,%s,%d\n", line, functions, calls);
}

__attribute__((noinline)) static double simulate(int rounds)
{
    double sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += library_solve(i, 3), say(__LINE__, "simulate => library_sum", 3);
    for (int i = 0; i < rounds; i++)
        sum += library_sum(i, i % 4), say(__LINE__, "simulate => library_sum", 1);
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double sum = simulate(argc > 1 ? atoi(argv[1]) : 1);
    sum += library_sum(sum, 0), say(__LINE__, "main => library_sum", 1);
    for (int i = 0; i < 2; i++)
        sum += simulate(1);
    /* As far up as the first time there is nothing the second time. */
    for (int i = 0; i < 2; i++)
        library_room(i == 0 ? 60000 : 100), say(__LINE__, "main => library_room", 1);
    fprintf(stderr, "%g\n", sum);
    MPI_Finalize();
    return 0;
}

#endif
