/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on communicators of all kinds: a ring in each. Partners are counted by world rank, which the program finds
   out by itself. */
#include "truth.h"

/* Sends `integers` around, with ranks of the communicator; a collective provides the world ranks. */
static void ring(MPI_Comm comm, int integers)
{
    int rank, size, all[TRUTH_PARTNERS];
    static int out[1000], in[1000];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allgather(&truth.rank, 1, MPI_INT, all, 1, MPI_INT, comm);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request request;
    MPI_Irecv(in, 1000, MPI_INT, integers % 2 ? from : MPI_ANY_SOURCE, 3, comm, &request);
    MPI_Send(out, integers, MPI_INT, to, 3, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    truth_sent(all[to], integers * (long)sizeof(int));
    truth_received(all[from], integers * (long)sizeof(int));
}

/* Each process of one side exchanges with the one of the same rank on the other side, where there is one. */
static void across(MPI_Comm inter, int integers)
{
    int rank, size, remote, all[TRUTH_PARTNERS];
    static int out[1000], in[1000];
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_size(inter, &size);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Allgather(&truth.rank, 1, MPI_INT, all, 1, MPI_INT, inter);
    if (rank >= remote)
        return;
    MPI_Sendrecv(out, integers, MPI_INT, rank, 4, in, 1000, MPI_INT, rank, 4, inter, MPI_STATUS_IGNORE);
    truth_sent(all[rank], integers * (long)sizeof(int));
    truth_received(all[rank], integers * (long)sizeof(int));
}

static void groups(void)
{
    MPI_Group group, part;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_range_incl(group, 1, (int[1][3]){{truth.size - 1, 0, -1}}, &part);
    MPI_Comm_create(MPI_COMM_WORLD, part, &comm);
    ring(comm, 11);
    MPI_Comm_free(&comm);
    MPI_Group_free(&part);
    MPI_Group_range_incl(group, 1, (int[1][3]){{0, truth.size - 1, 2}}, &part);
    if (truth.rank % 2 == 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, part, 9, &comm);
        ring(comm, 12);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&part);
    MPI_Group_free(&group);
}

static void topologies(void)
{
    MPI_Comm cart, line, graph;
    int dims[2] = {0, 0}, periods[2] = {1, 1}, keep[2] = {0, 1};
    MPI_Dims_create(truth.size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    ring(cart, 13);
    MPI_Cart_sub(cart, keep, &line);
    ring(line, 14);
    MPI_Comm_free(&line);
    MPI_Comm_free(&cart);
    int next = (truth.rank + 1) % truth.size, before = (truth.rank + truth.size - 1) % truth.size;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &graph);
    ring(graph, 15);
    MPI_Comm_free(&graph);
}

static void sides(void)
{
    MPI_Comm half, inter, copy, merged;
    int upper = truth.rank >= (truth.size + 1) / 2;
    MPI_Comm_split(MPI_COMM_WORLD, upper, -truth.rank, &half);
    ring(half, 21);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? (truth.size + 1) / 2 - 1 : truth.size - 1, 8, &inter);
    across(inter, 22);
    MPI_Comm_dup(inter, &copy);
    across(copy, 23);
    MPI_Intercomm_merge(inter, upper, &merged);
    ring(merged, 24);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Comm comm, again, later;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    truth_begin();
    ring(MPI_COMM_WORLD, 1);
    ring(MPI_COMM_SELF, 2);
    /* Handles come back for other communicators: the last round has other members. */
    for (int i = 0; i < 20; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, truth.rank % (1 + i % 3), -truth.rank, &comm);
        ring(comm, 100 + i);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ring(comm, 5);
    MPI_Comm_dup(comm, &again);
    ring(again, 6);
    MPI_Comm_idup(again, &later, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    ring(later, 7);
    MPI_Comm_free(&later);
    MPI_Comm_free(&again);
    MPI_Comm_free(&comm);
    groups();
    topologies();
    if (truth.size > 1)
        sides();
    truth_print();
    MPI_Finalize();
    return 0;
}
