/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls MPI from a function, an inlined function, through a pointer, on several communicators and from a shared library
   (itself, compiled with -DLIBRARY), and prints where: site,LINE,FUNCTION,CALLS for each process. */
#include <mpi.h>

#include <stdio.h>

void in_library(int times);
void library_print(void);

enum { LINES = 100 };
static struct {
    const char *function;
    int calls;
} places[LINES];

static int at(int line, const char *function)
{
    places[line].function = function;
    return ++places[line].calls;
}

#define AT (void)at(__LINE__, __func__),

static void print(void)
{
    for (int line = 0; line < LINES; line++)
        if (places[line].calls)
            printf("site,%d,%s,%d\n", line, places[line].function, places[line].calls);
    fflush(stdout);
}

#ifdef LIBRARY
void in_library(int times)
{
    for (int i = 0; i < times; i++)
        AT MPI_Barrier(MPI_COMM_WORLD);
}

void library_print(void)
{
    print();
}
#else
static inline __attribute__((always_inline)) void inlined(MPI_Comm comm)
{
    int value = 1, sum;
    AT MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
}

static __attribute__((noinline)) void called(int (*barrier)(MPI_Comm))
{
    AT barrier(MPI_COMM_WORLD);
    AT MPI_Barrier(MPI_COMM_SELF);
    int result = (AT MPI_Barrier(MPI_COMM_WORLD));
    places[0].calls = result; /* the call above is not the last thing done, which would become a jump */
}

/* More communicators than short records can name. */
static void many(int comms)
{
    MPI_Comm comm;
    for (int i = 0; i < comms; i++) {
        AT MPI_Comm_dup(MPI_COMM_SELF, &comm);
        AT MPI_Barrier(comm);
        AT MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    AT MPI_Init(&argc, &argv);
    for (int i = 0; i < 5; i++)
        inlined(MPI_COMM_WORLD);
    inlined(MPI_COMM_SELF);
    called(MPI_Barrier);
    in_library(7);
    many(300);
    AT MPI_Finalize();
    print();
    library_print();
    return 0;
}
#endif
