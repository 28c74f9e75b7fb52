/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the program that MPI calls, and that call MPI themselves.
       callbacks copy | error | request | operation | jump | finalize
   copy: attributes that are copied and deleted; error: handlers of errors; request: generalised requests; operation: of
   MPI_Reduce; jump: a handler leaves two calls by longjmp; finalize: attributes that MPI_Finalize deletes */
#include "truth.h"

#include <setjmp.h>

static int rank, other;
static char out[16], in[16];

static void exchange(MPI_Comm comm, int bytes)
{
    MPI_Request requests[2];
    CALL(MPI_Irecv, (in, bytes, MPI_CHAR, other, bytes, comm, &requests[0]));
    CALL(MPI_Isend, (out, bytes, MPI_CHAR, other, bytes, comm, &requests[1]));
    CALL(MPI_Waitall, (2, requests, MPI_STATUSES_IGNORE));
    truth_sent(other, bytes);
    truth_received(other, bytes);
}

/* The value is a communicator of its own: each copy has a new one, as libraries have it for their messages. */
static int copy(MPI_Comm comm, int key, void *state, void *value, void *result, int *flag)
{
    MPI_Comm *own = malloc(sizeof *own);
    (void)key;
    (void)state;
    (void)value;
    CALL(MPI_Comm_dup, (MPI_COMM_WORLD, own));
    exchange(comm, 3);
    exchange(*own, 4);
    *(void **)result = own;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int key, void *value, void *state)
{
    MPI_Comm *own = value;
    (void)key;
    (void)state;
    exchange(*own, 5);
    CALL(MPI_Comm_free, (own));
    exchange(comm, 6); /* which is about to be freed */
    free(own);
    return MPI_SUCCESS;
}

static void copy_and_delete(void)
{
    MPI_Comm first, second, third, *own = malloc(sizeof *own);
    int key;
    CALL(MPI_Comm_create_keyval, (copy, delete, &key, NULL));
    CALL(MPI_Comm_dup, (MPI_COMM_WORLD, &first));
    CALL(MPI_Comm_dup, (MPI_COMM_WORLD, own));
    CALL(MPI_Comm_set_attr, (first, key, own));
    CALL(MPI_Comm_dup, (first, &second));
    exchange(second, 7);
    CALL(MPI_Comm_free, (&first));
    CALL(MPI_Comm_dup, (second, &third));
    CALL(MPI_Comm_free, (&second));
    exchange(third, 8);
    CALL(MPI_Comm_delete_attr, (third, key));
    exchange(third, 9);
    CALL(MPI_Comm_free, (&third));
    CALL(MPI_Comm_free_keyval, (&key));
}

static int delete_of_type(MPI_Datatype type, int key, void *value, void *state)
{
    int size;
    (void)key;
    (void)value;
    (void)state;
    CALL(MPI_Type_size, (type, &size));
    exchange(MPI_COMM_WORLD, size);
    return MPI_SUCCESS;
}

static void types(void)
{
    MPI_Datatype type;
    int key;
    CALL(MPI_Type_create_keyval, (MPI_TYPE_NULL_COPY_FN, delete_of_type, &key, NULL));
    CALL(MPI_Type_contiguous, (11, MPI_CHAR, &type));
    CALL(MPI_Type_commit, (&type));
    CALL(MPI_Type_set_attr, (type, key, &key));
    CALL(MPI_Type_free, (&type));
    CALL(MPI_Type_free_keyval, (&key));
}

static jmp_buf back;
static int jumps;

static void on_error(MPI_Comm *comm, int *error, ...)
{
    int class;
    CALL(MPI_Error_class, (*error, &class));
    if (jumps)
        longjmp(back, 1);
    exchange(*comm, 10);
}

