/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that do not end as calls do, and messages after them.
       odd_calls jump | free | start | environment | thread | late | exec
   jump: an error handler leaves the call by longjmp; free: communicators and windows that cannot be freed; start:
   active requests are started; environment: nothing is left of it; thread: a thread's sends are cancelled after its
   end; late: destructors of threads' data call MPI; exec: the program starts itself again */
#include "truth.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>

static int rank, other;
static char out[16], in[16];

static void exchange(MPI_Comm comm, int tag)
{
    for (int i = 0; i < 10; i++) {
        MPI_Sendrecv(out, 3, MPI_CHAR, other, tag, in, 3, MPI_CHAR, other, tag, comm, MPI_STATUS_IGNORE);
        truth_sent(other, 3);
        truth_received(other, 3);
    }
}

static jmp_buf back;

static void on_error(MPI_Comm *comm, int *error, ...)
{
    int class;
    (void)comm;
    MPI_Error_class(*error, &class);
    longjmp(back, 1);
}

/* From another depth of the stack than the call that was left. */
static __attribute__((noinline)) void send_deeper(int depth)
{
    volatile char room[200] = {0};
    if (depth > 0)
        send_deeper(depth - 1);
    else
        exchange(MPI_COMM_WORLD, 1);
    room[0] = 1;
}

#ifdef MPICH_VERSION /* Open MPI starts active requests again */
/* The first start holds after a second one that was left. */
static void start_and_jump(void)
{
    MPI_Request requests[2];
    MPI_Ssend_init(out, 4, MPI_CHAR, other, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, 4, MPI_CHAR, other, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
    if (!setjmp(back))
        MPI_Start(&requests[0]);
    exchange(MPI_COMM_WORLD, 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    truth_sent(other, 4);
    truth_received(other, 4);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}
#endif

static void jump(void)
{
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int i = 0; i < 3; i++) {
        if (!setjmp(back))
            MPI_Send(out, -1, MPI_CHAR, other, 1, MPI_COMM_WORLD);
        exchange(MPI_COMM_WORLD, 1);
        if (!setjmp(back))
            MPI_Isend(out, 1, MPI_CHAR, 99, 1, MPI_COMM_WORLD, &request);
        send_deeper(i);
    }
#ifdef MPICH_VERSION
    start_and_jump();
#endif
}

static int keep(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm;
    (void)key;
    (void)state;
    return (*(int *)value)-- > 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void free_twice(void)
{
    MPI_Comm comm, handle;
    int key, times = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, keep, &key, NULL);
    if (rank == 0) {
        MPI_Comm_set_attr(comm, key, &times);
        handle = comm;
        MPI_Comm_free(&handle);
    }
    exchange(comm, 2);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    exchange(comm, 2);
    MPI_Comm_free(&comm);
}

/* Persistent sends that begin before the one before has left: Open MPI replaces the request. */
static void start_large(void)
{
    enum { BYTES = 1 << 20, TIMES = 5, ROOM = TIMES * (BYTES + 7 + 2 * MPI_BSEND_OVERHEAD) };
    char *large = calloc(3, BYTES), *room = malloc(ROOM);
    MPI_Request requests[2];
    int size;
    MPI_Buffer_attach(room, ROOM);
    MPI_Bsend_init(large, BYTES, MPI_CHAR, other, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Bsend_init(large, 7, MPI_CHAR, other, 5, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < TIMES; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        truth_sent(other, BYTES);
        truth_sent(other, 7);
    }
    for (int i = 0; i < 2 * TIMES; i++) {
        MPI_Status status;
        int bytes;
        MPI_Recv(large + BYTES, BYTES, MPI_CHAR, other, 5, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &bytes);
        truth_received(other, bytes);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Buffer_detach(&room, &size);
    free(room);
    free(large);
}

/* What the first start began stays known after a second one that fails: it is cancelled, and is no message. */
static void start_and_cancel(MPI_Comm comm)
{
    MPI_Request request;
    MPI_Ssend_init(out, 6, MPI_CHAR, rank, 6, comm, &request);
    MPI_Start(&request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
}

static void start_twice(void)
{
    start_large();
#ifdef MPICH_VERSION /* Open MPI starts them again */
    MPI_Request requests[2];
    MPI_Ssend_init(out, 4, MPI_CHAR, other, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, 4, MPI_CHAR, other, 3, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&requests[0]);
        MPI_Start(&requests[0]);
        MPI_Start(&requests[1]);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        truth_sent(other, 4);
        truth_received(other, 4);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    start_and_cancel(MPI_COMM_WORLD);
#endif
}

static MPI_Request posted[3];

static void *post(void *unused)
{
    for (int i = 0; i < 3; i++)
        MPI_Issend(out, 5, MPI_CHAR, rank, 4, MPI_COMM_WORLD, &posted[i]);
    return unused;
}

static void cancel_of_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, post, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++) {
        MPI_Cancel(&posted[i]);
        MPI_Request_free(&posted[i]);
    }
}

static pthread_key_t at_end;
static __thread int rounds;

static void end(void *value)
{
    exchange(MPI_COMM_WORLD, 5);
    if (++rounds < 3)
        pthread_setspecific(at_end, value);
}

static void *use_data(void *unused)
{
    pthread_setspecific(at_end, &at_end);
    exchange(MPI_COMM_WORLD, 5);
    return unused;
}

static void call_late(void)
{
    pthread_t thread;
    pthread_key_create(&at_end, end);
    pthread_create(&thread, NULL, use_data, NULL);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "jump";
    int provided;
    if (strcmp(how, "environment") == 0) {
        unsetenv("SIGHT_RECORD_DIR");
        unsetenv("LD_PRELOAD");
    }
    /* MPICH calls error handlers with its lock, if it has one. */
    bool threads = strcmp(how, "thread") == 0 || strcmp(how, "late") == 0;
    int wanted = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    truth_begin();
    rank = truth.rank;
    other = truth.size - 1 - rank;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (strcmp(how, "jump") == 0)
        jump();
    else if (strcmp(how, "free") == 0)
        free_twice();
    else if (strcmp(how, "start") == 0)
        start_twice();
    else if (strcmp(how, "thread") == 0 && provided == MPI_THREAD_MULTIPLE)
        cancel_of_thread();
    else if (strcmp(how, "late") == 0 && provided == MPI_THREAD_MULTIPLE)
        call_late();
    exchange(MPI_COMM_WORLD, 9);
    MPI_Barrier(MPI_COMM_WORLD);
    truth_print();
    MPI_Finalize();
    if (strcmp(how, "exec") == 0)
        execl(argv[0], argv[0], "again", NULL);
    return 0;
}
