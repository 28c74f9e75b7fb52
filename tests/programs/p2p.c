/* SPDX-License-Identifier: BSD-3-Clause */
/* Every way to send and to receive between two processes; further processes only watch. Each step sends a known number
   of integers from 0 to 1. */
#include "truth.h"

enum { TAG = 5 };
static int out[4096], in[4096];
static int me;
static MPI_Comm world;

static void note(int integers)
{
    if (me == 0)
        truth_sent(1, integers * (long)sizeof(int));
    else
        truth_received(0, integers * (long)sizeof(int));
}

static void blocking(void)
{
    static int buffer[8192];
    if (me == 0) {
        MPI_Send(out, 1, MPI_INT, 1, TAG, world);
        MPI_Ssend(out, 2, MPI_INT, 1, TAG, world);
        MPI_Buffer_attach(buffer, sizeof buffer);
        MPI_Bsend(out, 3, MPI_INT, 1, TAG, world);
        int size;
        void *attached;
        MPI_Buffer_detach(&attached, &size);
        MPI_Recv(NULL, 0, MPI_INT, 1, 99, world, MPI_STATUS_IGNORE);
        truth_received(1, 0);
        MPI_Rsend(out, 4, MPI_INT, 1, TAG, world);
    } else {
        MPI_Request ready;
        MPI_Recv(in, 4096, MPI_INT, 0, TAG, world, MPI_STATUS_IGNORE);
        MPI_Recv(in, 4096, MPI_INT, MPI_ANY_SOURCE, TAG, world, MPI_STATUS_IGNORE);
        MPI_Status status;
        MPI_Recv(in, 4096, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
        MPI_Irecv(in, 4096, MPI_INT, 0, TAG, world, &ready);
        MPI_Send(NULL, 0, MPI_INT, 0, 99, world);
        truth_sent(0, 0);
        MPI_Wait(&ready, MPI_STATUS_IGNORE);
    }
    for (int i = 1; i <= 4; i++)
        note(i);
    int got = me;
    MPI_Sendrecv(out, 10, MPI_INT, 1 - me, TAG, in, 4096, MPI_INT, 1 - me, TAG, world, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(&got, 1, MPI_INT, 1 - me, TAG, 1 - me, TAG, world, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) {
        truth_sent(1 - me, i ? 4 : 40);
        truth_received(1 - me, i ? 4 : 40);
    }
    MPI_Send(out, 10, MPI_INT, MPI_PROC_NULL, TAG, world);
    MPI_Recv(in, 10, MPI_INT, MPI_PROC_NULL, TAG, world, MPI_STATUS_IGNORE);
}

static void non_blocking(void)
{
    static int buffer[8192];
    MPI_Request requests[6];
    if (me == 0) {
        MPI_Buffer_attach(buffer, sizeof buffer);
        MPI_Isend(out, 1, MPI_INT, 1, TAG, world, &requests[0]);
        MPI_Issend(out, 2, MPI_INT, 1, TAG, world, &requests[1]);
        MPI_Ibsend(out, 3, MPI_INT, 1, TAG, world, &requests[2]);
        MPI_Barrier(world);
        MPI_Irsend(out, 4, MPI_INT, 1, TAG + 1, world, &requests[3]);
        MPI_Isend(out, 5, MPI_INT, MPI_PROC_NULL, TAG, world, &requests[4]);
        requests[5] = MPI_REQUEST_NULL;
        MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
        int size;
        void *attached;
        MPI_Buffer_detach(&attached, &size);
    } else {
        MPI_Status statuses[6];
        for (int i = 0; i < 3; i++)
            MPI_Irecv(in + 100 * i, 100, MPI_INT, i ? 0 : MPI_ANY_SOURCE, TAG, world, &requests[i]);
        MPI_Irecv(in + 300, 100, MPI_INT, 0, TAG + 1, world, &requests[3]);
        MPI_Barrier(world);
        requests[4] = MPI_REQUEST_NULL;
        MPI_Irecv(in, 1, MPI_INT, MPI_PROC_NULL, TAG, world, &requests[5]);
        MPI_Waitall(6, requests, statuses);
    }
    for (int i = 1; i <= 4; i++)
        note(i);
}

/* The receiver completes its requests in every way there is; `way` chooses. */
static void complete(int way, MPI_Request *requests, int count)
{
    int index, flag = 0, done, indices[8], left = count;
    MPI_Status statuses[8];
    if (way == 0)
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    if (way == 1)
        while (!flag)
            MPI_Testall(count, requests, &flag, way ? statuses : MPI_STATUSES_IGNORE);
    for (int i = 0; way == 2 && i < count; i++)
        MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
    for (int i = 0; way == 3 && i < count; i += flag)
        MPI_Testany(count, requests, &index, &flag, &statuses[0]);
    while (way == 4 && left > 0) {
        MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
        left -= done;
    }
    while (way == 5 && left > 0) {
        MPI_Testsome(count, requests, &done, indices, statuses);
        left -= done;
    }
    for (int i = 0; way == 6 && i < count; i++) {
        MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[i], &statuses[0]);
    }
    for (int i = 0; way == 7 && i < count; i++)
        do
            MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        while (!flag);
}

static void completions(void)
{
    enum { COUNT = 8, WAYS = 8 };
    MPI_Request requests[COUNT];
    for (int way = 0; way < WAYS; way++) {
        for (int i = 0; i < COUNT; i++) {
            if (me == 0)
                MPI_Isend(out, way + i, MPI_INT, 1, i, world, &requests[i]);
            else
                MPI_Irecv(in + 100 * i, 100, MPI_INT, 0, i, world, &requests[i]);
            note(way + i);
        }
        complete(way, requests, COUNT);
    }
}

static void persistent(void)
{
    static int buffer[8192];
    MPI_Request requests[3];
    if (me == 0) {
        MPI_Buffer_attach(buffer, sizeof buffer);
        MPI_Send_init(out, 1, MPI_INT, 1, TAG, world, &requests[0]);
        MPI_Ssend_init(out, 2, MPI_INT, 1, TAG, world, &requests[1]);
        MPI_Bsend_init(out, 3, MPI_INT, 1, TAG, world, &requests[2]);
    } else {
        for (int i = 0; i < 3; i++)
            MPI_Recv_init(in + 10 * i, 10, MPI_INT, MPI_ANY_SOURCE, TAG, world, &requests[i]);
    }
    for (int round = 0; round < 5; round++) {
        if (round % 2)
            MPI_Startall(3, requests);
        for (int i = 0; round % 2 == 0 && i < 3; i++)
            MPI_Start(&requests[i]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE); /* inactive now: nothing happens */
        for (int i = 1; i <= 3; i++)
            note(i);
    }
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&requests[i]);
    int size;
    void *attached;
    if (me == 0)
        MPI_Buffer_detach(&attached, &size);
}

