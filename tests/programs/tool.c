/* SPDX-License-Identifier: BSD-3-Clause */
/* A program and a tool between it and MPI, a shared library (itself, compiled with -DLIBRARY) that gives every message
   another tag: the program ends only if the tool gets its calls. */
#include "truth.h"

#ifdef LIBRARY

static int sends, ranks;

int MPI_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv), rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return result;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    ranks++;
    return PMPI_Comm_rank(comm, rank);
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, type, dest, tag + 1, comm);
}

int MPI_Finalize(void)
{
    int all[2], own[2] = {sends, ranks};
    PMPI_Allreduce(own, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    truth_begin();
    FILE *file = truth_open();
    fprintf(file, "tool: %d sends, %d ranks\n", all[0], all[1]);
    fclose(file);
    return PMPI_Finalize();
}

#else

int main(int argc, char **argv)
{
    char data[3] = {0};
    MPI_Init(&argc, &argv);
    truth_begin();
    for (int i = 0; i < 5; i++)
        if (truth.rank == 0)
            MPI_Send(data, 3, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        else
            MPI_Recv(data, 3, MPI_CHAR, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

#endif
