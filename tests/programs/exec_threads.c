/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that becomes another MPI program; in both a second thread sends messages to its own process: 3 in the
   first, 7 in the second. */
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

enum { TAG = 9, FIRST = 3, SECOND = 7 };

static void *sends(void *argument)
{
    int *count = argument, out = 1, in;
    for (int i = 0; i < *count; i++) {
        MPI_Request request;
        MPI_Irecv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &request);
        MPI_Send(&out, 1, MPI_INT, 0, TAG, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level, count = argc > 1 ? SECOND : FIRST;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (pthread_create(&thread, NULL, sends, &count) == 0)
        pthread_join(thread, NULL);
    MPI_Finalize();
    if (argc < 2)
        execl(argv[0], argv[0], "again", NULL);
    return 0;
}
