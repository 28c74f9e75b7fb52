/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts more processes of itself, three and again three. Messages go within each world, from one to the other, and
   within communicators made of both. In the trace all have one row of ranks: those that were there first, then those
   that were started, in their order. */
#include "truth.h"

#include <stdbool.h>

enum { CHILDREN = 3 };

/* Each sends to the next of `comm`; members[i] is the rank of member i in the trace. */
static void ring(MPI_Comm comm, const int *members, int bytes)
{
    char out[64] = {0}, in[64];
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Sendrecv(out, bytes, MPI_CHAR, next, 1, in, sizeof in, MPI_CHAR, before, 1, comm, MPI_STATUS_IGNORE);
    truth_sent(members[next], bytes);
    truth_received(members[before], bytes);
}

/* The joint work of both sides of `other`; `parents` and `first_child` are their places in the trace. */
static void together(MPI_Comm other, bool child, int parents, int first_child)
{
    char data[64] = {0};
    int rank, members[TRUTH_PARTNERS], half[TRUTH_PARTNERS], size = parents + CHILDREN, halves = 0;
    MPI_Comm merged, copy, part;
    MPI_Comm_rank(other, &rank);
    if (!child && rank == 0) {
        for (int i = 0; i < CHILDREN; i++) {
            MPI_Send(data, 30 + i, MPI_CHAR, i, 0, other);
            truth_sent(first_child + i, 30 + i);
        }
    } else if (child) {
        MPI_Recv(data, 30 + rank, MPI_CHAR, 0, 0, other, MPI_STATUS_IGNORE);
        truth_received(0, 30 + rank);
    }
    for (int i = 0; i < size; i++)
        members[i] = i < parents ? i : first_child + i - parents;
    MPI_Intercomm_merge(other, child, &merged);
    ring(merged, members, 40);
    MPI_Comm_dup(merged, &copy);
    ring(copy, members, 41);
    MPI_Comm_rank(merged, &rank);
    for (int i = rank % 2; i < size; i += 2)
        half[halves++] = members[i];
    MPI_Comm_split(copy, rank % 2, 0, &part);
    ring(part, half, 42);
    MPI_Barrier(merged);
    MPI_Comm_free(&part);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&other);
}

/* spawn [FIRST]: the rank in the trace of the first of this world. */
int main(int argc, char **argv)
{
    MPI_Comm parent;
    int first = argc > 1 ? atoi(argv[1]) : 0, members[TRUTH_PARTNERS];
    MPI_Init(&argc, &argv);
    truth_begin();
    truth.rank += first;
    for (int i = 0; i < truth.size; i++)
        members[i] = first + i;
    MPI_Comm_get_parent(&parent);
    ring(MPI_COMM_WORLD, members, 10);
    if (parent == MPI_COMM_NULL) {
        for (int i = 0; i < 2; i++) {
            char place[16], *arguments[] = {place, NULL};
            MPI_Comm other;
            snprintf(place, sizeof place, "%d", truth.size + i * CHILDREN);
            MPI_Comm_spawn(argv[0], arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
            together(other, false, truth.size, truth.size + i * CHILDREN);
        }
    } else {
        int parents;
        MPI_Comm_remote_size(parent, &parents);
        together(parent, true, parents, first);
    }
    truth_print();
    MPI_Finalize();
    return 0;
}
