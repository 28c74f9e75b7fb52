/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of all kinds, windows and files. The truth is how often each function is called; no message is sent by
   the program itself. */
#include "truth.h"

#include <unistd.h>

enum { COUNT = 4, PROCESSES = 64 };
static int out[COUNT * PROCESSES], in[COUNT * PROCESSES], counts[PROCESSES], places[PROCESSES], bytes[PROCESSES];
static MPI_Datatype types[PROCESSES];
static const MPI_Comm *world_of_all;
#define world (*world_of_all)

static void blocking(void)
{
    int size = truth.size;
    CALL(MPI_Barrier, (world));
    CALL(MPI_Bcast, (out, COUNT, MPI_INT, size - 1, world));
    CALL(MPI_Gather, (out, COUNT, MPI_INT, in, COUNT, MPI_INT, 0, world));
    CALL(MPI_Gatherv, (out, COUNT, MPI_INT, in, counts, places, MPI_INT, 0, world));
    CALL(MPI_Scatter, (out, COUNT, MPI_INT, in, COUNT, MPI_INT, 0, world));
    CALL(MPI_Scatterv, (out, counts, places, MPI_INT, in, COUNT, MPI_INT, 0, world));
    CALL(MPI_Allgather, (out, COUNT, MPI_INT, in, COUNT, MPI_INT, world));
    CALL(MPI_Allgatherv, (out, COUNT, MPI_INT, in, counts, places, MPI_INT, world));
    CALL(MPI_Alltoall, (out, COUNT, MPI_INT, in, COUNT, MPI_INT, world));
    CALL(MPI_Alltoallv, (out, counts, places, MPI_INT, in, counts, places, MPI_INT, world));
    CALL(MPI_Alltoallw, (out, counts, bytes, types, in, counts, bytes, types, world));
    CALL(MPI_Reduce, (out, in, COUNT, MPI_INT, MPI_SUM, 0, world));
    CALL(MPI_Allreduce, (out, in, COUNT, MPI_INT, MPI_SUM, world));
    CALL(MPI_Reduce_scatter, (out, in, counts, MPI_INT, MPI_SUM, world));
    CALL(MPI_Reduce_scatter_block, (out, in, COUNT, MPI_INT, MPI_SUM, world));
    CALL(MPI_Scan, (out, in, COUNT, MPI_INT, MPI_SUM, world));
    CALL(MPI_Exscan, (out, in, COUNT, MPI_INT, MPI_SUM, world));
}

static void wait_for(MPI_Request *request)
{
    CALL(MPI_Wait, (request, MPI_STATUS_IGNORE));
}

static void non_blocking(void)
{
    MPI_Request request;
    CALL(MPI_Ibarrier, (world, &request));
    wait_for(&request);
    CALL(MPI_Ibcast, (out, COUNT, MPI_INT, 0, world, &request));
    wait_for(&request);
    CALL(MPI_Igather, (out, COUNT, MPI_INT, in, COUNT, MPI_INT, 0, world, &request));
    wait_for(&request);
    CALL(MPI_Iscatter, (out, COUNT, MPI_INT, in, COUNT, MPI_INT, 0, world, &request));
    wait_for(&request);
    CALL(MPI_Iallgather, (out, COUNT, MPI_INT, in, COUNT, MPI_INT, world, &request));
    wait_for(&request);
    CALL(MPI_Ialltoall, (out, COUNT, MPI_INT, in, COUNT, MPI_INT, world, &request));
    wait_for(&request);
    CALL(MPI_Ireduce, (out, in, COUNT, MPI_INT, MPI_SUM, 0, world, &request));
    wait_for(&request);
    CALL(MPI_Iallreduce, (out, in, COUNT, MPI_INT, MPI_SUM, world, &request));
    wait_for(&request);
    CALL(MPI_Iscan, (out, in, COUNT, MPI_INT, MPI_SUM, world, &request));
    wait_for(&request);
}

