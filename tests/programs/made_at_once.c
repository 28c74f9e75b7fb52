/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that make communicators of the same processes at the same time, in any order (MPI_Comm_create_group, with a
   tag for each thread), and send a message on each, with a tag of its own. */
#include "truth.h"

#include <pthread.h>

enum { THREADS = 6, ROUNDS = 20 };

static int other;

static void exchange(MPI_Comm comm, int partner, int tag)
{
    int in, out = tag;
    MPI_Sendrecv(&out, 1, MPI_INT, partner, tag, &in, 1, MPI_INT, partner, tag, comm, MPI_STATUS_IGNORE);
    if (in != tag)
        MPI_Abort(MPI_COMM_WORLD, 8);
}

static void with_group(int thread, int tag)
{
    MPI_Group all;
    MPI_Comm made;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_create_group(MPI_COMM_WORLD, all, thread, &made);
    exchange(made, other, tag);
    MPI_Comm_free(&made);
    MPI_Group_free(&all);
}

static void *work(void *argument)
{
    int thread = (int)(size_t)argument;
    for (int round = 0; round < ROUNDS; round++)
        with_group(thread, thread + THREADS * round);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    truth_begin();
    other = 1 - truth.rank;
    if (provided == MPI_THREAD_MULTIPLE) {
        for (size_t i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, work, (void *)i);
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < THREADS * ROUNDS; i++) {
            truth_sent(other, sizeof(int));
            truth_received(other, sizeof(int));
        }
    }
    truth_print();
    MPI_Finalize();
    return 0;
}
