/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/sync.h"

#include "record/clock.h"
#include "record/mpi_api.h"
#include "record/recorder.h"
#include "record/world.h"

#include <stdlib.h>

enum { SYNC_ROUNDS = 100, SYNC_TAG = 0 };

/* Launchers give a process the number of its program's processes on its host. */
static bool all_are_here(void)
{
    static const char *const names[] = {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"};
    if (recorder.size == 1)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text && strtol(text, NULL, 10) == recorder.size)
            return true;
    }
    return false;
}

bool sync_needed(uint64_t host, MPI_Comm all, uint64_t *world)
{
    *world = world_of_launcher(recorder.size);
    if (all_are_here() && !getenv("SIGHT_RECORD_TEST_CLOCK"))
        return false;
    uint64_t first[2] = {host, world_of_process()};
    PMPI_Bcast(first, sizeof first, MPI_BYTE, 0, all);
    *world = first[1];
    int other = first[0] != host, any = 0;
    PMPI_Allreduce(&other, &any, 1, MPI_INT, MPI_LOR, all);
    return any != 0;
}

/* Process 0 answers each question with its time. */
static void answer(MPI_Comm comm, int partner)
{
    for (int i = 0; i < SYNC_ROUNDS; i++) {
        int64_t now_ns;
        PMPI_Recv(&now_ns, 0, MPI_BYTE, partner, SYNC_TAG, comm, MPI_STATUS_IGNORE);
        now_ns = clock_ns();
        PMPI_Send(&now_ns, sizeof now_ns, MPI_BYTE, partner, SYNC_TAG, comm);
    }
}

/* The time was read between question and answer: each round bounds the offset from both sides. The narrowest bounds
   may come from two rounds, one with a fast question and one with a fast answer. */
static void ask(MPI_Comm comm, struct record_clock *clock)
{
    int64_t least = INT64_MIN, most = INT64_MAX, least_at = 0, most_at = 0;
    for (int i = 0; i < SYNC_ROUNDS; i++) {
        int64_t before = clock_ns(), there;
        PMPI_Send(&before, 0, MPI_BYTE, 0, SYNC_TAG, comm);
        PMPI_Recv(&there, sizeof there, MPI_BYTE, 0, SYNC_TAG, comm, MPI_STATUS_IGNORE);
        int64_t after = clock_ns();
        if (there - after > least) {
            least = there - after;
            least_at = after;
        }
        if (there - before < most) {
            most = there - before;
            most_at = before;
        }
    }
    /* Clocks that drift apart fast may have crossed bounds: narrower ones cannot be found. */
    clock->time_ns = least_at + (most_at - least_at) / 2;
    clock->offset_ns = least + (most - least) / 2;
    clock->delay_ns = most > least ? most - least : 0;
}

/* Process 0 serves one host after another. */
static void serve(MPI_Comm comm, const int *asks)
{
    for (int i = 1; asks && i < recorder.size; i++)
        if (asks[i])
            answer(comm, i);
}

void sync_clocks(struct location *location, uint64_t host, MPI_Comm of)
{
    MPI_Comm here, all;
    struct record_clock clock = {.base.ticks = clock_now()};
    int rank_here;
    PMPI_Comm_split(of, 0, recorder.rank, &all); /* in the order of the program, whatever that of `of` is */
    PMPI_Comm_split(all, (int)(host & INT32_MAX), recorder.rank, &here);
    PMPI_Comm_rank(here, &rank_here);
    int first_here = rank_here == 0;
    int *asks = recorder.rank == 0 ? calloc((size_t)recorder.size, sizeof *asks) : NULL;
    PMPI_Gather(&first_here, 1, MPI_INT, asks, 1, MPI_INT, 0, all);
    if (recorder.rank == 0)
        serve(all, asks);
    else if (first_here)
        ask(all, &clock);
    free(asks);
    /* All of a host have the clock of its first. */
    int64_t measured[3] = {clock.time_ns, clock.offset_ns, clock.delay_ns};
    PMPI_Bcast(measured, sizeof measured, MPI_BYTE, 0, here);
    clock.time_ns = measured[0];
    clock.offset_ns = measured[1];
    clock.delay_ns = measured[2];
    location_define(location, &clock, sizeof clock, RECORD_CLOCK, RECORD_WORLD);
    PMPI_Comm_free(&here);
    PMPI_Comm_free(&all);
}
