/* SPDX-License-Identifier: BSD-3-Clause */
/* may_hang NAME: small exchanges that come to their ends, some of them only because MPI buffers messages.
   `may_hang --list` prints their names with how many processes wait for each other without that: 0 for those that do
   not depend on it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 5, ROUNDS = 3 };

static int rank, size, left, right, value, got;
static MPI_Comm world;

static void send_to(int to)
{
    MPI_Send(&value, 1, MPI_INT, to, TAG, world);
}
static void receive_from(int from)
{
    MPI_Recv(&got, 1, MPI_INT, from, TAG, world, MPI_STATUS_IGNORE);
}

static void pair(void)
{
    for (int i = 0; i < ROUNDS && rank < 2; i++) {
        send_to(1 - rank);
        receive_from(1 - rank);
    }
}
static void ring(void)
{
    send_to(right);
    receive_from(left);
}
static void before_barrier(void)
{
    if (rank == 0)
        send_to(1);
    MPI_Barrier(world);
    if (rank == 1)
        receive_from(0);
}
static void self(void)
{
    send_to(rank);
    receive_from(rank);
}
static void wait_pair(void)
{
    MPI_Request request;
    if (rank > 1)
        return;
    MPI_Isend(&value, 1, MPI_INT, 1 - rank, TAG, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    receive_from(1 - rank);
}

/* Not. */
static void odd_even(void)
{
    for (int i = 0; i < ROUNDS && size % 2 == 0; i++)
        if (rank % 2) {
            receive_from(left);
            send_to(right);
        } else {
            send_to(right);
            receive_from(left);
        }
}
static void shift(void)
{
    MPI_Sendrecv(&value, 1, MPI_INT, right, TAG, &got, 1, MPI_INT, left, TAG, world, MPI_STATUS_IGNORE);
}
static void receive_posted(void)
{
    MPI_Request request;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Irecv(&got, 1, MPI_INT, left, TAG, world, &request);
        send_to(right);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}
static void send_posted(void)
{
    MPI_Request request;
    MPI_Isend(&value, 1, MPI_INT, right, TAG, world, &request);
    receive_from(left);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void all_posted(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Isend(&value, 1, MPI_INT, right, TAG, world, &requests[0]);
    MPI_Irecv(&got, 1, MPI_INT, left, TAG, world, &requests[1]);
    MPI_Waitall(2, requests, statuses);
}
static void buffered(void)
{
    int bytes = 4 + MPI_BSEND_OVERHEAD;
    char *room = malloc((size_t)bytes);
    MPI_Buffer_attach(room, bytes);
    MPI_Bsend(&value, 1, MPI_INT, right, TAG, world);
    receive_from(left);
    MPI_Buffer_detach(&room, &bytes);
    free(room);
}
static void line(void)
{
    if (rank > 0)
        receive_from(left);
    if (rank + 1 < size)
        send_to(right);
}
static void one_receives_first(void)
{
    if (rank == 0) {
        receive_from(left);
        send_to(right);
    } else {
        send_to(right);
        receive_from(left);
    }
}
static void master(void)
{
    MPI_Status status;
    for (int i = 0; i < ROUNDS * (size - 1); i++)
        if (rank == 0) {
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, TAG, world, &status);
            send_to(status.MPI_SOURCE);
        } else if (i < ROUNDS) {
            send_to(0);
            receive_from(0);
        }
}
/* Process 0 has a receive of any source open while it sends to 1, which sends to it. Here a message of 2 comes first;
   without buffers, that of 1 would be taken. */
static void any_source_posted(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, TAG, world, &request);
        send_to(1);
        send_to(2);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        receive_from(MPI_ANY_SOURCE);
    } else if (rank == 1) {
        usleep(200000);
        send_to(0);
        receive_from(0);
    } else if (rank == 2) {
        receive_from(0);
        send_to(0);
    }
}
/* A broadcast need not wait for all. */
static void before_broadcast(void)
{
    if (rank == 0)
        MPI_Bcast(&value, 1, MPI_INT, 0, world);
    if (rank < 2 && size > 1) {
        if (rank == 0)
            send_to(1);
        else
            receive_from(0);
    }
    if (rank != 0)
        MPI_Bcast(&value, 1, MPI_INT, 0, world);
}

static const struct {
    const char *name;
    void (*run)(void);
    int cycle; /* -1: all processes */
} programs[] = {{"pair", pair, 2},
                {"ring", ring, -1},
                {"before_barrier", before_barrier, 2},
                {"self", self, 1},
                {"wait_pair", wait_pair, 2},
                {"odd_even", odd_even, 0},
                {"shift", shift, 0},
                {"receive_posted", receive_posted, 0},
                {"send_posted", send_posted, 0},
                {"all_posted", all_posted, 0},
                {"buffered", buffered, 0},
                {"line", line, 0},
                {"one_receives_first", one_receives_first, 0},
                {"master", master, 0},
                {"any_source_posted", any_source_posted, 0},
                {"before_broadcast", before_broadcast, 0}};
enum { PROGRAMS = sizeof programs / sizeof *programs };

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        for (int i = 0; i < PROGRAMS; i++)
            printf("%s %d\n", programs[i].name, programs[i].cycle);
        return 0;
    }
    MPI_Init(&argc, &argv);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    for (int i = 0; i < PROGRAMS; i++)
        if (argc > 1 && strcmp(argv[1], programs[i].name) == 0)
            programs[i].run();
    MPI_Finalize();
    return 0;
}
