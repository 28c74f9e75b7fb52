/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of MPE's interface: its own states and events with data, recursion, messages of its own, switching off. The
   truth is how often each state is entered. */
#include "truth.h"

#include <mpe_log.h>

static int work[2], deep[2], mark;

static void recurse(int depth)
{
    MPE_Log_bare_event(deep[0]);
    truth_call("deep");
    if (depth > 0)
        recurse(depth - 1);
    MPE_Log_bare_event(deep[1]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    truth_begin();
    MPE_Init_log();
    MPE_Log_get_state_eventIDs(&work[0], &work[1]);
    MPE_Log_get_state_eventIDs(&deep[0], &deep[1]);
    MPE_Log_get_solo_eventID(&mark);
    if (truth.rank == 0) {
        MPE_Describe_info_state(work[0], work[1], "work", "red", "round=%d what=%s x=%E");
        MPE_Describe_state(deep[0], deep[1], "deep", "blue");
        MPE_Describe_info_event(mark, "milestone", "green", "at %d");
    }
    MPE_Start_log();
    for (int round = 0; round < 10; round++) {
        MPE_LOG_BYTES bytes;
        int position = 0;
        double x = round / 2.0;
        MPE_Log_event(work[0], 0, NULL);
        MPE_Log_pack(bytes, &position, 'd', 1, &round);
        MPE_Log_pack(bytes, &position, 's', 4, "step");
        MPE_Log_pack(bytes, &position, 'E', 1, &x);
        MPE_Log_event(work[1], 0, bytes);
        truth_call("work");
        recurse(2);
    }
    MPE_Log_send((truth.rank + 1) % truth.size, 1, 100);
    truth_sent((truth.rank + 1) % truth.size, 100);
    MPE_Log_receive((truth.rank + truth.size - 1) % truth.size, 1, 100);
    truth_received((truth.rank + truth.size - 1) % truth.size, 100);
    /* The same partners on a communicator in which they have other ranks. */
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -truth.rank, &reversed);
    int there = (truth.rank + 1) % truth.size, from = (truth.rank + truth.size - 1) % truth.size;
    MPE_Log_comm_send(reversed, truth.size - 1 - there, 2, 7);
    truth_sent(there, 7);
    MPE_Log_comm_event(reversed, mark, NULL);
    MPE_Log_comm_receive(reversed, truth.size - 1 - from, 2, 7);
    truth_received(from, 7);
    MPE_Describe_comm_state(reversed, deep[0], deep[1], "again", "blue", NULL);
    MPE_Describe_comm_event(reversed, mark, "again", "blue", NULL);
    MPE_Log_thread_sync(1);
    MPE_Stop_log();
    MPE_Log_bare_event(work[0]);
    MPE_Log_bare_event(work[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPE_Start_log();
    MPE_Log_sync_clocks();
    truth_print();
    MPE_Finish_log("mpe_api");
    if (strcmp(MPE_Log_merged_logfilename(), "mpe_api") != 0)
        return 2;
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return MPE_Initialized_logging() == 2 ? 0 : 1;
}
