/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls MPI by way of small functions of its own (one is in a shared library: itself, compiled with -DLIBRARY), and
   prints the lines that count: site,LINE,FUNCTION,CALLS for each process. With an argument process 1 ends in a receive
   that nobody sends to. */
#include <mpi.h>

#include <stdio.h>

int hypre_MPI_Allreduce(const void *send, void *receive, int count);

#ifdef LIBRARY
int hypre_MPI_Allreduce(const void *send, void *receive, int count)
{
    int outcome = MPI_Allreduce(send, receive, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return outcome == MPI_SUCCESS ? 0 : 1;
}
#else

static struct {
    const char *function;
    int calls;
} places[200];

static int at(int line, const char *function)
{
    places[line].function = function;
    return ++places[line].calls;
}

#define AT (void)at(__LINE__, __func__),

static inline __attribute__((always_inline)) int my_mpi_barrier(MPI_Comm comm)
{
    int outcome = MPI_Barrier(comm);
    return outcome == MPI_SUCCESS ? 0 : 1;
}

/* Does more than one thing: its own lines count. */
static __attribute__((noinline)) int exchange(int *value, int partner)
{
    MPI_Request request;
    AT MPI_Irecv(&value[1], 1, MPI_INT, partner, 1, MPI_COMM_WORLD, &request);
    AT MPI_Send(value, 1, MPI_INT, partner, 1, MPI_COMM_WORLD);
    AT MPI_Wait(&request, MPI_STATUS_IGNORE);
    return value[1];
}

static __attribute__((noinline)) int mpi_recv(int *value, int source)
{
    int outcome = MPI_Recv(value, 1, MPI_INT, source, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return outcome == MPI_SUCCESS ? 0 : 1;
}

/* Its frame has another size in each call. */
static __attribute__((noinline)) int mpi_send(int *value, int partner, int size)
{
    volatile char room[size];
    room[0] = 0;
    int outcome = MPI_Send(value, 1, MPI_INT, partner, 2, MPI_COMM_WORLD);
    return outcome == MPI_SUCCESS ? room[0] : 1;
}

static __attribute__((noinline)) int mpi_comm_size(void)
{
    int size = 0;
    int outcome = MPI_Comm_size(MPI_COMM_WORLD, &size);
    return outcome == MPI_SUCCESS ? size : 0;
}

#define FOUR_TIMES(what) what + what + what + what

/* 256 places that call it, which are one line. */
static __attribute__((noinline)) int many(void)
{
    return FOUR_TIMES(FOUR_TIMES(FOUR_TIMES(FOUR_TIMES(mpi_comm_size()))));
}

int main(int argc, char **argv)
{
    int rank, value[2] = {1, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++) {
        AT hypre_MPI_Allreduce(&value[0], &value[1], 1);
        if (i % 2)
            AT hypre_MPI_Allreduce(&value[0], &value[1], 1);
        AT my_mpi_barrier(MPI_COMM_WORLD);
        AT my_mpi_barrier(MPI_COMM_WORLD);
        exchange(value, 1 - rank);
        exchange(value, 1 - rank);
    }
    value[0] = (many() + many()) / 1024;
    for (int i = 0; i < 10; i++)
        if (rank == 0)
            mpi_send(value, 1, 40 + 100 * i);
        else
            AT mpi_recv(value, 0);
    if (argc > 1 && rank == 1)
        AT mpi_recv(value, 0); /* line 99 */
    if (argc > 1)
        AT hypre_MPI_Allreduce(&value[0], &value[1], 1);
    for (size_t line = 0; line < sizeof places / sizeof *places; line++)
        if (places[line].calls)
            printf("site,%zu,%s,%d\n", line, places[line].function, places[line].calls);
    MPI_Finalize();
    return 0;
}
#endif
