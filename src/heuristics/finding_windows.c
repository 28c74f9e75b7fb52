/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings from the wait states of one-sided communication. */
#include "heuristics/wait_words.h"

#define FINDER(id, function) bool function(const struct finding_input *input, struct finding *finding);
#include "heuristics/findings.def"

bool find_wait_at_fence(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_AT_FENCE,
        "waiting at fences",
        "for the last process to come to MPI_Win_fence",
        "the last to come",
        "even out the work before the fence; or let processes wait only for those whose window they access: "
        "MPI_Win_post, MPI_Win_start, MPI_Win_complete, MPI_Win_wait in place of MPI_Win_fence",
        NULL};
    return find_waits(input, &words, finding);
}

bool find_late_post(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_LATE_POST,
        "windows posted late",
        "for windows that are not posted yet",
        "late with MPI_Win_post",
        "call MPI_Win_post as soon as the window's data are no longer in use, before computing; or call MPI_Win_start "
        "later, and compute before it",
        NULL};
    return find_waits(input, &words, finding);
}

bool find_early_wait(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {WAIT_EARLY_WAIT,
                                            "waiting for accesses to windows",
                                            "for the last MPI_Put or MPI_Get of those that access the window",
                                            "late with its accesses",
                                            "let the target compute before MPI_Win_wait what does not need the data "
                                            "(MPI_Win_test asks whether they are there); or let the others access the "
                                            "window sooner, and compute after MPI_Win_complete",
                                            NULL};
    return find_waits(input, &words, finding);
}

bool find_late_complete(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {WAIT_LATE_COMPLETE,
                                            "accesses completed late",
                                            "for MPI_Win_complete of those that have done with the window",
                                            "late with MPI_Win_complete",
                                            "call MPI_Win_complete right after the last MPI_Put or MPI_Get, and "
                                            "compute after it; or let the target compute "
                                            "before MPI_Win_wait what does not need the data (MPI_Win_test)",
                                            NULL};
    return find_waits(input, &words, finding);
}

bool find_lock_contention(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_LOCK_CONTENTION,
        "locks of windows in contention",
        "for locks that others hold",
        "holding the lock",
        "hold locks for less: compute outside MPI_Win_lock and MPI_Win_unlock; where all only read, or use "
        "MPI_Accumulate and MPI_Fetch_and_op, take MPI_LOCK_SHARED or MPI_Win_lock_all; spread the data over windows "
        "of "
        "several processes",
        NULL};
    return find_waits(input, &words, finding);
}
