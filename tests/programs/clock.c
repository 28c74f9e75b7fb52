/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls whose times are known: CLOCK_MONOTONIC just before and just after each MPI_Barrier, with pauses in between of
   over a second together, as lines "clock,RANK,BEFORE,AFTER" in ns.
     clock [kill]   each process goes to its file in $TRUTH_DIR; kill: the processes end by SIGKILL, not MPI_Finalize */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(int argc, char **argv)
{
    static const useconds_t pauses[] = {0, 1000, 10000, 100000, 300000, 0, 700000, 1000};
    char path[4096];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/%d", getenv("TRUTH_DIR"), rank);
    FILE *truth = fopen(path, "w");
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        usleep(pauses[i]);
        int64_t before_ns = now_ns();
        MPI_Barrier(MPI_COMM_SELF);
        int64_t after_ns = now_ns();
        fprintf(truth, "clock,%d,%jd,%jd\n", rank, (intmax_t)before_ns, (intmax_t)after_ns);
    }
    fclose(truth);
    if (argc > 1)
        raise(SIGKILL);
    MPI_Finalize();
    return 0;
}
