/* SPDX-License-Identifier: BSD-3-Clause */
/* Children of the program, made in every way, that call MPI and end while their parent goes on. What they do is none of
   the recording's.
       children fork | _Fork | call */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static pid_t make_child(const char *how)
{
    if (strcmp(how, "_Fork") == 0)
        return _Fork();
    return strcmp(how, "call") == 0 ? (pid_t)syscall(SYS_fork) : fork();
}

/* In a thread, too: the child ends with that thread's end, without the others. */
static void *have_child(void *how)
{
    int status = -1, flag;
    CALL(MPI_Comm_test_inter, (MPI_COMM_WORLD, &flag));
    pid_t child = make_child(how);
    if (child == 0) {
        for (int i = 0; i < 20000; i++)
            MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
        pthread_exit(NULL);
    }
    waitpid(child, &status, 0);
    return (void *)(long)status;
}

int main(int argc, char **argv)
{
    char *how = argc > 1 ? argv[1] : "fork";
    pthread_t thread;
    int provided, status, flag, gate[2];
    void *of_thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    truth_begin();
    pthread_create(&thread, NULL, have_child, how);
    pthread_join(thread, &of_thread);
    if (pipe(gate) != 0)
        return 2;
    pid_t child = make_child(how);
    if (child == 0) {
        /* It ends when its parent has finalised MPI. */
        close(gate[1]);
        for (int i = 0; i < 20000; i++)
            MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
        exit(read(gate[0], &flag, 1) == 0 ? 3 : 4);
    }
    for (int i = 0; i < 1000; i++)
        CALL(MPI_Barrier, (MPI_COMM_WORLD));
    MPI_Finalize();
    close(gate[1]);
    waitpid(child, &status, 0);
    FILE *lines = truth_open();
    truth_write(lines);
    fprintf(lines, "children end with %d and %d\n", (int)(long)of_thread, status);
    fclose(lines);
    return 0;
}
