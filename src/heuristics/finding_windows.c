/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings from the wait states of one-sided communication. */
#include "heuristics/wait_words.h"

bool find_wait_at_fence(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_AT_FENCE,
        "waiting at fences",
        "for the last process to arrive at MPI_Win_fence",
        "the last to arrive",
        "balance the work before the fence; or let processes wait only for those whose windows they access: "
        "MPI_Win_post, MPI_Win_start, MPI_Win_complete and MPI_Win_wait instead of MPI_Win_fence",
        NULL};
    return find_waits(input, &words, finding);
}

bool find_late_post(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {WAIT_LATE_POST,
                                            "windows posted late",
                                            "for windows that have not been posted yet",
                                            "late with MPI_Win_post",
                                            "call MPI_Win_post as soon as the window's data are no longer in use, "
                                            "before computing; or compute first and call MPI_Win_start later",
                                            NULL};
    return find_waits(input, &words, finding);
}

bool find_early_wait(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_EARLY_WAIT,
        "waiting for accesses to windows",
        "for the last MPI_Put or MPI_Get of the processes that access the window",
        "late with its accesses",
        "let the target do work that does not need the data before MPI_Win_wait (MPI_Win_test checks whether they have "
        "arrived); or let the other processes access the window sooner, and compute after MPI_Win_complete",
        NULL};
    return find_waits(input, &words, finding);
}

bool find_late_complete(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_LATE_COMPLETE,
        "accesses completed late",
        "for MPI_Win_complete of processes that have finished their accesses",
        "late with MPI_Win_complete",
        "call MPI_Win_complete right after the last MPI_Put or MPI_Get, and compute after it; or let the target do "
        "work that does not need the data before MPI_Win_wait (MPI_Win_test)",
        NULL};
    return find_waits(input, &words, finding);
}

bool find_lock_contention(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_LOCK_CONTENTION,
        "contention for window locks",
        "for locks that other processes hold",
        "holding the lock",
        "hold locks for a shorter time: compute outside MPI_Win_lock and MPI_Win_unlock; where all processes only "
        "read, or use MPI_Accumulate and MPI_Fetch_and_op, use MPI_LOCK_SHARED or MPI_Win_lock_all; spread the data "
        "over the windows of several processes",
        NULL};
    return find_waits(input, &words, finding);
}

bool find_late_target(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_LATE_TARGET,
        "waiting for targets that compute",
        "until the process whose window they access calls MPI",
        "outside MPI",
        "let the target call MPI now and then while it computes (MPI_Iprobe), or give MPI a thread for progress (with "
        "MPICH MPIR_CVAR_ASYNC_PROGRESS=1); or compute between MPI_Get or MPI_Put and the call that completes it",
        NULL};
    return find_waits(input, &words, finding);
}
