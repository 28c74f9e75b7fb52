/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that begin, end and switch the recording; their wrappers are written by hand. */
#include "record/call.h"
#include "record/clock.h"
#include "record/mpi_wrap.h"

EXPORT int MPI_Init(int *argc, char ***argv)
{
    int64_t begin_ns = clock_now();
    int result = PMPI_Init(argc, argv);
    if (result == MPI_SUCCESS)
        recorder_start(FUNCTION_MPI_Init, begin_ns, false);
    return result;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int64_t begin_ns = clock_now();
    int result = PMPI_Init_thread(argc, argv, required, provided);
    if (result == MPI_SUCCESS)
        recorder_start(FUNCTION_MPI_Init_thread, begin_ns, *provided == MPI_THREAD_MULTIPLE);
    return result;
}

EXPORT int MPI_Finalize(void)
{
    struct call call;
    if (!call_of(&call, FUNCTION_MPI_Finalize))
        return PMPI_Finalize();
    recorder_finish();
    int result = PMPI_Finalize();
    call_leave(&call);
    recorder_close();
    return result;
}

EXPORT int MPI_Pcontrol(const int level, ...)
{
    recorder_switch(level != 0);
    return MPI_SUCCESS;
}