/* Two of them on their way at once. */
static void persistent(void)
{
#if MPI_VERSION >= 4
    MPI_Request requests[2];
    CALL(MPI_Bcast_init, (out, COUNT, MPI_INT, truth.size - 1, world, MPI_INFO_NULL, &requests[0]));
    CALL(MPI_Gather_init, (out, COUNT, MPI_INT, in, COUNT, MPI_INT, 0, world, MPI_INFO_NULL, &requests[1]));
    for (int i = 0; i < 2; i++) {
        CALL(MPI_Startall, (2, requests));
        CALL(MPI_Waitall, (2, requests, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < 2; i++)
        CALL(MPI_Request_free, (&requests[i]));
#endif
}

static void neighbours(void)
{
    MPI_Comm cart;
    int dims = truth.size, periods = 1;
    CALL(MPI_Cart_create, (world, 1, &dims, &periods, 0, &cart));
    CALL(MPI_Neighbor_allgather, (out, COUNT, MPI_INT, in, COUNT, MPI_INT, cart));
    CALL(MPI_Neighbor_allgatherv, (out, COUNT, MPI_INT, in, counts, places, MPI_INT, cart));
    CALL(MPI_Neighbor_alltoall, (out, COUNT, MPI_INT, in, COUNT, MPI_INT, cart));
    CALL(MPI_Comm_free, (&cart));
    /* With a border: process 0 has one neighbour. */
    periods = 0;
    MPI_Aint far[2] = {0, COUNT * sizeof(int)};
    CALL(MPI_Cart_create, (world, 1, &dims, &periods, 0, &cart));
    CALL(MPI_Neighbor_alltoallv, (out, counts, places, MPI_INT, in, counts, places, MPI_INT, cart));
    CALL(MPI_Neighbor_alltoallw, (out, counts, far, types, in, counts, far, types, cart));
    CALL(MPI_Comm_free, (&cart));
}

static void windows(void)
{
    MPI_Win window;
    static int memory[COUNT];
    int next = (truth.rank + 1) % truth.size;
    CALL(MPI_Win_create, (memory, sizeof memory, sizeof(int), MPI_INFO_NULL, world, &window));
    CALL(MPI_Win_fence, (0, window));
    CALL(MPI_Put, (out, COUNT, MPI_INT, next, 0, COUNT, MPI_INT, window));
    CALL(MPI_Win_fence, (0, window));
    CALL(MPI_Get, (in, COUNT, MPI_INT, next, 0, COUNT, MPI_INT, window));
    CALL(MPI_Win_fence, (0, window));
    CALL(MPI_Win_lock, (MPI_LOCK_SHARED, next, 0, window));
    CALL(MPI_Accumulate, (out, COUNT, MPI_INT, next, 0, COUNT, MPI_INT, MPI_SUM, window));
    CALL(MPI_Win_unlock, (next, window));
    CALL(MPI_Win_free, (&window));
}

static void files(void)
{
    MPI_File file;
    const char *name = "collectives.dat";
    CALL(MPI_File_open, (world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CALL(MPI_File_write_at_all, (file, truth.rank * (MPI_Offset)sizeof out, out, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    CALL(MPI_File_read_at, (file, 0, in, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    CALL(MPI_File_close, (&file));
    CALL(MPI_Barrier, (world));
    if (truth.rank == 0)
        unlink(name);
}

int main(int argc, char **argv)
{
    MPI_Comm all = MPI_COMM_WORLD;
    world_of_all = &all;
    CALL(MPI_Init, (&argc, &argv));
    CALL(MPI_Comm_rank, (MPI_COMM_WORLD, &truth.rank));
    CALL(MPI_Comm_size, (MPI_COMM_WORLD, &truth.size));
    for (int i = 0; i < truth.size && i < PROCESSES; i++) {
        counts[i] = COUNT;
        places[i] = i * COUNT;
        bytes[i] = i * COUNT * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    blocking();
    non_blocking();
    persistent();
    neighbours();
    windows();
    files();
    MPI_Pcontrol(0);
    MPI_Barrier(world);
    MPI_Pcontrol(1);
    truth_call("MPI_Finalize");
    truth_print();
    MPI_Finalize();
    return 0;
}
