/* SPDX-License-Identifier: BSD-3-Clause */
/* The plug-in of team.h, built once for each MPI. */
#include "team/team_mpi.h"

#include "core/numbers.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

__attribute__((visibility("default"))) extern const struct team_mpi sight_team_mpi;

enum { TAG_SIZE, TAG_DATA };

/* MPI counts in int. */
static const size_t PIECE = (size_t)1 << 30;

/* Processes that wait must leave the processor to those that work: MPI itself would spin. From 20 us, so that short
   answers are not late, to 2 ms, at which polling costs less than 1 % of a core. */
enum { NAP_FIRST_NS = 20 * 1000, NAP_MOST_NS = 2 * 1000 * 1000 };

static void nap(long *ns)
{
    nanosleep(&(struct timespec){.tv_nsec = *ns}, NULL);
    *ns = smaller(*ns * 2, NAP_MOST_NS);
}

static void complete(MPI_Request *request)
{
    int done = 0;
    long ns = NAP_FIRST_NS;
    for (MPI_Test(request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(request, &done, MPI_STATUS_IGNORE))
        nap(&ns);
}

/* Open MPI looks for networks for 0.2 s, which processes of one machine do not need. What the user has set stays. */
static void need_no_network(void)
{
    const char *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE"), *all = getenv("OMPI_COMM_WORLD_SIZE");
    if (!here || !all || strcmp(here, all) != 0)
        return;
    setenv("OMPI_MCA_pml", "ob1", 0);
    setenv("OMPI_MCA_btl", "^openib,ofi,usnic", 0);
}

static void join(int *rank, int *size)
{
    int provided;
    need_no_network();
    /* Only the thread that joined calls MPI (team.h). What is provided does not matter: every MPI provides that. */
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
}

static void tell(uint64_t own, uint64_t *all)
{
    MPI_Request request;
    MPI_Iallgather(&own, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD, &request);
    complete(&request);
}

static void send(int to, const void *data, size_t size)
{
    /* The size goes ahead, as the receiver needs the memory, and pieces do not say how many follow. They need no
       numbers: messages of a pair with one tag do not overtake each other. */
    uint64_t whole = size;
    MPI_Request request;
    MPI_Isend(&whole, 1, MPI_UINT64_T, to, TAG_SIZE, MPI_COMM_WORLD, &request);
    complete(&request);
    for (size_t at = 0; at < size; at += PIECE) {
        size_t piece = smaller(size - at, PIECE);
        MPI_Isend((const char *)data + at, (int)piece, MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD, &request);
        complete(&request);
    }
}

static size_t wait_for(int from)
{
    uint64_t size = 0;
    MPI_Request request;
    MPI_Irecv(&size, 1, MPI_UINT64_T, from, TAG_SIZE, MPI_COMM_WORLD, &request);
    complete(&request);
    return (size_t)size;
}

static void receive(int from, void *data, size_t size)
{
    for (size_t at = 0; at < size; at += PIECE) {
        size_t piece = smaller(size - at, PIECE);
        MPI_Request request;
        MPI_Irecv((char *)data + at, (int)piece, MPI_BYTE, from, TAG_DATA, MPI_COMM_WORLD, &request);
        complete(&request);
    }
}

static void leave(void)
{
    /* Collective: returns once all are here. Rank 0 must have ended the others' work first (engine_serve_end). */
    MPI_Finalize();
}

const struct team_mpi sight_team_mpi = {join, tell, send, wait_for, receive, leave};
