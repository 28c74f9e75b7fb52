/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that make and complete requests at the same time, each on a communicator of its own: MPI gives the handle of
   a completed request to another thread at once. */
#include "truth.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 700, WAYS = 4 };

static MPI_Comm comms[THREADS];
static int other;

static void exchange(MPI_Comm comm, int round)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int out = round, in = -1, index, flag = 0;
    MPI_Irecv(&in, 1, MPI_INT, other, round, comm, &requests[0]);
    if (round % 3)
        MPI_Isend(&out, 1, MPI_INT, other, round, comm, &requests[1]);
    else
        MPI_Issend(&out, 1, MPI_INT, other, round, comm, &requests[1]);
    switch (round % WAYS) {
    case 0:
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Waitall(2, requests, statuses);
        break;
    case 2:
        for (int i = 0; i < 2; i++)
            MPI_Waitany(2, requests, &index, statuses);
        break;
    default:
        while (!flag)
            MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    }
    if (in != round)
        MPI_Abort(MPI_COMM_WORLD, 8);
}

static void *work(void *thread)
{
    for (int round = 0; round < ROUNDS; round++)
        exchange(comms[(size_t)thread], round);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    truth_begin();
    other = truth.size - 1 - truth.rank;
    if (provided == MPI_THREAD_MULTIPLE) {
        for (size_t i = 0; i < THREADS; i++)
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
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
