/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that send and receive at the same time, with requests completed by other threads than began them. Prints
   nothing but "unsupported" where MPI has no MPI_THREAD_MULTIPLE. */
#include "truth.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 50 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Request handed[THREADS];
static pthread_barrier_t all;
static int from, to;

static void *work(void *argument)
{
    int thread = (int)(size_t)argument, in[16], out[16] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        int integers = 1 + (thread + round) % 8;
        MPI_Irecv(in, 16, MPI_INT, from, thread, MPI_COMM_WORLD, &handed[thread]);
        pthread_barrier_wait(&all);
        MPI_Send(out, integers, MPI_INT, to, thread, MPI_COMM_WORLD);
        MPI_Wait(&handed[(thread + 1) % THREADS], MPI_STATUS_IGNORE);
        pthread_mutex_lock(&lock);
        truth_sent(to, integers * (long)sizeof(int));
        truth_received(from, integers * (long)sizeof(int));
        pthread_mutex_unlock(&lock);
        pthread_barrier_wait(&all);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    truth_begin();
    if (provided < MPI_THREAD_MULTIPLE) {
        if (truth.rank == 0)
            puts("unsupported");
        MPI_Finalize();
        return 0;
    }
    to = (truth.rank + 1) % truth.size;
    from = (truth.rank + truth.size - 1) % truth.size;
    pthread_barrier_init(&all, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    truth_print();
    MPI_Finalize();
    return 0;
}
