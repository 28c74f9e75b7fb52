/* SPDX-License-Identifier: BSD-3-Clause */
/* Many iterations, for recordings of which only a sample is kept: iterations ITERATIONS KIND. In each, messages go
   around a ring, and a collective call ends it. Of KIND world that is MPI_Allreduce of all processes; rows: only of
   half of them; alone: there is none. As world, but: tags: each message has a tag of its own; comms: a communicator of
   its own, which is freed; callbacks: there is another ring, within MPI_Comm_delete_attr, which also synchronises all;
   states: the ring is in
   a state of the program, which only process 0 describes; kill: every process kills itself at the end, with one message
   on its way. */
#include "truth.h"

#include <signal.h>

enum { BYTES = 1000 };

/* Of the recorder; not there in a program that is not recorded. */
int MPE_Log_get_state_eventIDs(int *start, int *end) __attribute__((weak));
int MPE_Describe_state(int start, int end, const char *name, const char *color) __attribute__((weak));
int MPE_Log_bare_event(int event) __attribute__((weak));

static char in[BYTES], out[BYTES];

static void ring(int i, int tag, MPI_Comm comm)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int next = (truth.rank + 1) % truth.size, before = (truth.rank + truth.size - 1) % truth.size;
    CALL(MPI_Irecv, (in, BYTES, MPI_BYTE, before, tag, comm, &requests[0]));
    CALL(MPI_Isend, (out, i % BYTES, MPI_BYTE, next, tag, comm, &requests[1]));
    CALL(MPI_Waitall, (2, requests, statuses));
    truth_sent(next, i % BYTES);
    truth_received(before, i % BYTES);
}

/* Called by MPI_Comm_delete_attr. */
static int delete_attribute(MPI_Comm comm, int key, void *value, void *state)
{
    double one = 1, sum;
    (void)key;
    (void)state;
    ring(*(int *)value, 8, comm);
    CALL(MPI_Allreduce, (&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return MPI_SUCCESS;
}

static void callback(int i)
{
    static int key = MPI_KEYVAL_INVALID;
    if (key == MPI_KEYVAL_INVALID)
        CALL(MPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, delete_attribute, &key, NULL));
    CALL(MPI_Comm_set_attr, (MPI_COMM_WORLD, key, &i));
    CALL(MPI_Comm_delete_attr, (MPI_COMM_WORLD, key));
}

int main(int argc, char **argv)
{
    int iterations = atoi(argv[1]);
    const char *kind = argv[2];
    MPI_Comm rows;
    (void)argc;
    MPI_Init(NULL, NULL);
    truth_begin();
    MPI_Comm_split(MPI_COMM_WORLD, truth.rank % 2, 0, &rows);
    int state[2], states = strcmp(kind, "states") == 0 && MPE_Log_bare_event;
    if (states) {
        MPE_Log_get_state_eventIDs(&state[0], &state[1]);
        if (truth.rank == 0)
            MPE_Describe_state(state[0], state[1], "the ring", "red");
    }
    for (int i = 0; i < iterations; i++) {
        double one = 1, sum;
        MPI_Comm comm = MPI_COMM_WORLD;
        if (strcmp(kind, "comms") == 0)
            CALL(MPI_Comm_dup, (MPI_COMM_WORLD, &comm));
        if (states)
            MPE_Log_bare_event(state[0]);
        ring(i, strcmp(kind, "tags") == 0 ? i : 7, comm);
        if (states)
            MPE_Log_bare_event(state[1]);
        if (comm != MPI_COMM_WORLD)
            CALL(MPI_Comm_free, (&comm));
        if (strcmp(kind, "callbacks") == 0)
            callback(i);
        if (strcmp(kind, "rows") == 0)
            CALL(MPI_Allreduce, (&one, &sum, 1, MPI_DOUBLE, MPI_SUM, rows));
        else if (strcmp(kind, "alone") != 0)
            CALL(MPI_Allreduce, (&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    }
    if (strcmp(kind, "kill") == 0) {
        /* The next process never receives it. */
        MPI_Request request;
        CALL(MPI_Isend, (out, 1, MPI_BYTE, (truth.rank + 1) % truth.size, 99, MPI_COMM_WORLD, &request));
        truth_sent((truth.rank + 1) % truth.size, 1);
        truth_print();
        /* Launchers kill the others when one ends: all have printed by then. */
        PMPI_Barrier(MPI_COMM_WORLD);
        raise(SIGKILL);
    }
    truth_print();
    MPI_Finalize();
}
