/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages whose requests are freed, also after they were cancelled, and those that a call sends and receives at once.
   (A send that is cancelled and waited for never ends under either MPI unless it is received.)
       cancel freed-send | freed-cancel | exchange | any */
#include "truth.h"

static int rank, other;
static char out[16], in[64];

static void freed_send(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(out, 5, MPI_CHAR, other, 10, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        truth_sent(other, 5);
    } else {
        MPI_Recv(in, 5, MPI_CHAR, other, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_received(other, 5);
    }
}

/* Its outcome is never known: it does not count as a message. */
static void freed_cancel(void)
{
    MPI_Request request;
    MPI_Issend(out, 6, MPI_CHAR, rank, 11, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    MPI_Sendrecv(out, 1, MPI_CHAR, other, 14, in, 1, MPI_CHAR, other, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    truth_sent(other, 1);
    truth_received(other, 1);
}

static void exchange(int from)
{
#if MPI_VERSION >= 4
    MPI_Request requests[2];
    for (int i = 0; i < 4; i++) {
        MPI_Isendrecv(out, 3, MPI_CHAR, other, 12, in, 3, MPI_CHAR, from, 12, MPI_COMM_WORLD, &requests[0]);
        MPI_Isendrecv_replace(in + 16, 2, MPI_CHAR, other, 13, from, 13, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int bytes = 2; bytes <= 3; bytes++) {
            truth_sent(other, bytes);
            truth_received(other, bytes);
        }
    }
#else
    (void)from;
#endif
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "freed-send";
    MPI_Init(&argc, &argv);
    truth_begin();
    rank = truth.rank;
    other = truth.size - 1 - rank;
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "freed-send") == 0)
        freed_send();
    else if (strcmp(how, "freed-cancel") == 0)
        freed_cancel();
    else
        exchange(strcmp(how, "any") == 0 ? MPI_ANY_SOURCE : other);
    MPI_Barrier(MPI_COMM_WORLD);
    truth_print();
    MPI_Finalize();
    return 0;
}
