/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that contains a tool: its own MPI_Init, MPI_Send and MPI_Finalize stand before MPI's. */
#include "truth.h"

static int calls;

int MPI_Init(int *argc, char ***argv)
{
    calls++;
    return PMPI_Init(argc, argv);
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    calls++;
    return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Finalize(void)
{
    calls++;
    FILE *file = truth_open();
    fprintf(file, "tool: %d calls\n", calls);
    fclose(file);
    return PMPI_Finalize();
}

int main(int argc, char **argv)
{
    char data[3] = {0};
    MPI_Init(&argc, &argv);
    truth_begin();
    for (int i = 0; i < 5; i++)
        if (truth.rank == 0) {
            MPI_Send(data, 3, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
            truth_sent(1, 3);
        } else {
            MPI_Recv(data, 3, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            truth_received(0, 3);
        }
    truth_print();
    MPI_Finalize();
    return 0;
}