static void handle_errors(void)
{
    MPI_Errhandler handler;
    CALL(MPI_Comm_create_errhandler, (on_error, &handler));
    CALL(MPI_Comm_set_errhandler, (MPI_COMM_WORLD, handler));
    for (int i = 0; i < 3; i++) {
        CALL(MPI_Send, (out, -1, MPI_CHAR, other, 1, MPI_COMM_WORLD));
        exchange(MPI_COMM_WORLD, 2);
    }
    CALL(MPI_Comm_set_errhandler, (MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    CALL(MPI_Errhandler_free, (&handler));
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    exchange(MPI_COMM_WORLD, 12);
    CALL(MPI_Status_set_elements, (status, MPI_CHAR, 5));
    CALL(MPI_Status_set_cancelled, (status, 0));
    status->MPI_SOURCE = other;
    status->MPI_TAG = 0;
    return MPI_SUCCESS;
}

static int free_state(void *state)
{
    exchange(MPI_COMM_WORLD, 13);
    ++*(int *)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

/* The requests around it are completed by the same call. */
static void own_requests(void)
{
    MPI_Request requests[3];
    int freed = 0;
    CALL(MPI_Irecv, (in, 1, MPI_CHAR, other, 1, MPI_COMM_WORLD, &requests[0]));
    CALL(MPI_Grequest_start, (query, free_state, cancel, &freed, &requests[1]));
    CALL(MPI_Isend, (out, 1, MPI_CHAR, other, 1, MPI_COMM_WORLD, &requests[2]));
    CALL(MPI_Grequest_complete, (requests[1]));
    CALL(MPI_Waitall, (3, requests, MPI_STATUSES_IGNORE));
    truth_sent(other, 1);
    truth_received(other, 1);
    if (freed != 1)
        abort();
}

static void add(void *from, void *to, int *count, MPI_Datatype *type)
{
    int size;
    CALL(MPI_Type_size, (*type, &size));
    for (int i = 0; i < *count; i++)
        ((int *)to)[i] += ((int *)from)[i];
}

static void operation(void)
{
    MPI_Op op;
    int own[3] = {1, 2, 3}, sum[3] = {0};
    CALL(MPI_Op_create, (add, 1, &op));
    /* How often it is called is up to MPI. */
    MPI_Allreduce(own, sum, 3, MPI_INT, op, MPI_COMM_WORLD);
    truth_call("MPI_Allreduce");
    if (sum[1] != 2 * truth.size)
        abort();
    CALL(MPI_Op_free, (&op));
}

static int delete_and_fail(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)state;
    if (!jumps) /* in MPI_Finalize */
        return MPI_SUCCESS;
    exchange(MPI_COMM_WORLD, 1);
    CALL(MPI_Send, (out, -1, MPI_CHAR, other, 1, MPI_COMM_WORLD));
    return MPI_SUCCESS;
}

/* MPI_Comm_delete_attr calls a function that calls MPI_Send, which calls a handler, which jumps. */
static void jump(void)
{
    MPI_Errhandler handler;
    int key;
    jumps = 1;
    CALL(MPI_Comm_create_errhandler, (on_error, &handler));
    CALL(MPI_Comm_set_errhandler, (MPI_COMM_WORLD, handler));
    CALL(MPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, delete_and_fail, &key, NULL));
    for (volatile int i = 0; i < 3; i++) {
        CALL(MPI_Comm_set_attr, (MPI_COMM_SELF, key, &rank));
        if (!setjmp(back))
            CALL(MPI_Comm_delete_attr, (MPI_COMM_SELF, key));
        exchange(MPI_COMM_WORLD, 2);
    }
    jumps = 0;
}

static int last(MPI_Comm comm, int key, void *value, void *state)
{
    MPI_Comm made;
    (void)comm;
    (void)key;
    (void)value;
    (void)state;
    exchange(MPI_COMM_WORLD, 14);
    CALL(MPI_Comm_dup, (MPI_COMM_WORLD, &made));
    CALL(MPI_Comm_free, (&made));
    truth_print();
    return MPI_SUCCESS;
}

static void end_late(void)
{
    int key;
    CALL(MPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, last, &key, NULL));
    CALL(MPI_Comm_set_attr, (MPI_COMM_SELF, key, &rank));
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "copy";
    MPI_Init(&argc, &argv);
    truth_begin();
    rank = truth.rank;
    other = truth.size - 1 - rank;
    if (strcmp(how, "copy") == 0)
        copy_and_delete(), types();
    else if (strcmp(how, "error") == 0)
        handle_errors();
    else if (strcmp(how, "request") == 0)
        own_requests();
    else if (strcmp(how, "operation") == 0)
        operation();
    else if (strcmp(how, "jump") == 0)
        jump();
    else if (strcmp(how, "finalize") == 0)
        end_late();
    exchange(MPI_COMM_WORLD, 15);
    if (strcmp(how, "finalize") != 0)
        truth_print();
    MPI_Finalize();
    return 0;
}
