/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with all of its MPI inside it, as -static makes them: no MPI that is packaged can be linked so. This MPI
   has one process and what the recorder asks of one. */
#include <mpi.h>

#include <stddef.h>
#include <stdio.h>

static int state;

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (state > 0)
        puts("MPI_Init failed: it was called before"); /* such texts of MPI are in programs without symbols too */
    state = 1;
    return MPI_SUCCESS;
}
int PMPI_Finalize(void)
{
    state = 2;
    return MPI_SUCCESS;
}
int PMPI_Initialized(int *flag)
{
    *flag = state > 0;
    return MPI_SUCCESS;
}
int PMPI_Finalized(int *flag)
{
    *flag = state > 1;
    return MPI_SUCCESS;
}
int PMPI_Barrier(MPI_Comm comm)
{
    (void)comm;
    return MPI_SUCCESS;
}
int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    (void)comm;
    *group = 1;
    return MPI_SUCCESS;
}
int PMPI_Group_incl(MPI_Group of, int n, const int ranks[], MPI_Group *group)
{
    (void)ranks;
    *group = n > 0 ? of : MPI_GROUP_EMPTY;
    return MPI_SUCCESS;
}
int PMPI_Group_free(MPI_Group *group)
{
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}
int PMPI_Group_rank(MPI_Group group, int *rank)
{
    (void)group;
    *rank = 0;
    return MPI_SUCCESS;
}
int PMPI_Group_size(MPI_Group group, int *size)
{
    (void)group;
    *size = 1;
    return MPI_SUCCESS;
}
int PMPI_Group_translate_ranks(MPI_Group from, int n, const int ranks[], MPI_Group to, int found[])
{
    (void)from;
    (void)to;
    for (int i = 0; i < n; i++)
        found[i] = ranks[i];
    return MPI_SUCCESS;
}

#ifndef WITH_RECORDER
/* The recorder has these. */
int MPI_Init(int *argc, char ***argv)
{
    return PMPI_Init(argc, argv);
}
int MPI_Finalize(void)
{
    return PMPI_Finalize();
}
int MPI_Barrier(MPI_Comm comm)
{
    return PMPI_Barrier(comm);
}
#endif

int main(void)
{
    MPI_Init(NULL, NULL);
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
