/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that end in other ways than by MPI_Finalize. The truth is printed before: all of it is to be in the trace.
     ends finalize|abort|exit|_exit|segv|kill|wait
   ends random N: process 0 is killed N us after MPI_Init, wherever it is then. */
#include "truth.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void *kill_later(void *microseconds)
{
    usleep((useconds_t)atoi(microseconds));
    kill(getpid(), SIGKILL);
    return NULL;
}

static void exchange_forever(int next, int before)
{
    static int out[64], in[64];
    for (int i = 0;; i++)
        MPI_Sendrecv(out, i % 64, MPI_INT, next, 1, in, 64, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void end(const char *how)
{
    usleep(300000); /* what was printed must have left through mpiexec */
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(how, "exit") == 0)
        exit(5);
    if (strcmp(how, "_exit") == 0)
        _exit(6);
    if (strcmp(how, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    while (strcmp(how, "wait") == 0)
        pause();
    if (strcmp(how, "finalize") == 0) {
        MPI_Finalize();
        exit(0);
    }
}

int main(int argc, char **argv)
{
    static int out[64], in[64];
    MPI_Init(&argc, &argv);
    truth_begin();
    int next = (truth.rank + 1) % truth.size, before = (truth.rank + truth.size - 1) % truth.size;
    if (argc > 2) {
        pthread_t killer;
        if (truth.rank == 0)
            pthread_create(&killer, NULL, kill_later, argv[2]);
        exchange_forever(next, before);
    }
    for (int i = 0; i < 300; i++) {
        MPI_Sendrecv(out, i % 64, MPI_INT, next, 1, in, 64, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_sent(next, i % 64 * (long)sizeof(int));
        truth_received(before, i % 64 * (long)sizeof(int));
    }
    truth_print();
    CALL(MPI_Barrier, (MPI_COMM_WORLD));
    if (argc > 1 && (truth.rank == 0 || strcmp(argv[1], "finalize") == 0 || strcmp(argv[1], "wait") == 0))
        end(argv[1]);
    MPI_Recv(in, 1, MPI_INT, next, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* never comes */
    return 0;
}
