/* SPDX-License-Identifier: BSD-3-Clause */
/* left_over NAME: runs of two processes or more that come to their ends, although some of them leave a message that
   nobody receives, or a collective that a process does not enter. `left_over --list` prints their names with how many
   messages and collectives are certain to be left. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { TAG = 7 };

static int rank, value, got;

static void send(int tag)
{
    MPI_Send(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
}

static void receive(int tag)
{
    MPI_Recv(&got, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void post(MPI_Request *request)
{
    MPI_Irecv(&got, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, request);
}

static void message(void)
{
    if (rank == 0)
        send(TAG);
}

static void two_of_three(void)
{
    if (rank == 0)
        for (int i = 0; i < 3; i++)
            send(TAG + i);
    if (rank == 1)
        receive(TAG + 1);
}

/* The last process gets the value from another one than the root, or from the root. */
static void broadcast(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank < size - 1)
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

/* Nothing is certain. */
static void freed(void)
{
    MPI_Request request;
    if (rank == 0)
        send(TAG);
    if (rank == 1) {
        post(&request);
        MPI_Request_free(&request);
    }
}

static void open(void)
{
    MPI_Request request;
    if (rank == 0)
        send(TAG);
    if (rank == 1)
        post(&request);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void silent(void)
{
    if (rank == 0)
        send(TAG);
    MPI_Pcontrol(0);
    if (rank == 1)
        receive(TAG);
    MPI_Pcontrol(1);
}

/* Nothing is left. */
static void clean(void)
{
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &part);
    if (rank > 0)
        MPI_Bcast(&value, 1, MPI_INT, 0, part);
    if (rank == 0)
        send(TAG);
    if (rank == 1)
        receive(TAG);
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&part);
}

static const struct program {
    const char *name;
    void (*run)(void);
    int messages, collectives;
} programs[] = {{"message", message, 1, 0},     {"two_of_three", two_of_three, 2, 0},
                {"broadcast", broadcast, 0, 1}, {"freed", freed, 0, 0},
                {"open", open, 0, 0},           {"silent", silent, 0, 0},
                {"clean", clean, 0, 0}};
enum { PROGRAMS = sizeof programs / sizeof *programs };

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (int i = 0; i < PROGRAMS; i++)
            printf("%s %d %d\n", programs[i].name, programs[i].messages, programs[i].collectives);
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < PROGRAMS && argc == 2; i++)
        if (strcmp(argv[1], programs[i].name) == 0)
            programs[i].run();
    MPI_Finalize();
    return 0;
}