static void probed(void)
{
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int flag = 0;
    for (int i = 1; i <= 4; i++) {
        if (me == 0)
            MPI_Send(out, i, MPI_INT, 1, TAG, world);
        note(i);
    }
    if (me == 0)
        return;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
    MPI_Recv(in, 100, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, world, MPI_STATUS_IGNORE);
    while (!flag)
        MPI_Iprobe(0, TAG, world, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(in, 100, MPI_INT, 0, TAG, world, &status);
    MPI_Mprobe(MPI_ANY_SOURCE, TAG, world, &message, &status);
    MPI_Mrecv(in, 100, MPI_INT, &message, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;)
        MPI_Improbe(0, TAG, world, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(in, 100, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
}

/* Whether a send can be cancelled is MPI's affair: one that was not is received. */
static void cancelled_send(void)
{
    int other = 1 - truth.rank, value = 5, gone = 0;
    MPI_Request request;
    MPI_Status status;
    if (truth.rank == 0) {
        MPI_Isend(&value, 1, MPI_INT, other, 70, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &gone);
        MPI_Send(&gone, 1, MPI_INT, other, 71, MPI_COMM_WORLD);
        truth_sent(other, sizeof gone);
        if (!gone)
            truth_sent(other, sizeof value);
    } else if (truth.rank == 1) {
        MPI_Recv(&gone, 1, MPI_INT, other, 71, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_received(other, sizeof gone);
        if (!gone) {
            MPI_Recv(&value, 1, MPI_INT, other, 70, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            truth_received(other, sizeof value);
        }
    }
}

static void cancelled(void)
{
    MPI_Request request;
    MPI_Status status;
    int gone;
    MPI_Barrier(world);
    if (me == 1) {
        MPI_Irecv(in, 10, MPI_INT, 0, 77, world, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &gone);
        if (!gone)
            truth_received(0, 0);
        /* Its handle may be used again: this one is received. */
        MPI_Irecv(in, 10, MPI_INT, 0, 78, world, &request);
        MPI_Wait(&request, &status);
    } else {
        MPI_Send(out, 7, MPI_INT, 1, 78, world);
        MPI_Isend(out, 2, MPI_INT, 1, 79, world, &request);
        MPI_Request_free(&request);
    }
    note(7);
    if (me == 1)
        MPI_Recv(in, 2, MPI_INT, 0, 79, world, MPI_STATUS_IGNORE);
    note(2);
    MPI_Barrier(world);
}

/* Calls that fail are no messages. */
static void failing(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    if (MPI_Send(out, 1, MPI_INT, 1000, TAG, world) == MPI_SUCCESS ||
        MPI_Isend(out, 1, MPI_INT, -1000, TAG, world, &request) == MPI_SUCCESS ||
        MPI_Recv(in, 1, MPI_INT, 1000, TAG, world, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        puts("what should fail does not");
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

static void types(void)
{
    MPI_Datatype vector;
    MPI_Type_vector(10, 2, 5, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    static double values[64];
    if (me == 0)
        MPI_Send(values, 1, vector, 1, TAG, world);
    else
        MPI_Recv(values, 20, MPI_DOUBLE, 0, TAG, world, MPI_STATUS_IGNORE);
    note(40);
    MPI_Type_free(&vector);
    static int large[1 << 18];
    if (me == 0)
        MPI_Send(large, 1 << 18, MPI_INT, 1, TAG, world);
    else
        MPI_Recv(large, 1 << 18, MPI_INT, 0, TAG, world, MPI_STATUS_IGNORE);
    note(1 << 18);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    truth_begin();
    MPI_Comm_split(MPI_COMM_WORLD, truth.rank < 2 ? 0 : MPI_UNDEFINED, 0, &world);
    me = truth.rank;
    if (me < 2) {
        blocking();
        non_blocking();
        completions();
        persistent();
        probed();
        cancelled();
        cancelled_send();
        failing();
        types();
        MPI_Comm_free(&world);
    }
    truth_print();
    MPI_Finalize();
    return 0;
}
