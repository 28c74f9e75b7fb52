/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts more processes of itself. Each world passes a message around; one goes from one world to the other. The truth
   is printed by the world that is asked for: "spawn parents" or "spawn children". */
#include "truth.h"

static void ring(int bytes)
{
    char out[64] = {0}, in[64];
    int next = (truth.rank + 1) % truth.size, before = (truth.rank + truth.size - 1) % truth.size;
    MPI_Sendrecv(out, bytes, MPI_CHAR, next, 1, in, sizeof in, MPI_CHAR, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    truth_sent(next, bytes);
    truth_received(before, bytes);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, other;
    int value = 1;
    MPI_Init(&argc, &argv);
    truth_begin();
    MPI_Comm_get_parent(&parent);
    int print = strcmp(argv[1], parent == MPI_COMM_NULL ? "parents" : "children") == 0;
    ring(parent == MPI_COMM_NULL ? 10 : 20);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], &argv[1], 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
        if (truth.rank == 0)
            MPI_Send(&value, 1, MPI_INT, 0, 0, other);
        MPI_Comm_disconnect(&other);
    } else {
        if (truth.rank == 0)
            MPI_Recv(&value, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&parent);
    }
    if (print)
        truth_print();
    MPI_Finalize();
    return 0;
}
