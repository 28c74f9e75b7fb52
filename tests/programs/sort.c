/* SPDX-License-Identifier: BSD-3-Clause */
/* A master gives vectors to workers, which sort them by bubble sort.
     sort good    whoever is done gets the next vector; sorting stops when nothing moves any more
     sort bad     in fixed order, synchronously, a barrier each round, all rounds of the sort
   Sizes may follow: sort good VECTORS LENGTH. */
#include "truth.h"

enum { TAG_VECTOR = 1, TAG_RESULT = 2, TAG_END = 3, LENGTH_MAX = 4096 };
static int length, vectors, good;
static int vector[LENGTH_MAX];

static void fill(unsigned seed)
{
    for (int i = 0; i < length; i++) {
        seed = seed * 1664525u + 1013904223u;
        vector[i] = (int)(seed >> 8);
    }
}

static void bubble_sort(void)
{
    for (int end = length - 1, moved = 1; end > 0 && (moved || !good); end--) {
        moved = 0;
        for (int i = 0; i < end; i++) {
            if (vector[i] <= vector[i + 1])
                continue;
            int larger = vector[i];
            vector[i] = vector[i + 1];
            vector[i + 1] = larger;
            moved = 1;
        }
    }
}

static void send(int to, int tag)
{
    int integers = tag == TAG_END ? 0 : length;
    if (good)
        MPI_Send(vector, integers, MPI_INT, to, tag, MPI_COMM_WORLD);
    else
        MPI_Ssend(vector, integers, MPI_INT, to, tag, MPI_COMM_WORLD);
    truth_sent(to, integers * (long)sizeof(int));
}

/* Returns the tag; *from is the sender. */
static int receive(int *from, int tag)
{
    MPI_Status status;
    int integers;
    if (good)
        MPI_Probe(*from, tag, MPI_COMM_WORLD, &status);
    MPI_Recv(vector, length, MPI_INT, good ? status.MPI_SOURCE : *from, good ? status.MPI_TAG : tag, MPI_COMM_WORLD,
             &status);
    MPI_Get_count(&status, MPI_INT, &integers);
    *from = status.MPI_SOURCE;
    truth_received(*from, integers * (long)sizeof(int));
    return status.MPI_TAG;
}

static void master_good(void)
{
    int given = 0, back = 0;
    for (int worker = 1; worker < truth.size; worker++, given++) {
        fill((unsigned)given);
        send(worker, TAG_VECTOR);
    }
    while (back < given) {
        int worker = MPI_ANY_SOURCE;
        receive(&worker, TAG_RESULT);
        back++;
        if (given < vectors) {
            fill((unsigned)given++);
            send(worker, TAG_VECTOR);
        }
    }
    for (int worker = 1; worker < truth.size; worker++)
        send(worker, TAG_END);
}

static void worker_good(void)
{
    int master = 0;
    while (receive(&master, MPI_ANY_TAG) != TAG_END) {
        bubble_sort();
        send(0, TAG_RESULT);
    }
}

static void rounds_bad(void)
{
    for (int given = 0; given < vectors; given += truth.size - 1) {
        for (int worker = 1; worker < truth.size && truth.rank == 0; worker++) {
            fill((unsigned)(given + worker - 1));
            send(worker, TAG_VECTOR);
        }
        for (int worker = 1; worker < truth.size && truth.rank == 0; worker++)
            receive(&(int){worker}, TAG_RESULT);
        if (truth.rank > 0) {
            receive(&(int){0}, TAG_VECTOR);
            bubble_sort();
            send(0, TAG_RESULT);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    truth_begin();
    good = argc < 2 || strcmp(argv[1], "bad") != 0;
    vectors = argc > 2 ? atoi(argv[2]) : 100;
    length = argc > 3 ? atoi(argv[3]) : 1000;
    length = length > LENGTH_MAX ? LENGTH_MAX : length;
    if (!good)
        rounds_bad();
    else if (truth.rank == 0)
        master_good();
    else
        worker_good();
    truth_print();
    MPI_Finalize();
    return 0;
}
