/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI without MPI_COMM_WORLD: two sessions at once, a communicator of all processes in another order, one of some.
     sessions only|inside|around|again
   inside: MPI_Init and MPI_Finalize while there are sessions; around: sessions between these; again: all a second time,
   after the last session has ended. */
#include "truth.h"

#include <stdbool.h>

static MPI_Comm comm_of(MPI_Group group, const char *tag)
{
    MPI_Comm comm;
    CALL(MPI_Comm_create_from_group, (group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    return comm;
}

/* Each sends to the next of `comm`; `world_rank` are the ranks of its members. */
static void ring(MPI_Comm comm, const int *world_rank, int bytes)
{
    char out[64] = {0}, in[64];
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    CALL(MPI_Sendrecv, (out, bytes, MPI_CHAR, next, 1, in, sizeof in, MPI_CHAR, before, 1, comm, MPI_STATUS_IGNORE));
    truth_sent(world_rank[next], bytes);
    truth_received(world_rank[before], bytes);
}

static void session(void (*inside)(void))
{
    MPI_Session first, second;
    MPI_Group all, backwards, upper;
    CALL(MPI_Session_init, (MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first));
    CALL(MPI_Session_init, (MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second));
    MPI_Group_from_session_pset(first, "mpi://WORLD", &all);
    MPI_Group_rank(all, &truth.rank);
    MPI_Group_size(all, &truth.size);
    int *order = malloc((size_t)truth.size * sizeof *order), half = truth.size / 2;
    for (int i = 0; i < truth.size; i++)
        order[i] = truth.size - 1 - i;
    MPI_Group_incl(all, truth.size, order, &backwards);
    MPI_Comm comm = comm_of(backwards, "backwards");
    ring(comm, order, 10);
    CALL(MPI_Barrier, (comm));
    MPI_Comm_free(&comm);
    MPI_Group_incl(all, half, order, &upper);
    if (truth.rank >= truth.size - half) {
        comm = comm_of(upper, "upper");
        ring(comm, order, 20);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&backwards);
    MPI_Group_free(&upper);
    if (inside)
        inside();
    CALL(MPI_Session_finalize, (&second));
    CALL(MPI_Session_finalize, (&first));
    free(order);
}

static void world(void)
{
    int rank, size, in;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    CALL(MPI_Sendrecv, (&next, 1, MPI_INT, next, 2, &in, 1, MPI_INT, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    truth_sent(next, sizeof(int));
    truth_received(before, sizeof(int));
}

static void whole_world(void)
{
    CALL(MPI_Init, (NULL, NULL));
    world();
    CALL(MPI_Finalize, ());
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "only";
    bool inside = strcmp(how, "inside") == 0, around = strcmp(how, "around") == 0;
    if (around)
        CALL(MPI_Init, (NULL, NULL));
    session(inside ? whole_world : NULL);
    if (strcmp(how, "again") == 0)
        session(NULL);
    if (around) {
        world();
        CALL(MPI_Finalize, ());
    }
    truth_print();
    return 0;
}
